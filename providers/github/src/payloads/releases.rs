//! Releases.

use serde::Deserialize;
use webhook_core::open_enum;

use super::common::{User, repository_event};

repository_event! {
    /// Something happened to a release.
    pub struct ReleaseEvent: "release" {
        /// What.
        pub action: ReleaseAction,
        /// The release, as it is or was.
        pub release: Release,
    }
}

open_enum! {
    /// What happened to a release.
    pub enum ReleaseAction {
        Created = "created",
        Deleted = "deleted",
        Edited = "edited",
        Prereleased = "prereleased",
        /// Everybody can see it, pre-release or not.
        Published = "published",
        /// Published and no pre-release, or no longer one.
        Released = "released",
        Unpublished = "unpublished",
    }
}

/// A release.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Release {
    /// Its id.
    pub id: u64,
    /// The tag.
    pub tag_name: String,
    /// The branch or commit that the tag is made from.
    pub target_commitish: Option<String>,
    /// Its title.
    pub name: Option<String>,
    /// Its text, in Markdown.
    pub body: Option<String>,
    /// Whether it is not published.
    #[serde(default)]
    pub draft: bool,
    /// Whether it is not for everybody.
    #[serde(default)]
    pub prerelease: bool,
    /// Who made it.
    pub author: Option<User>,
    /// Its files.
    #[serde(default)]
    pub assets: Vec<Asset>,
    /// The page.
    pub html_url: String,
    /// When it was made, RFC 3339.
    pub created_at: Option<String>,
    /// When it was published, RFC 3339.
    pub published_at: Option<String>,
}

/// A file of a release.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Asset {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// Where to get it.
    pub browser_download_url: String,
}
