//! The hook itself, installations of an App, and stars.

use std::collections::BTreeMap;

use serde::Deserialize;
use webhook_core::{Events, open_enum};

use super::common::{Organization, Repository, RepositoryRef, User, repository_event};

/// A hook was made: the first event it sends.
///
/// Event `ping`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PingEvent {
    /// A maxim.
    pub zen: Option<String>,
    /// The hook's id.
    pub hook_id: u64,
    /// The hook.
    pub hook: Hook,
    /// The repository, if it is a repository's hook.
    pub repository: Option<Repository>,
    /// The organisation, if it is an organisation's hook or repository.
    pub organization: Option<Organization>,
    /// Who made it.
    pub sender: Option<User>,
}

impl Events for PingEvent {
    const TYPES: &'static [&'static str] = &["ping"];
}

/// A hook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Hook {
    /// `Repository`, `Organization`, `App` and others.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Whether it sends.
    pub active: bool,
    /// The events it sends; `*` is all.
    #[serde(default)]
    pub events: Vec<String>,
    /// The App, if it is an App's hook.
    pub app_id: Option<u64>,
    /// Where and how it sends.
    pub config: Option<HookConfig>,
}

/// Where and how a hook sends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct HookConfig {
    /// Where to.
    pub url: Option<String>,
    /// `json` or `form`.
    pub content_type: Option<String>,
}

/// Something happened to an installation of the App.
///
/// Event `installation`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct InstallationEvent {
    /// What.
    pub action: InstallationAction,
    /// The installation, as it is or was.
    pub installation: Installation,
    /// The repositories it may see.
    #[serde(default)]
    pub repositories: Vec<RepositoryRef>,
    /// Who asked for it, if that was not the sender.
    pub requester: Option<User>,
    /// Who brought it about.
    pub sender: Option<User>,
}

impl Events for InstallationEvent {
    const TYPES: &'static [&'static str] = &["installation"];
}

open_enum! {
    /// What happened to an installation.
    pub enum InstallationAction {
        Created = "created",
        Deleted = "deleted",
        NewPermissionsAccepted = "new_permissions_accepted",
        Suspend = "suspend",
        Unsuspend = "unsuspend",
    }
}

/// An App in an account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Installation {
    /// Asked for when the App wants a token.
    pub id: u64,
    /// The App.
    pub app_id: Option<u64>,
    /// Whose account. An enterprise has no login and is left out.
    #[serde(default, deserialize_with = "with_login")]
    pub account: Option<User>,
    /// `all` or `selected`.
    pub repository_selection: Option<String>,
    /// Names of permissions, and `read`, `write` or `admin`.
    #[serde(default)]
    pub permissions: BTreeMap<String, String>,
    /// The events it gets.
    #[serde(default)]
    pub events: Vec<String>,
    /// Since when it is suspended, RFC 3339.
    pub suspended_at: Option<String>,
}

/// The App may see other repositories than before.
///
/// Event `installation_repositories`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct InstallationRepositoriesEvent {
    /// Whether more or fewer.
    pub action: InstallationRepositoriesAction,
    /// The installation.
    pub installation: Installation,
    /// Those that came.
    #[serde(default)]
    pub repositories_added: Vec<RepositoryRef>,
    /// Those that went. GitHub may leave out all but their ids.
    #[serde(default)]
    pub repositories_removed: Vec<RemovedRepository>,
    /// Who brought it about.
    pub sender: Option<User>,
}

impl Events for InstallationRepositoriesEvent {
    const TYPES: &'static [&'static str] = &["installation_repositories"];
}

open_enum! {
    /// Whether repositories came or went.
    pub enum InstallationRepositoriesAction {
        Added = "added",
        Removed = "removed",
    }
}

/// A repository that the App can no longer see.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RemovedRepository {
    /// Its id.
    pub id: u64,
    /// Owner, `/`, name.
    pub full_name: Option<String>,
}

repository_event! {
    /// Somebody starred the repository, or no longer does.
    pub struct StarEvent: "star" {
        /// Which of these.
        pub action: StarAction,
        /// When, RFC 3339. Absent if they no longer do.
        pub starred_at: Option<String>,
    }
}

open_enum! {
    /// Whether a star came or went.
    pub enum StarAction {
        Created = "created",
        Deleted = "deleted",
    }
}

fn with_login<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<User>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Account {
        User(User),
        Other(serde::de::IgnoredAny),
    }
    Ok(match Option::<Account>::deserialize(deserializer)? {
        Some(Account::User(user)) => Some(user),
        Some(Account::Other(_)) | None => None,
    })
}
