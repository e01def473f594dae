//! Slash commands, buttons, shortcuts and modals.

use serde::Deserialize;
use webhook_core::Events;

use super::{MessageContent, View, ViewState};

/// Somebody gave a slash command.
///
/// Event `slash_command`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SlashCommand {
    /// The command, with its `/`.
    pub command: String,
    /// What came after it.
    #[serde(default)]
    pub text: String,
    /// Who.
    pub user_id: String,
    /// Where.
    pub channel_id: String,
    /// The channel's name; `directmessage` or `privategroup` where it has none.
    pub channel_name: Option<String>,
    /// The workspace.
    pub team_id: Option<String>,
    /// The workspace's part of the URL.
    pub team_domain: Option<String>,
    /// The organisation.
    pub enterprise_id: Option<String>,
    /// The app.
    pub api_app_id: Option<String>,
    /// Opens a modal, within three seconds.
    pub trigger_id: String,
    /// Where to answer, within half an hour and five times. Whoever has it can post.
    pub response_url: Option<String>,
}

impl Events for SlashCommand {
    const TYPES: &'static [&'static str] = &["slash_command"];
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Actor {
    /// Their id.
    pub id: String,
    /// Their name, which may change.
    pub username: Option<String>,
    /// Their workspace.
    pub team_id: Option<String>,
}

/// An id and perhaps a name: a channel, a workspace, an organisation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Named {
    /// The id.
    pub id: String,
    /// The name.
    pub name: Option<String>,
    /// A workspace's part of the URL.
    pub domain: Option<String>,
}

/// Somebody used buttons, menus and the like in a message or a view.
///
/// Event `block_actions`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct BlockActions {
    /// Who.
    pub user: Actor,
    /// The workspace. Absent in organisation-wide installations.
    pub team: Option<Named>,
    /// The organisation.
    pub enterprise: Option<Named>,
    /// What they used, one in most cases.
    pub actions: Vec<BlockAction>,
    /// Where that stands.
    pub container: Option<Container>,
    /// The channel of the message.
    pub channel: Option<Named>,
    /// The message it stands in.
    pub message: Option<MessageContent>,
    /// The view it stands in.
    pub view: Option<View>,
    /// What is in the elements of the message.
    pub state: Option<ViewState>,
    /// Opens a modal, within three seconds.
    pub trigger_id: Option<String>,
    /// Where to answer, within half an hour and five times. Whoever has it can post.
    pub response_url: Option<String>,
}

impl Events for BlockActions {
    const TYPES: &'static [&'static str] = &["block_actions"];
}

/// An element that was used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct BlockAction {
    /// The type, for example `button`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The app's own name of the element.
    pub action_id: String,
    /// The block it stands in.
    pub block_id: Option<String>,
    /// A button's value, or a text.
    pub value: Option<String>,
    /// The choice of one.
    pub selected_option: Option<Choice>,
    /// The choice of many.
    #[serde(default)]
    pub selected_options: Vec<Choice>,
    /// A user.
    pub selected_user: Option<String>,
    /// A channel.
    pub selected_channel: Option<String>,
    /// A conversation.
    pub selected_conversation: Option<String>,
    /// A day, `YYYY-MM-DD`.
    pub selected_date: Option<String>,
    /// When it was used.
    pub action_ts: Option<String>,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Choice {
    /// The app's own name of it.
    pub value: String,
}

/// Where an element stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Container {
    /// `message`, `view` and others.
    #[serde(rename = "type")]
    pub kind: String,
    /// The message's channel.
    pub channel_id: Option<String>,
    /// The message's id in the channel.
    pub message_ts: Option<String>,
    /// The view.
    pub view_id: Option<String>,
}

/// Somebody chose a shortcut from a menu.
///
/// Event `shortcut`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Shortcut {
    /// The app's own name of it.
    pub callback_id: String,
    /// Who.
    pub user: Actor,
    /// The workspace. Absent in organisation-wide installations.
    pub team: Option<Named>,
    /// The organisation.
    pub enterprise: Option<Named>,
    /// Opens a modal, within three seconds.
    pub trigger_id: String,
}

impl Events for Shortcut {
    const TYPES: &'static [&'static str] = &["shortcut"];
}

/// Somebody chose a shortcut of a message.
///
/// Event `message_action`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct MessageAction {
    /// The app's own name of it.
    pub callback_id: String,
    /// Who.
    pub user: Actor,
    /// The workspace. Absent in organisation-wide installations.
    pub team: Option<Named>,
    /// The organisation.
    pub enterprise: Option<Named>,
    /// The message's channel.
    pub channel: Option<Named>,
    /// The message.
    pub message: MessageContent,
    /// Opens a modal, within three seconds.
    pub trigger_id: String,
    /// Where to answer, within half an hour and five times. Whoever has it can post.
    pub response_url: Option<String>,
}

impl Events for MessageAction {
    const TYPES: &'static [&'static str] = &["message_action"];
}

/// Somebody sent a modal off.
///
/// Event `view_submission`. Slack takes an empty answer for "close it"; errors and updates are an answer's body.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ViewSubmission {
    /// Who.
    pub user: Actor,
    /// The workspace. Absent in organisation-wide installations.
    pub team: Option<Named>,
    /// The organisation.
    pub enterprise: Option<Named>,
    /// The modal and what was put into it.
    pub view: View,
    /// Opens a modal, within three seconds.
    pub trigger_id: Option<String>,
}

impl Events for ViewSubmission {
    const TYPES: &'static [&'static str] = &["view_submission"];
}

/// Somebody closed a modal.
///
/// Event `view_closed`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ViewClosed {
    /// Who.
    pub user: Actor,
    /// The workspace. Absent in organisation-wide installations.
    pub team: Option<Named>,
    /// The organisation.
    pub enterprise: Option<Named>,
    /// The modal.
    pub view: View,
    /// Whether all modals were closed at once.
    #[serde(default)]
    pub is_cleared: bool,
}

impl Events for ViewClosed {
    const TYPES: &'static [&'static str] = &["view_closed"];
}
