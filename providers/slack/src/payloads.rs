//! What `Event<T>` decodes: common events of the Events API, slash commands and interactions, as far as handlers read
//! them.
//!
//! Each names its event, so that the attribute need not: `#[webhook(provider = Slack)]` on a handler that takes
//! `Event<AppMention>` takes `app_mention`.
//!
//! ```
//! use webhook_slack::payloads::AppMention;
//!
//! # fn main() -> Result<(), serde_json::Error> {
//! let mention: AppMention = serde_json::from_str(r#"{
//!     "type": "app_mention", "user": "U061F7AUR", "text": "<@U0LAN0Z89> hello", "ts": "1750000000.000200",
//!     "channel": "C0LAN2Q65", "event_ts": "1750000000.000200", "a_member_of_next_year": {}
//! }"#)?;
//! assert_eq!(mention.thread(), "1750000000.000200");
//! # Ok(())
//! # }
//! ```
//!
//! # What may change without breaking them
//!
//! Slack adds members, subtypes and elements at any time: unknown members are skipped, unknown texts of an enum are kept
//! in its `Other`. What is not here, blocks among it, is in [`RawEvent`](webhook_core::RawEvent), which a handler can
//! take beside `Event<T>`; [`EventCallback`] reads what stands around an event. Any other type that implements
//! [`serde::Deserialize`] can stand in place of these.
//!
//! A `ts` is the id of a message in its channel. It looks like a number and is a text.
//!
//! Source: <https://docs.slack.dev/reference/events>, <https://docs.slack.dev/reference/interaction-payloads>,
//! <https://docs.slack.dev/interactivity/implementing-slash-commands>.

mod app;
mod channels;
mod interactions;
mod messages;
mod views;

pub use app::{
    AppHomeOpened, AppRateLimited, AppUninstalled, Authorization, EventCallback, HomeTab,
    RevokedTokens, TokensRevoked,
};
pub use channels::{
    ChannelCreated, MemberJoinedChannel, MemberLeftChannel, NewChannel, ReactedItem, ReactionAdded,
    ReactionRemoved,
};
pub use interactions::{
    Actor, BlockAction, BlockActions, Choice, Container, MessageAction, Named, Shortcut,
    SlashCommand, ViewClosed, ViewSubmission,
};
pub use messages::{
    AppMention, ChannelKind, Edited, File, Link, LinkShared, Message, MessageContent,
    MessageSubtype,
};
pub use views::{Input, View, ViewState};
