//! Messages, and what is in them.

use serde::Deserialize;
use webhook_core::{Events, open_enum};

/// A message was posted, changed or deleted.
///
/// Event `message`. One's own messages come back as events too: see [`Message::bot_id`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Where.
    pub channel: String,
    /// What kind of conversation that is.
    pub channel_type: Option<ChannelKind>,
    /// What kind of message. Absent where a person just posted one.
    pub subtype: Option<MessageSubtype>,
    /// Its id in the channel.
    pub ts: String,
    /// The message that its thread began with. Absent outside of threads.
    pub thread_ts: Option<String>,
    /// Who posted it. Absent for some robots and for changes.
    pub user: Option<String>,
    /// The robot that posted it.
    pub bot_id: Option<String>,
    /// Its text, with `&`, `<` and `>` escaped.
    pub text: Option<String>,
    /// Its files.
    #[serde(default)]
    pub files: Vec<File>,
    /// Whether people do not see it as a message: changes, deletions.
    #[serde(default)]
    pub hidden: bool,
    /// The message as it is now, in [`MessageSubtype::MessageChanged`].
    pub message: Option<MessageContent>,
    /// The message as it was, in [`MessageSubtype::MessageChanged`] and [`MessageSubtype::MessageDeleted`].
    pub previous_message: Option<MessageContent>,
    /// The message that is gone, in [`MessageSubtype::MessageDeleted`].
    pub deleted_ts: Option<String>,
}

impl Events for Message {
    const TYPES: &'static [&'static str] = &["message"];
}

impl Message {
    /// The thread to answer in: its own, or the one it begins.
    pub fn thread(&self) -> &str {
        self.thread_ts.as_deref().unwrap_or(&self.ts)
    }
}

/// A message in another payload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct MessageContent {
    /// Its id in the channel.
    pub ts: String,
    /// The message that its thread began with. Absent outside of threads.
    pub thread_ts: Option<String>,
    /// What kind of message. Absent where a person just posted one.
    pub subtype: Option<MessageSubtype>,
    /// Who posted it.
    pub user: Option<String>,
    /// The robot that posted it.
    pub bot_id: Option<String>,
    /// Its text, with `&`, `<` and `>` escaped.
    pub text: Option<String>,
    /// Who changed it last.
    pub edited: Option<Edited>,
}

/// A change of a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Edited {
    /// By whom.
    pub user: String,
    /// When.
    pub ts: String,
}

open_enum! {
    /// What kind of message.
    pub enum MessageSubtype {
        /// Posted by a robot.
        BotMessage = "bot_message",
        /// Somebody joined the channel.
        ChannelJoin = "channel_join",
        /// Somebody left the channel.
        ChannelLeave = "channel_leave",
        /// With files.
        FileShare = "file_share",
        /// A `/me` message.
        MeMessage = "me_message",
        /// Another message was changed.
        MessageChanged = "message_changed",
        /// Another message was deleted.
        MessageDeleted = "message_deleted",
        /// An answer in a thread that is shown in the channel too.
        ThreadBroadcast = "thread_broadcast",
    }
}

open_enum! {
    /// A kind of conversation.
    pub enum ChannelKind {
        /// The app's own page.
        AppHome = "app_home",
        /// A public channel.
        Channel = "channel",
        /// A private channel.
        Group = "group",
        /// Two people.
        Im = "im",
        /// A few people.
        Mpim = "mpim",
    }
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct File {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Its media type.
    pub mimetype: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// Where to get it, with the app's token.
    pub url_private: Option<String>,
}

/// Somebody named the app in a message.
///
/// Event `app_mention`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AppMention {
    /// Where.
    pub channel: String,
    /// The message's id in the channel.
    pub ts: String,
    /// The message that its thread began with. Absent outside of threads.
    pub thread_ts: Option<String>,
    /// Who. Absent for robots.
    pub user: Option<String>,
    /// The robot that did it.
    pub bot_id: Option<String>,
    /// The message's text, with `&`, `<` and `>` escaped. The app's name is in it as `<@U…>`.
    pub text: String,
}

impl Events for AppMention {
    const TYPES: &'static [&'static str] = &["app_mention"];
}

impl AppMention {
    /// The thread to answer in: its own, or the one it begins.
    pub fn thread(&self) -> &str {
        self.thread_ts.as_deref().unwrap_or(&self.ts)
    }
}

/// Somebody posted links to a domain that the app knows.
///
/// Event `link_shared`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct LinkShared {
    /// Where.
    pub channel: String,
    /// Who. Absent for robots.
    pub user: Option<String>,
    /// The message's id in the channel.
    pub message_ts: String,
    /// The links.
    pub links: Vec<Link>,
}

impl Events for LinkShared {
    const TYPES: &'static [&'static str] = &["link_shared"];
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Link {
    /// The domain, as registered.
    pub domain: String,
    /// The whole.
    pub url: String,
}
