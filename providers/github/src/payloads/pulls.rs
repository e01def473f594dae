//! Pull requests and their reviews.

use serde::Deserialize;
use webhook_core::open_enum;

use super::common::{Label, Repository, User, repository_event};
use super::issues::OpenOrClosed;

repository_event! {
    /// Something happened to a pull request.
    pub struct PullRequestEvent: "pull_request" {
        /// What.
        pub action: PullRequestAction,
        /// Its number in the repository.
        pub number: u64,
        /// The pull request, as it is now.
        pub pull_request: PullRequest,
        /// Where its branch stood before, in `synchronize`.
        pub before: Option<String>,
        /// Where its branch stands now, in `synchronize`.
        pub after: Option<String>,
        /// The label that came or went.
        pub label: Option<Label>,
        /// Who was assigned or no longer is.
        pub assignee: Option<User>,
        /// Whose review was asked for or no longer is, if it is a person's.
        pub requested_reviewer: Option<User>,
    }
}

open_enum! {
    /// What happened to a pull request.
    pub enum PullRequestAction {
        Assigned = "assigned",
        AutoMergeDisabled = "auto_merge_disabled",
        AutoMergeEnabled = "auto_merge_enabled",
        /// Merged or not: see [`PullRequest::merged`].
        Closed = "closed",
        ConvertedToDraft = "converted_to_draft",
        Demilestoned = "demilestoned",
        Dequeued = "dequeued",
        Edited = "edited",
        Enqueued = "enqueued",
        Labeled = "labeled",
        Locked = "locked",
        Milestoned = "milestoned",
        Opened = "opened",
        ReadyForReview = "ready_for_review",
        Reopened = "reopened",
        ReviewRequestRemoved = "review_request_removed",
        ReviewRequested = "review_requested",
        /// Its branch moved.
        Synchronize = "synchronize",
        Unassigned = "unassigned",
        Unlabeled = "unlabeled",
        Unlocked = "unlocked",
    }
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PullRequest {
    /// Its id.
    pub id: u64,
    /// Its number in the repository.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its text, in Markdown.
    pub body: Option<String>,
    /// Whether it is open.
    pub state: OpenOrClosed,
    /// Whether it is not ready for review.
    #[serde(default)]
    pub draft: bool,
    /// Whether it was merged. Left out where a pull request is only mentioned, as in reviews.
    pub merged: Option<bool>,
    /// When it was merged, RFC 3339.
    pub merged_at: Option<String>,
    /// The commit that merged it, or would.
    pub merge_commit_sha: Option<String>,
    /// Who opened it.
    pub user: Option<User>,
    /// What they are to the repository, for example `OWNER`, `MEMBER`, `NONE`.
    pub author_association: Option<String>,
    /// Where it comes from.
    pub head: Branch,
    /// Where it goes.
    pub base: Branch,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<Label>,
    /// Who is to see to it.
    #[serde(default)]
    pub assignees: Vec<User>,
    /// How many commits it has.
    pub commits: Option<u64>,
    /// How many lines come.
    pub additions: Option<u64>,
    /// How many lines go.
    pub deletions: Option<u64>,
    /// How many files change.
    pub changed_files: Option<u64>,
    /// The page.
    pub html_url: String,
    /// When it was opened, RFC 3339.
    pub created_at: String,
    /// When it was last changed, RFC 3339.
    pub updated_at: String,
    /// When it was closed, RFC 3339.
    pub closed_at: Option<String>,
}

/// One side of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Branch {
    /// Its name.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Where it stands.
    pub sha: String,
    /// Owner, `:`, name.
    pub label: Option<String>,
    /// Its repository. Absent if that is gone.
    pub repo: Option<Repository>,
    /// Who owns the repository. Absent if they are gone.
    pub user: Option<User>,
}

repository_event! {
    /// Something happened to a review.
    pub struct PullRequestReviewEvent: "pull_request_review" {
        /// What.
        pub action: PullRequestReviewAction,
        /// The review, as it is now.
        pub review: Review,
        /// The pull request.
        pub pull_request: PullRequest,
    }
}

open_enum! {
    /// What happened to a review.
    pub enum PullRequestReviewAction {
        Dismissed = "dismissed",
        Edited = "edited",
        Submitted = "submitted",
    }
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Review {
    /// Its id.
    pub id: u64,
    /// What it says.
    pub state: ReviewState,
    /// Its text, in Markdown.
    pub body: Option<String>,
    /// Who wrote it.
    pub user: Option<User>,
    /// The commit that was reviewed.
    pub commit_id: Option<String>,
    /// When, RFC 3339.
    pub submitted_at: Option<String>,
    /// The page.
    pub html_url: Option<String>,
}

open_enum! {
    /// What a review says.
    pub enum ReviewState {
        Approved = "approved",
        ChangesRequested = "changes_requested",
        Commented = "commented",
        Dismissed = "dismissed",
    }
}
