//! What happens in channels beside messages.

use serde::Deserialize;
use webhook_core::Events;

/// Somebody put a reaction to something.
///
/// Event `reaction_added`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ReactionAdded {
    /// Who.
    pub user: String,
    /// The reaction's name, without colons.
    pub reaction: String,
    /// Whose it is that was reacted to. Absent for some robots.
    pub item_user: Option<String>,
    /// What was reacted to.
    pub item: ReactedItem,
}

impl Events for ReactionAdded {
    const TYPES: &'static [&'static str] = &["reaction_added"];
}

/// Somebody took a reaction back.
///
/// Event `reaction_removed`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ReactionRemoved {
    /// Who.
    pub user: String,
    /// The reaction's name, without colons.
    pub reaction: String,
    /// Whose it is that was reacted to. Absent for some robots.
    pub item_user: Option<String>,
    /// What was reacted to.
    pub item: ReactedItem,
}

impl Events for ReactionRemoved {
    const TYPES: &'static [&'static str] = &["reaction_removed"];
}

/// A message or, in old workspaces, a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ReactedItem {
    /// `message`, `file` or `file_comment`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The message's channel.
    pub channel: Option<String>,
    /// The message's id in the channel.
    pub ts: Option<String>,
}

/// Somebody joined a channel.
///
/// Event `member_joined_channel`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct MemberJoinedChannel {
    /// Who; maybe the app itself.
    pub user: String,
    /// Which channel.
    pub channel: String,
    /// `C` for a public and `G` for a private channel.
    pub channel_type: Option<String>,
    /// The workspace of whoever joined.
    pub team: Option<String>,
    /// Who invited them.
    pub inviter: Option<String>,
}

impl Events for MemberJoinedChannel {
    const TYPES: &'static [&'static str] = &["member_joined_channel"];
}

/// Somebody left a channel.
///
/// Event `member_left_channel`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct MemberLeftChannel {
    /// Who; maybe the app itself.
    pub user: String,
    /// Which channel.
    pub channel: String,
    /// The workspace of whoever left.
    pub team: Option<String>,
}

impl Events for MemberLeftChannel {
    const TYPES: &'static [&'static str] = &["member_left_channel"];
}

/// A public channel was made.
///
/// Event `channel_created`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ChannelCreated {
    /// The channel.
    pub channel: NewChannel,
}

impl Events for ChannelCreated {
    const TYPES: &'static [&'static str] = &["channel_created"];
}

/// A channel that was just made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct NewChannel {
    /// Its id.
    pub id: String,
    /// Its name, without `#`.
    pub name: String,
    /// Who made it.
    pub creator: Option<String>,
}
