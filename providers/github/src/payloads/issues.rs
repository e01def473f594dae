//! Issues, and the comments on them and on pull requests.

use serde::Deserialize;
use serde::de::IgnoredAny;
use webhook_core::open_enum;

use super::common::{Label, User, repository_event};

repository_event! {
    /// Something happened to an issue.
    pub struct IssuesEvent: "issues" {
        /// What.
        pub action: IssuesAction,
        /// The issue, as it is now.
        pub issue: Issue,
        /// The label that came or went.
        pub label: Option<Label>,
        /// Who was assigned or no longer is.
        pub assignee: Option<User>,
    }
}

open_enum! {
    /// What happened to an issue.
    pub enum IssuesAction {
        Assigned = "assigned",
        Closed = "closed",
        Deleted = "deleted",
        Demilestoned = "demilestoned",
        Edited = "edited",
        Labeled = "labeled",
        Locked = "locked",
        Milestoned = "milestoned",
        Opened = "opened",
        Pinned = "pinned",
        Reopened = "reopened",
        Transferred = "transferred",
        Typed = "typed",
        Unassigned = "unassigned",
        Unlabeled = "unlabeled",
        Unlocked = "unlocked",
        Unpinned = "unpinned",
        Untyped = "untyped",
    }
}

open_enum! {
    /// Whether an issue or a pull request is open.
    pub enum OpenOrClosed {
        Closed = "closed",
        Open = "open",
    }
}

/// An issue, or a pull request seen as one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Issue {
    /// Its id.
    pub id: u64,
    /// Its number in the repository.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its text, in Markdown.
    pub body: Option<String>,
    /// Whether it is open. Left out of an issue that went to another repository.
    pub state: Option<OpenOrClosed>,
    /// Why, for example `completed`, `not_planned`, `reopened`.
    pub state_reason: Option<String>,
    /// Who opened it.
    pub user: Option<User>,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<Label>,
    /// Who is to see to it.
    #[serde(default)]
    pub assignees: Vec<User>,
    /// How many comments it has.
    #[serde(default)]
    pub comments: u64,
    /// The page.
    pub html_url: String,
    /// When it was opened, RFC 3339.
    pub created_at: String,
    /// When it was last changed, RFC 3339.
    pub updated_at: String,
    /// When it was closed, RFC 3339.
    pub closed_at: Option<String>,
    #[serde(default, rename = "pull_request", deserialize_with = "is_there")]
    is_pull_request: bool,
}

impl Issue {
    /// Whether it is a pull request.
    pub fn is_pull_request(&self) -> bool {
        self.is_pull_request
    }
}

repository_event! {
    /// Something happened to a comment on an issue or a pull request.
    pub struct IssueCommentEvent: "issue_comment" {
        /// What.
        pub action: CommentAction,
        /// The issue or pull request.
        pub issue: Issue,
        /// The comment, as it is or was.
        pub comment: Comment,
    }
}

open_enum! {
    /// What happened to a comment.
    pub enum CommentAction {
        Created = "created",
        Deleted = "deleted",
        Edited = "edited",
        Pinned = "pinned",
        Unpinned = "unpinned",
    }
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Comment {
    /// Its id.
    pub id: u64,
    /// Its text, in Markdown.
    pub body: String,
    /// Who wrote it.
    pub user: Option<User>,
    /// What they are to the repository, for example `OWNER`, `MEMBER`, `NONE`.
    pub author_association: Option<String>,
    /// The page.
    pub html_url: String,
    /// When it was written, RFC 3339.
    pub created_at: String,
    /// When it was last changed, RFC 3339.
    pub updated_at: String,
}

fn is_there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<IgnoredAny>::deserialize(deserializer)?.is_some())
}
