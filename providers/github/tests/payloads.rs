//! Payload types: what they read, and what they forgive.
#![expect(clippy::unwrap_used, reason = "tests assert by panicking")]

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use webhook_core::DynProvider as _;
use webhook_core::Events;
use webhook_github::GitHub;
use webhook_github::payloads::{
    AccountKind, CheckRunAction, CheckRunEvent, CheckSuiteEvent, CommentAction, Conclusion,
    CreateEvent, DeleteEvent, InstallationAction, InstallationEvent, InstallationRepositoriesEvent,
    IssueCommentEvent, IssuesAction, IssuesEvent, OpenOrClosed, PingEvent, PullRequestAction,
    PullRequestEvent, PullRequestReviewEvent, PushEvent, RefKind, ReleaseAction, ReleaseEvent,
    ReviewState, RunStatus, StarAction, StarEvent, WorkflowRunEvent,
};
use webhook_vectors::must_have;

macro_rules! body {
    ($file:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("../testdata/", $file, ".json")))
            .unwrap()
    };
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

/// Read it, and check that its name is the event's, that the event's members are in it, and that
/// nothing but `members`, beside those of users and repositories, must be.
fn read_all<T: DeserializeOwned + Events>(value: &Value, members: &[&str]) -> T {
    let [event_type] = T::TYPES else {
        panic!("one event")
    };
    assert!(
        GitHub.corroborates(event_type, value.to_string().as_bytes()),
        "{event_type}"
    );
    let mut needed = must_have::<T>(value);
    needed.retain(|path| {
        let (parent, member) = path.rsplit_once('.').unwrap_or_default();
        let in_repository = parent.ends_with("repository") || parent.ends_with("repo");
        let of_repository = ["full_name", "html_url", "id", "name", "owner", "private"];
        !(in_repository && of_repository.contains(&member) || ["id", "login"].contains(&member))
    });
    assert_eq!(needed, members, "{event_type}");
    read(value)
}

#[test]
fn pushes_are_read() {
    let value = body!("payloads/push");
    let commits = ["commits.[].id", "commits.[].message"];
    let push: PushEvent = read_all(
        &value,
        &[
            "after",
            "before",
            commits[1],
            "head_commit.message",
            "pusher.name",
            "ref",
            "repository",
        ],
    );
    assert_eq!((push.branch(), push.tag()), (Some("main"), None));
    assert_eq!(push.after, "c8fcb1032b1e78deb561a0e9d95aaa1cb840b54e");
    assert_eq!(push.repository.full_name, "acme-example/widgets");
    assert_eq!(
        push.commits[0].author.as_ref().unwrap().username.as_deref(),
        Some("ann-example")
    );
    let large: PushEvent = read(&body!("payloads/push.large"));
    assert!(large.commits.len() > 20);

    let mut deleted = value;
    deleted["ref"] = json!("refs/tags/v1");
    deleted["head_commit"] = Value::Null;
    let push: PushEvent = read(&deleted);
    assert_eq!(
        (push.branch(), push.tag(), &push.head_commit),
        (None, Some("v1"), &None)
    );
}

#[test]
fn branches_and_tags_are_read() {
    let created: CreateEvent = read_all(
        &body!("shapes/create.branch"),
        &["ref", "ref_type", "repository"],
    );
    assert_eq!(
        (created.reference.as_str(), created.ref_type),
        ("fix/größe", RefKind::Branch)
    );
    let deleted: DeleteEvent = read_all(
        &body!("shapes/delete.tag"),
        &["ref", "ref_type", "repository"],
    );
    assert_eq!(
        (deleted.reference.as_str(), deleted.ref_type),
        ("v0.9", RefKind::Tag)
    );
}

#[test]
fn issues_and_comments_are_read() {
    let value = body!("payloads/issues.opened");
    let issue = [
        "issue.created_at",
        "issue.html_url",
        "issue.labels.[].name",
        "issue.number",
        "issue.title",
        "issue.updated_at",
    ];
    let event: IssuesEvent = read_all(
        &value,
        &[&["action", "issue"], &issue[..], &["repository"]].concat(),
    );
    assert_eq!(event.action, IssuesAction::Opened);
    assert_eq!(
        (event.issue.number, event.issue.state.as_ref()),
        (17, Some(&OpenOrClosed::Open))
    );
    assert!(!event.issue.is_pull_request());

    let mut other = value;
    other["action"] = json!("unpinned from the moon");
    let event: IssuesEvent = read(&other);
    assert_eq!(event.action.as_str(), "unpinned from the moon");

    let comment = [
        "comment.body",
        "comment.created_at",
        "comment.html_url",
        "comment.updated_at",
    ];
    let event: IssueCommentEvent = read_all(
        &body!("shapes/issue_comment.created"),
        &[
            &["action", "comment"],
            &comment[..],
            &["issue"],
            &issue[..],
            &["repository"],
        ]
        .concat(),
    );
    assert_eq!(
        (event.action, event.comment.body.as_str()),
        (CommentAction::Created, "Größe passt 👍")
    );
    assert!(event.issue.is_pull_request());
}

#[test]
fn pull_requests_and_reviews_are_read() {
    let value = body!("payloads/pull_request.opened");
    let pull = [
        "pull_request",
        "pull_request.base",
        "pull_request.base.ref",
        "pull_request.base.sha",
        "pull_request.created_at",
        "pull_request.head",
        "pull_request.head.ref",
        "pull_request.head.sha",
        "pull_request.html_url",
        "pull_request.number",
        "pull_request.state",
        "pull_request.title",
        "pull_request.updated_at",
    ];
    let event: PullRequestEvent = read_all(
        &value,
        &[&["action", "number"], &pull[..], &["repository"]].concat(),
    );
    assert_eq!(
        (event.action, event.number),
        (PullRequestAction::Opened, 18)
    );
    assert_eq!(
        (event.pull_request.merged, event.pull_request.draft),
        (Some(false), false)
    );
    assert_eq!(
        event.pull_request.head.repo.unwrap().full_name,
        "acme-example/widgets"
    );

    // The fork and its owner may be gone.
    let mut orphan = value;
    orphan["pull_request"]["head"]["repo"] = Value::Null;
    orphan["pull_request"]["head"]["user"] = Value::Null;
    orphan["pull_request"]["user"] = Value::Null;
    let event: PullRequestEvent = read(&orphan);
    assert_eq!(
        (event.pull_request.head.repo, event.pull_request.user),
        (None, None)
    );

    let event: PullRequestReviewEvent = read_all(
        &body!("shapes/pull_request_review.submitted"),
        &[
            &["action"],
            &pull[..],
            &["repository", "review", "review.state"],
        ]
        .concat(),
    );
    assert_eq!(event.review.state, ReviewState::ChangesRequested);
}

#[test]
fn releases_are_read() {
    let event: ReleaseEvent = read_all(
        &body!("shapes/release.published"),
        &[
            "action",
            "release",
            "release.assets.[].browser_download_url",
            "release.assets.[].name",
            "release.assets.[].size",
            "release.html_url",
            "release.tag_name",
            "repository",
        ],
    );
    assert_eq!(
        (event.action, event.release.prerelease),
        (ReleaseAction::Published, true)
    );
    assert_eq!(event.release.assets[0].size, 123_456);
}

#[test]
fn runs_are_read() {
    let event: WorkflowRunEvent = read_all(
        &body!("shapes/workflow_run.completed"),
        &[
            "action",
            "repository",
            "workflow.name",
            "workflow.path",
            "workflow_run",
            "workflow_run.created_at",
            "workflow_run.event",
            "workflow_run.head_sha",
            "workflow_run.html_url",
            "workflow_run.pull_requests.[].number",
            "workflow_run.run_number",
            "workflow_run.updated_at",
            "workflow_run.workflow_id",
        ],
    );
    assert_eq!(event.workflow_run.conclusion, Some(Conclusion::Failure));
    assert_eq!(
        (
            event.workflow_run.run_attempt,
            event.workflow_run.pull_requests[0].number
        ),
        (Some(2), 7)
    );

    let event: CheckRunEvent = read_all(
        &body!("payloads/check_run.completed"),
        &[
            "action",
            "check_run",
            "check_run.head_sha",
            "check_run.name",
            "check_run.pull_requests.[].number",
            "check_run.status",
            "repository",
        ],
    );
    assert_eq!(
        (event.action, event.check_run.status),
        (CheckRunAction::Completed, RunStatus::Completed)
    );
    assert!(event.installation.is_some());

    let event: CheckSuiteEvent = read_all(
        &body!("shapes/check_suite.completed"),
        &["action", "check_suite", "repository"],
    );
    assert_eq!(event.check_suite.head_branch.as_deref(), Some("main"));
}

#[test]
fn hooks_and_installations_are_read() {
    let ping: PingEvent = read_all(&body!("payloads/ping"), &["hook", "hook.active", "hook_id"]);
    assert_eq!(ping.hook_id, 500_000_001);

    let value = body!("shapes/installation.created");
    let repositories = [
        "repositories.[].full_name",
        "repositories.[].name",
        "repositories.[].private",
    ];
    let event: InstallationEvent = read_all(
        &value,
        &[&["action", "installation"], &repositories[..]].concat(),
    );
    assert_eq!(
        (event.action, event.installation.id),
        (InstallationAction::Created, 51_230_001)
    );
    assert_eq!(event.installation.permissions["checks"], "write");
    let account = event.installation.account.unwrap();
    assert_eq!(account.kind, Some(AccountKind::Organization));

    // An enterprise has a slug and no login.
    let mut enterprise = value;
    enterprise["installation"]["account"] = json!({"id": 1, "slug": "acme", "name": "Acme"});
    assert_eq!(
        read::<InstallationEvent>(&enterprise).installation.account,
        None
    );

    let event: InstallationRepositoriesEvent = read_all(
        &body!("shapes/installation_repositories.removed"),
        &["action", "installation"],
    );
    assert_eq!(
        event.repositories_removed[0].full_name.as_deref(),
        Some("acme-example/widgets")
    );
}

#[test]
fn stars_are_read() {
    let event: StarEvent = read_all(&body!("shapes/star.created"), &["action", "repository"]);
    assert_eq!(event.action, StarAction::Created);
}
