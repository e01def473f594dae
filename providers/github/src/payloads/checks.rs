//! Runs of workflows and checks.

use serde::Deserialize;
use webhook_core::open_enum;

use super::common::{App, PullRequestRef, User, repository_event};

open_enum! {
    /// How far a run is.
    pub enum RunStatus {
        Completed = "completed",
        InProgress = "in_progress",
        Pending = "pending",
        Queued = "queued",
        Requested = "requested",
        Waiting = "waiting",
    }
}

open_enum! {
    /// What a run came to.
    pub enum Conclusion {
        ActionRequired = "action_required",
        Cancelled = "cancelled",
        Failure = "failure",
        Neutral = "neutral",
        Skipped = "skipped",
        Stale = "stale",
        StartupFailure = "startup_failure",
        Success = "success",
        TimedOut = "timed_out",
    }
}

repository_event! {
    /// A workflow of GitHub Actions was asked for, began or ended.
    pub struct WorkflowRunEvent: "workflow_run" {
        /// Which of these.
        pub action: WorkflowRunAction,
        /// The run, as it is now.
        pub workflow_run: WorkflowRun,
        /// The workflow.
        pub workflow: Option<Workflow>,
    }
}

open_enum! {
    /// What happened to a run of a workflow.
    pub enum WorkflowRunAction {
        Completed = "completed",
        InProgress = "in_progress",
        Requested = "requested",
    }
}

/// A run of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct WorkflowRun {
    /// Its id.
    pub id: u64,
    /// The workflow's name.
    pub name: Option<String>,
    /// The workflow's id.
    pub workflow_id: u64,
    /// Which run of the workflow.
    pub run_number: u64,
    /// Which attempt of this run, from 1.
    pub run_attempt: Option<u64>,
    /// The event that brought it about, for example `push`.
    pub event: String,
    /// How far it is.
    pub status: Option<RunStatus>,
    /// What it came to.
    pub conclusion: Option<Conclusion>,
    /// The branch it ran on.
    pub head_branch: Option<String>,
    /// The commit it ran on.
    pub head_sha: String,
    /// Who brought it about.
    pub actor: Option<User>,
    /// Open pull requests of that branch.
    #[serde(default)]
    pub pull_requests: Vec<PullRequestRef>,
    /// The page.
    pub html_url: String,
    /// When it was asked for, RFC 3339.
    pub created_at: String,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
}

/// A workflow.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Workflow {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its file in the repository.
    pub path: String,
}

repository_event! {
    /// Something happened to a check.
    pub struct CheckRunEvent: "check_run" {
        /// What.
        pub action: CheckRunAction,
        /// The check, as it is now.
        pub check_run: CheckRun,
        /// What somebody asked for by a button of the check.
        pub requested_action: Option<RequestedAction>,
    }
}

open_enum! {
    /// What happened to a check.
    pub enum CheckRunAction {
        Completed = "completed",
        Created = "created",
        RequestedAction = "requested_action",
        Rerequested = "rerequested",
    }
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct CheckRun {
    /// Its id.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The commit it is of.
    pub head_sha: String,
    /// How far it is.
    pub status: RunStatus,
    /// What it came to.
    pub conclusion: Option<Conclusion>,
    /// The App's own id of it.
    pub external_id: Option<String>,
    /// The App.
    pub app: Option<App>,
    /// The suite it belongs to.
    pub check_suite: Option<CheckSuite>,
    /// What it reports.
    pub output: Option<CheckOutput>,
    /// Open pull requests of the commit, in the same repository.
    #[serde(default)]
    pub pull_requests: Vec<PullRequestRef>,
    /// The page.
    pub html_url: Option<String>,
    /// The App's page.
    pub details_url: Option<String>,
    /// When it began, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    pub completed_at: Option<String>,
}

/// What a check reports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct CheckOutput {
    /// Its title.
    pub title: Option<String>,
    /// Its summary, in Markdown.
    pub summary: Option<String>,
    /// Its details, in Markdown.
    pub text: Option<String>,
    /// How many places in the code it has a word on.
    #[serde(default)]
    pub annotations_count: u64,
}

/// A button of a check that somebody pressed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RequestedAction {
    /// The App's own name of it.
    pub identifier: String,
}

repository_event! {
    /// Something happened to the checks of a commit.
    pub struct CheckSuiteEvent: "check_suite" {
        /// What.
        pub action: CheckSuiteAction,
        /// The checks, as they are now.
        pub check_suite: CheckSuite,
    }
}

open_enum! {
    /// What happened to the checks of a commit.
    pub enum CheckSuiteAction {
        Completed = "completed",
        Requested = "requested",
        Rerequested = "rerequested",
    }
}

/// An App's checks of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct CheckSuite {
    /// Its id.
    pub id: u64,
    /// The branch.
    pub head_branch: Option<String>,
    /// The commit. Left out where the suite is only mentioned.
    pub head_sha: Option<String>,
    /// How far they are.
    pub status: Option<RunStatus>,
    /// What they came to.
    pub conclusion: Option<Conclusion>,
    /// Where the branch stood before the push.
    pub before: Option<String>,
    /// Where it stood after.
    pub after: Option<String>,
    /// The App.
    pub app: Option<App>,
    /// Open pull requests of the commit, in the same repository.
    #[serde(default)]
    pub pull_requests: Vec<PullRequestRef>,
}
