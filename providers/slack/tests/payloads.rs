//! Payload types: what they read, and what they forgive.
#![expect(clippy::unwrap_used, reason = "tests assert by panicking")]

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use webhook_core::Events;
use webhook_slack::Slack;
use webhook_slack::payloads::{
    AppHomeOpened, AppMention, AppRateLimited, AppUninstalled, BlockActions, ChannelCreated,
    ChannelKind, EventCallback, HomeTab, Input, LinkShared, MemberJoinedChannel, MemberLeftChannel,
    Message, MessageAction, MessageSubtype, ReactionAdded, ReactionRemoved, Shortcut, SlashCommand,
    TokensRevoked, ViewClosed, ViewSubmission,
};
use webhook_vectors::{Receiver, must_have};

macro_rules! body {
    ($file:literal) => {
        include_bytes!(concat!("../testdata/", $file)).as_slice()
    };
}

/// Receive the body, and read what its handler decodes: its name is the event's, and nothing but `members` must be in
/// it.
fn read<T: DeserializeOwned + Events>(body: &[u8], members: &[&str]) -> T {
    let receiver = Receiver::new(&Slack, &["0123456789abcdef01234567"], 1_750_000_000);
    let seen = receiver.accept(&receiver.sign(body)).event().unwrap();
    assert_eq!(T::TYPES, [seen.event_type.as_str()]);
    let value = seen.handled(&Slack).unwrap();
    assert_eq!(must_have::<T>(&value), members, "{}", seen.event_type);
    serde_json::from_str(&value.to_string()).unwrap()
}

#[test]
fn messages_are_read() {
    let message: Message = read(
        body!("payloads/event_callback.message.json"),
        &["channel", "ts"],
    );
    assert_eq!(message.text.as_deref(), Some("Größe: 3 < 4 — ok?"));
    assert_eq!(message.channel_type, Some(ChannelKind::Channel));
    assert_eq!(
        (message.subtype.as_ref(), message.thread()),
        (None, "1750000000.654321")
    );

    let changed: Message = read(
        body!("shapes/message.changed.json"),
        &[
            "channel",
            "message.edited.ts",
            "message.edited.user",
            "message.ts",
            "previous_message.ts",
            "ts",
        ],
    );
    assert_eq!(changed.subtype, Some(MessageSubtype::MessageChanged));
    assert_eq!((changed.user, changed.hidden), (None, true));
    assert_eq!(changed.message.unwrap().text.as_deref(), Some("Größe: 4"));
    assert_eq!(
        changed.previous_message.unwrap().text.as_deref(),
        Some("Größe: 3")
    );

    let file: Message = read(
        body!("shapes/message.file.json"),
        &["channel", "files.[].id", "ts"],
    );
    assert_eq!(file.thread(), "1749999999.000100");
    assert_eq!(file.files.first().unwrap().size, Some(214_143));

    let mention: AppMention = read(
        body!("payloads/event_callback.app_mention.json"),
        &["channel", "text", "ts"],
    );
    assert_eq!(
        (mention.user.as_deref(), mention.thread()),
        (Some("U0C5W7W3QZM"), "1750000000.123459")
    );

    let link: LinkShared = read(
        body!("shapes/link_shared.json"),
        &[
            "channel",
            "links",
            "links.[].domain",
            "links.[].url",
            "message_ts",
        ],
    );
    assert_eq!(link.links.first().unwrap().domain, "example.com");
}

#[test]
fn subtypes_of_tomorrow_are_kept() {
    let value = json!({"channel": "C1", "ts": "1.2", "subtype": "huddle_thread"});
    let message: Message = serde_json::from_value(value).unwrap();
    assert_eq!(
        message.subtype,
        Some(MessageSubtype::Other("huddle_thread".to_owned()))
    );
}

#[test]
fn channel_events_are_read() {
    let reacted = ["item", "item.type", "reaction", "user"];
    let added: ReactionAdded = read(body!("shapes/reaction_added.json"), &reacted);
    assert_eq!(
        (added.reaction.as_str(), added.item.ts.as_deref()),
        ("white_check_mark", Some("1750000000.123459"))
    );
    let removed: ReactionRemoved = read(body!("shapes/reaction_removed.json"), &reacted);
    assert_eq!(
        (removed.reaction.as_str(), removed.item_user),
        ("+1::skin-tone-2", None)
    );
    let joined: MemberJoinedChannel = read(
        body!("shapes/member_joined_channel.json"),
        &["channel", "user"],
    );
    assert_eq!(joined.inviter.as_deref(), Some("U0INVITER"));
    let left: MemberLeftChannel = read(
        body!("shapes/member_left_channel.json"),
        &["channel", "user"],
    );
    assert_eq!(left.channel, "C0ZEOWJSMXW");
    let created: ChannelCreated = read(
        body!("shapes/channel_created.json"),
        &["channel", "channel.id", "channel.name"],
    );
    assert_eq!(created.channel.name, "neu");
}

#[test]
fn events_about_the_app_are_read() {
    let opened: AppHomeOpened = read(body!("shapes/app_home_opened.json"), &["user", "view.id"]);
    assert_eq!(opened.tab, Some(HomeTab::Home));
    let revoked: TokensRevoked = read(body!("shapes/tokens_revoked.json"), &["tokens"]);
    assert_eq!(revoked.tokens.oauth, ["U0C5W7W3QZM"]);
    let _: AppUninstalled = read(body!("shapes/app_uninstalled.json"), &[]);
    let limited: AppRateLimited = read(
        body!("payloads/app_rate_limited.json"),
        &["api_app_id", "minute_rate_limited"],
    );
    assert_eq!(limited.minute_rate_limited, 1_750_000_020);
}

#[test]
fn what_stands_around_an_event_is_read() {
    let text = body!("payloads/event_callback.app_mention.json");
    let callback: EventCallback<AppMention> = serde_json::from_slice(text).unwrap();
    assert_eq!(
        (callback.event_id.as_str(), callback.event_time),
        ("Ev01K7QCBN73", 1_750_000_000)
    );
    assert!(callback.authorizations.first().unwrap().is_bot);
    let value: Value = serde_json::from_slice(text).unwrap();
    assert_eq!(
        must_have::<EventCallback<Value>>(&value),
        ["event", "event_id", "event_time"]
    );
}

#[test]
fn commands_are_read() {
    let command: SlashCommand = read(
        body!("payloads/slash_command.form"),
        &["channel_id", "command", "trigger_id", "user_id"],
    );
    assert_eq!(
        (command.command.as_str(), command.text.as_str()),
        ("/deploy", "widgets to prod & now + 1%")
    );
    assert!(command.response_url.is_some());
}

#[test]
fn interactions_are_read() {
    let pressed: BlockActions = read(
        body!("payloads/block_actions.form"),
        &[
            "actions",
            "actions.[].action_id",
            "actions.[].type",
            "channel.id",
            "container.type",
            "team.id",
            "user",
            "user.id",
        ],
    );
    let action = pressed.actions.first().unwrap();
    assert_eq!(
        (action.action_id.as_str(), action.value.as_deref()),
        ("approve", Some("a&b=c 100% 🚀"))
    );

    let shortcut: Shortcut = read(
        body!("shapes/shortcut.form"),
        &["callback_id", "team.id", "trigger_id", "user", "user.id"],
    );
    assert_eq!(shortcut.callback_id, "new_order");

    let action: MessageAction = read(
        body!("shapes/message_action.form"),
        &[
            "callback_id",
            "channel.id",
            "message",
            "message.ts",
            "team.id",
            "trigger_id",
            "user",
            "user.id",
        ],
    );
    assert_eq!(action.message.text.as_deref(), Some("kaputt"));
}

#[test]
fn modals_are_read() {
    let submitted: ViewSubmission = read(
        body!("payloads/view_submission.form"),
        &["enterprise.id", "user", "user.id", "view", "view.id"],
    );
    assert_eq!(
        (submitted.team, submitted.enterprise.unwrap().id.as_str()),
        (None, "E0ACMEGRID")
    );

    let choice = "view.state.values.extras.many.selected_options.[].value";
    let one = "view.state.values.size.one.selected_option.value";
    let kinds = [
        "day.date",
        "extras.many",
        "note.text",
        "size.one",
        "who.user",
    ]
    .map(|element| format!("view.state.values.{element}.type"));
    let mut members = vec!["team.id", "user", "user.id", "view", "view.id", choice, one];
    members.extend(kinds.iter().map(String::as_str));
    members.sort_unstable();
    let submitted: ViewSubmission = read(body!("shapes/view_submission.inputs.form"), &members);
    let input = |block, action| submitted.view.input(block, action).unwrap();
    let value = |input: &Input| input.value.clone();
    assert_eq!(value(input("note", "text")).as_deref(), Some("Größe 4"));
    assert_eq!(
        input("size", "one").selected_option.as_ref().unwrap().value,
        "xl"
    );
    assert_eq!(
        input("extras", "many")
            .selected_options
            .first()
            .unwrap()
            .value,
        "gift"
    );
    assert_eq!(
        input("day", "date").selected_date.as_deref(),
        Some("2025-06-15")
    );
    assert_eq!(input("who", "user").selected_users, ["U0C5W7W3QZM"]);
    assert_eq!(submitted.view.input("note", "other"), None);

    let closed: ViewClosed = read(
        body!("payloads/view_closed.form"),
        &["team.id", "user", "user.id", "view", "view.id"],
    );
    assert_eq!(
        (closed.view.callback_id.as_deref(), closed.is_cleared),
        (Some("release"), false)
    );
}
