//! What `Event<T>` decodes: the payloads of common events, as far as handlers read them.
//!
//! Each names its event, so that the attribute need not: `#[webhook(provider = GitHub)]` on a handler that takes
//! `Event<PushEvent>` takes `push`.
//!
//! ```
//! use webhook_github::payloads::{IssuesAction, IssuesEvent};
//!
//! # fn main() -> Result<(), serde_json::Error> {
//! let event: IssuesEvent = serde_json::from_str(r#"{
//!     "action": "opened",
//!     "issue": {"id": 7, "number": 1, "title": "It works", "state": "open", "html_url": "https://github.example/1",
//!               "created_at": "2025-06-15T15:06:40Z", "updated_at": "2025-06-15T15:06:40Z"},
//!     "repository": {"id": 8, "name": "shop", "full_name": "acme/shop", "private": true,
//!                    "html_url": "https://github.example/acme/shop", "owner": {"id": 9, "login": "acme"}},
//!     "a_member_of_next_year": {}
//! }"#)?;
//! assert_eq!(event.action, IssuesAction::Opened);
//! assert_eq!(event.issue.number, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # What may change without breaking them
//!
//! GitHub adds members and actions at any time: unknown members are skipped, unknown texts of an enum are kept in its
//! `Other`. People that are gone are `None`. Moments are RFC 3339 texts as sent. What is not here is in
//! [`RawEvent`](webhook_core::RawEvent), which a handler can take beside `Event<T>`; and any other type that implements
//! [`serde::Deserialize`] can stand in place of these.
//!
//! Remember that the name of an event is not signed: see [the crate's page](crate#unsigned-ids-and-types).
//!
//! Source: docs.github.com, *Webhook events and payloads*.

mod checks;
mod code;
mod common;
mod hooks;
mod issues;
mod pulls;
mod releases;

pub use checks::{
    CheckOutput, CheckRun, CheckRunAction, CheckRunEvent, CheckSuite, CheckSuiteAction,
    CheckSuiteEvent, Conclusion, RequestedAction, RunStatus, Workflow, WorkflowRun,
    WorkflowRunAction, WorkflowRunEvent,
};
pub use code::{Commit, CommitPerson, CreateEvent, DeleteEvent, PushEvent, Pusher, RefKind};
pub use common::{
    AccountKind, App, InstallationRef, Label, Organization, PullRequestRef, Repository,
    RepositoryRef, User,
};
pub use hooks::{
    Hook, HookConfig, Installation, InstallationAction, InstallationEvent,
    InstallationRepositoriesAction, InstallationRepositoriesEvent, PingEvent, RemovedRepository,
    StarAction, StarEvent,
};
pub use issues::{
    Comment, CommentAction, Issue, IssueCommentEvent, IssuesAction, IssuesEvent, OpenOrClosed,
};
pub use pulls::{
    Branch, PullRequest, PullRequestAction, PullRequestEvent, PullRequestReviewAction,
    PullRequestReviewEvent, Review, ReviewState,
};
pub use releases::{Asset, Release, ReleaseAction, ReleaseEvent};
