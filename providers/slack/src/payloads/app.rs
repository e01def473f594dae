//! What happens to the app itself, and what stands around events.

use serde::Deserialize;
use webhook_core::{Events, open_enum};

use super::View;

/// Somebody opened the app's own page.
///
/// Event `app_home_opened`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AppHomeOpened {
    /// Who.
    pub user: String,
    /// The conversation with them.
    pub channel: Option<String>,
    /// Which part of the page.
    pub tab: Option<HomeTab>,
    /// What they see, if it was ever published.
    pub view: Option<View>,
}

impl Events for AppHomeOpened {
    const TYPES: &'static [&'static str] = &["app_home_opened"];
}

open_enum! {
    /// A part of the app's own page.
    pub enum HomeTab {
        /// The view that the app publishes.
        Home = "home",
        /// The conversation.
        Messages = "messages",
    }
}

/// The app is no longer installed.
///
/// Event `app_uninstalled`. The workspace is the delivery's account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AppUninstalled {}

impl Events for AppUninstalled {
    const TYPES: &'static [&'static str] = &["app_uninstalled"];
}

/// Tokens of the app are no longer good.
///
/// Event `tokens_revoked`. The workspace is the delivery's account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TokensRevoked {
    /// Whose.
    pub tokens: RevokedTokens,
}

impl Events for TokensRevoked {
    const TYPES: &'static [&'static str] = &["tokens_revoked"];
}

/// The users of tokens that are no longer good.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RevokedTokens {
    /// People.
    #[serde(default)]
    pub oauth: Vec<String>,
    /// The app's robots.
    #[serde(default)]
    pub bot: Vec<String>,
}

/// Slack left events out, for they were more than 30,000 in an hour.
///
/// Event `app_rate_limited`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AppRateLimited {
    /// The beginning of the minute, in Unix seconds.
    pub minute_rate_limited: i64,
    /// Of which workspace.
    pub team_id: Option<String>,
    /// Of which app.
    pub api_app_id: String,
}

impl Events for AppRateLimited {
    const TYPES: &'static [&'static str] = &["app_rate_limited"];
}

/// An event of the Events API, and what stands around it.
///
/// ```
/// use webhook_slack::payloads::{AppMention, EventCallback};
///
/// # fn shared(raw: &[u8]) -> Result<bool, serde_json::Error> {
/// // A handler takes `raw: RawEvent` beside `Event<AppMention>`.
/// let callback: EventCallback<AppMention> = serde_json::from_slice(raw)?;
/// Ok(callback.is_ext_shared_channel)
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EventCallback<T> {
    /// `Ev…`
    pub event_id: String,
    /// When it happened, in Unix seconds.
    pub event_time: i64,
    /// The workspace it happened in.
    pub team_id: Option<String>,
    /// The organisation.
    pub enterprise_id: Option<String>,
    /// The app.
    pub api_app_id: Option<String>,
    /// The event.
    pub event: T,
    /// One of the installations that may see it.
    #[serde(default)]
    pub authorizations: Vec<Authorization>,
    /// Whether other organisations are in the channel.
    #[serde(default)]
    pub is_ext_shared_channel: bool,
}

/// An installation that may see an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Authorization {
    /// The organisation.
    pub enterprise_id: Option<String>,
    /// The workspace.
    pub team_id: Option<String>,
    /// Who installed it, or the app's robot.
    pub user_id: Option<String>,
    /// Whether it is the app's robot.
    #[serde(default)]
    pub is_bot: bool,
}
