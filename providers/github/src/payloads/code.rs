//! Commits, branches and tags.

use serde::Deserialize;
use webhook_core::open_enum;

use super::common::repository_event;

repository_event! {
    /// Commits came to a branch or a tag; or it was made or deleted.
    pub struct PushEvent: "push" {
        /// The whole name, for example `refs/heads/main` or `refs/tags/v1`.
        #[serde(rename = "ref")]
        pub reference: String,
        /// Where it stood before; all zeros if it was made.
        pub before: String,
        /// Where it stands now; all zeros if it was deleted.
        pub after: String,
        /// Whether it was made.
        #[serde(default)]
        pub created: bool,
        /// Whether it was deleted.
        #[serde(default)]
        pub deleted: bool,
        /// Whether commits were dropped.
        #[serde(default)]
        pub forced: bool,
        /// The page that compares both.
        pub compare: Option<String>,
        /// The commits, oldest first; 2,048 at most.
        #[serde(default)]
        pub commits: Vec<Commit>,
        /// Where it stands now. Absent if it was deleted.
        pub head_commit: Option<Commit>,
        /// Who pushed.
        pub pusher: Option<Pusher>,
    }
}

impl PushEvent {
    /// The branch, without `refs/heads/`.
    pub fn branch(&self) -> Option<&str> {
        self.reference.strip_prefix("refs/heads/")
    }

    /// The tag, without `refs/tags/`.
    pub fn tag(&self) -> Option<&str> {
        self.reference.strip_prefix("refs/tags/")
    }
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// Its message.
    pub message: String,
    /// When it was made, RFC 3339.
    pub timestamp: Option<String>,
    /// The page.
    pub url: Option<String>,
    /// Who wrote it, by the commit's own words.
    pub author: Option<CommitPerson>,
    /// Who committed it, by the commit's own words.
    pub committer: Option<CommitPerson>,
    /// Whether no commit before in the repository had it.
    #[serde(default)]
    pub distinct: bool,
    /// Paths that came.
    #[serde(default)]
    pub added: Vec<String>,
    /// Paths that changed.
    #[serde(default)]
    pub modified: Vec<String>,
    /// Paths that went.
    #[serde(default)]
    pub removed: Vec<String>,
}

/// A person in a commit. Anybody can write any name there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct CommitPerson {
    /// The name.
    pub name: Option<String>,
    /// The email address.
    pub email: Option<String>,
    /// The login that GitHub finds for it.
    pub username: Option<String>,
}

/// Who pushed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Pusher {
    /// The login.
    pub name: String,
    /// The email address, where it is public.
    pub email: Option<String>,
}

repository_event! {
    /// A branch or a tag was made.
    pub struct CreateEvent: "create" {
        /// Its name, without `refs/`.
        #[serde(rename = "ref")]
        pub reference: String,
        /// What it is.
        pub ref_type: RefKind,
        /// The repository's default branch.
        pub master_branch: Option<String>,
    }
}

repository_event! {
    /// A branch or a tag was deleted.
    pub struct DeleteEvent: "delete" {
        /// Its name, without `refs/`.
        #[serde(rename = "ref")]
        pub reference: String,
        /// What it was.
        pub ref_type: RefKind,
    }
}

open_enum! {
    /// What a reference is.
    pub enum RefKind {
        /// A branch.
        Branch = "branch",
        /// A tag.
        Tag = "tag",
    }
}
