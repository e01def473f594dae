//! Every body under every event name, cell by cell: a body bears its own name and no other.

use std::collections::BTreeSet;

use serde::Deserialize;
use webhook_core::DynProvider;
use webhook_github::GitHub;

/// A row of `members.json`, which `generate.mjs` writes.
#[derive(Deserialize)]
struct Row {
    event: String,
    source: String,
    required: String,
    known: String,
}

/// Body and name that members do not tell apart.
const ALIKE: [(&str, &str); 22] = [
    ("dependabot_alert", "repository_vulnerability_alert"),
    ("dependabot_alert", "secret_scanning_alert"),
    ("deployment", "deployment_protection_rule"),
    ("github_app_authorization", "deployment_protection_rule"),
    ("installation", "deployment_protection_rule"),
    ("installation", "github_app_authorization"),
    ("organization", "deployment_protection_rule"),
    ("organization", "github_app_authorization"),
    ("organization", "installation"),
    ("repository", "branch_protection_configuration"),
    ("repository", "deployment_protection_rule"),
    ("repository", "github_app_authorization"),
    ("repository", "installation"),
    ("repository", "organization"),
    ("repository", "watch"),
    ("repository_vulnerability_alert", "dependabot_alert"),
    ("repository_vulnerability_alert", "secret_scanning_alert"),
    ("watch", "branch_protection_configuration"),
    ("watch", "deployment_protection_rule"),
    ("watch", "github_app_authorization"),
    ("watch", "installation"),
    ("watch", "repository"),
];

/// Events of the schemas that the table leaves out: they pass under their name, whatever the body.
const UNLISTED: [&str; 6] = [
    "dismissal_request_code_scanning",
    "dismissal_request_secret_scanning",
    "exemption_request_push_ruleset",
    "exemption_request_secret_scanning",
    "organization_custom_property",
    "organization_custom_property_values",
];

#[expect(clippy::unwrap_used, reason = "test data")]
fn rows() -> Vec<Row> {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../testdata/members.json")).unwrap();
    assert_eq!(rows.len(), 304);
    rows
}

fn body(members: &str) -> String {
    let members = members.split_whitespace();
    let members: Vec<_> = members.map(|name| format!(r#""{name}":null"#)).collect();
    format!("{{{}}}", members.join(","))
}

fn corroborates(event_type: &str, json: &str) -> bool {
    DynProvider::corroborates(&GitHub, event_type, json.as_bytes())
}

#[test]
fn bodies_with_all_and_with_only_the_required_members_bear_their_name() {
    for row in rows() {
        assert!(
            corroborates(&row.event, &body(&row.known)) || row.event == "ping",
            "{}",
            row.event
        );
        // The schema of `ping` requires nothing; real ones have more, see below.
        let certain = row.event != "ping" || row.source == "example";
        assert_eq!(
            corroborates(&row.event, &body(&row.required)),
            certain,
            "{}",
            row.event
        );
    }
}

#[test]
fn examples_bear_no_other_name() {
    let rows = rows();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.event.as_str()).collect();
    assert_eq!(names.len(), 75);
    let mut alike = BTreeSet::new();
    for row in rows.iter().filter(|row| row.source == "example") {
        for name in names.iter().filter(|name| !UNLISTED.contains(name)) {
            if **name != row.event && corroborates(name, &body(&row.known)) {
                alike.insert((row.event.as_str(), *name));
            }
        }
    }
    let expected: BTreeSet<_> = ALIKE.into_iter().collect();
    assert_eq!(alike, expected);
}

#[test]
fn real_payloads_bear_their_own_name_only() {
    for (own, json) in [
        (
            "check_run",
            include_str!("../testdata/payloads/check_run.completed.json"),
        ),
        (
            "issues",
            include_str!("../testdata/payloads/issues.opened.json"),
        ),
        ("ping", include_str!("../testdata/payloads/ping.json")),
        (
            "pull_request",
            include_str!("../testdata/payloads/pull_request.opened.json"),
        ),
        ("push", include_str!("../testdata/payloads/push.json")),
        ("push", include_str!("../testdata/payloads/push.large.json")),
    ] {
        for row in rows()
            .iter()
            .filter(|row| !UNLISTED.contains(&row.event.as_str()))
        {
            let name = &row.event;
            assert_eq!(corroborates(name, json), name == own, "{own} as {name}");
        }
        assert!(corroborates(own, &format!("\u{feff}{json}")));
        assert!(corroborates("an_event_of_next_year", json));
    }
}

#[test]
fn the_classic_confusions_are_refused() {
    let comment = body("action comment issue repository sender");
    assert!(corroborates("issue_comment", &comment));
    assert!(!corroborates("issues", &comment));
    assert!(!corroborates("commit_comment", &comment));
    let review = body("action pull_request review repository sender");
    assert!(corroborates("pull_request_review", &review));
    assert!(!corroborates("pull_request", &review));
    assert!(!corroborates(
        "pull_request",
        &body("action number pull_request review")
    ));
    for no_object in ["", "null", "[]", r#"["ref"]"#, "{", "ref"] {
        assert!(!corroborates("push", no_object));
    }
}
