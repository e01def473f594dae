//! Who and where: what most events carry.

use serde::Deserialize;
use webhook_core::open_enum;

/// The payload of an event about a repository: its own members, and those that all of them have.
macro_rules! repository_event {
    (
        $(#[$meta:meta])*
        pub struct $name:ident: $event:literal {
            $( $(#[$member_meta:meta])* pub $member:ident: $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[doc = concat!("\n\nEvent `", $event, "`.")]
        #[derive(Debug, Clone, PartialEq, serde::Deserialize)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$member_meta])* pub $member: $type, )*
            /// The repository.
            pub repository: $crate::payloads::Repository,
            /// The organisation, if the repository belongs to one.
            pub organization: Option<$crate::payloads::Organization>,
            /// The installation of the App whose hook it is.
            pub installation: Option<$crate::payloads::InstallationRef>,
            /// Who brought it about.
            pub sender: Option<$crate::payloads::User>,
        }

        impl webhook_core::Events for $name {
            const TYPES: &'static [&'static str] = &[$event];
        }
    };
}

pub(super) use repository_event;

/// A person, an organisation or a robot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct User {
    /// Stays when the login changes.
    pub id: u64,
    /// The name in URLs.
    pub login: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: Option<AccountKind>,
    /// The page.
    pub html_url: Option<String>,
    /// Email address, where it is public.
    pub email: Option<String>,
}

open_enum! {
    /// What an account is.
    pub enum AccountKind {
        /// An App or another robot.
        Bot = "Bot",
        /// Somebody who was imported and has not come.
        Mannequin = "Mannequin",
        /// An organisation.
        Organization = "Organization",
        /// A person.
        User = "User",
    }
}

/// An organisation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Organization {
    /// Stays when the login changes.
    pub id: u64,
    /// The name in URLs.
    pub login: String,
    /// What it says of itself.
    pub description: Option<String>,
}

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Repository {
    /// Stays when the name changes.
    pub id: u64,
    /// The name.
    pub name: String,
    /// Owner, `/`, name.
    pub full_name: String,
    /// Who owns it.
    pub owner: User,
    /// Whether not everybody can see it.
    pub private: bool,
    /// Whether it was forked from another.
    #[serde(default)]
    pub fork: bool,
    /// Whether nobody can change it.
    #[serde(default)]
    pub archived: bool,
    /// `public`, `private` or `internal`.
    pub visibility: Option<String>,
    /// The page.
    pub html_url: String,
    /// Where to clone it from.
    pub clone_url: Option<String>,
    /// The branch that counts.
    pub default_branch: Option<String>,
    /// What it is.
    pub description: Option<String>,
}

/// A repository in a list of an installation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RepositoryRef {
    /// Stays when the name changes.
    pub id: u64,
    /// The name.
    pub name: String,
    /// Owner, `/`, name.
    pub full_name: String,
    /// Whether not everybody can see it.
    pub private: bool,
}

/// The installation of an App.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct InstallationRef {
    /// Asked for when the App wants a token.
    pub id: u64,
}

/// A GitHub App.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct App {
    /// Its id.
    pub id: u64,
    /// The name in URLs.
    pub slug: Option<String>,
    /// The name.
    pub name: Option<String>,
}

/// A label of an issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Label {
    /// Its id.
    pub id: u64,
    /// The text on it.
    pub name: String,
    /// Six digits of hex.
    pub color: Option<String>,
    /// What it means.
    pub description: Option<String>,
}

/// A pull request, where only its number is of interest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PullRequestRef {
    /// Its id.
    pub id: u64,
    /// Its number in the repository.
    pub number: u64,
}
