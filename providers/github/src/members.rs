//! What a body must have, and must not have, to be the event its unsigned header names.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use webhook_core::json_object;

/// Whether `json` has the top-level members of an `event_type`, and none that only other events have.
///
/// Events not in the table are taken at their word: GitHub adds some every year.
pub(crate) fn corroborate(event_type: &str, json: &[u8]) -> bool {
    let row = EVENTS.iter().find(|(name, ..)| *name == event_type);
    let Some((_, must, may)) = row else {
        return true;
    };
    #[expect(clippy::zero_sized_map_values, reason = "serde reads sets from arrays")]
    let Ok(members) = json_object::<BTreeMap<Cow<'_, str>, IgnoredAny>>(json) else {
        return false;
    };
    let names = |list: &str, member| list.split(' ').any(|name| name == member);
    must.split(' ').all(|name| members.contains_key(name))
        && SUBJECTS
            .split(' ')
            .filter(|name| members.contains_key(*name))
            .all(|name| names(must, name) || names(may, name))
}

/// Members that say what an event is about: only the rows that name one may carry it.
///
/// `action` is among them for the four events that certainly have none and look like others but for it.
const SUBJECTS: &str = "\
    action alert blocked_issue blocked_user build check_run check_suite client_payload comment \
    commit_oid commits definition deployment deployment_status discussion forkee hook_id inputs issue \
    key label location marketplace_purchase master_branch member merge_group milestone \
    new_property_values package pages parent_issue personal_access_token_request project project_card \
    project_column projects_v2 projects_v2_item projects_v2_status_update pull_request pusher ref_type \
    registry_package release repositories_added repository_advisory repository_ruleset review rule \
    security_advisory since source sponsorship starred_at state status sub_issue target_type team thread \
    workflow_job workflow_run zen";

/// Event; the members it always has; the subjects it may have beside them. From GitHub's published schemas and
/// examples: required in each of them, known in any of them.
#[rustfmt::skip]
const EVENTS: &[(&str, &str, &str)] = &[
    ("branch_protection_configuration", "action repository", ""),
    ("branch_protection_rule", "action rule", ""),
    ("check_run", "action check_run", ""),
    ("check_suite", "action check_suite", ""),
    ("code_scanning_alert", "action alert commit_oid ref", ""),
    ("commit_comment", "action comment", ""),
    ("create", "master_branch ref ref_type", "action"),
    ("custom_property", "action definition", ""),
    ("custom_property_values", "action new_property_values old_property_values", ""),
    ("delete", "ref ref_type", "action"),
    ("dependabot_alert", "action alert", ""),
    ("deploy_key", "action key", ""),
    ("deployment", "action deployment", "workflow_run"),
    ("deployment_protection_rule", "action", "deployment"),
    ("deployment_review", "action since workflow_run", "comment"),
    ("deployment_status", "action deployment deployment_status", "check_run workflow_run"),
    ("discussion", "action discussion", "label"),
    ("discussion_comment", "action comment discussion", ""),
    ("fork", "forkee", "action"),
    ("github_app_authorization", "action", ""),
    ("gollum", "pages", "action"),
    ("installation", "action installation", ""),
    ("installation_repositories", "action installation repositories_added repositories_removed", ""),
    ("installation_target", "account action installation target_type", ""),
    ("issue_comment", "action comment issue", ""),
    ("issue_dependencies", "action blocked_issue blocking_issue", ""),
    ("issues", "action issue", "label milestone"),
    ("label", "action label", ""),
    ("marketplace_purchase", "action marketplace_purchase", ""),
    ("member", "action member", ""),
    ("membership", "action member scope team", ""),
    ("merge_group", "action merge_group", ""),
    ("meta", "action hook hook_id", ""),
    ("milestone", "action milestone", ""),
    ("org_block", "action blocked_user organization", ""),
    ("organization", "action organization", ""),
    ("package", "action package", ""),
    ("page_build", "build id", "action"),
    ("personal_access_token_request", "action personal_access_token_request", ""),
    ("ping", "hook_id zen", ""),
    ("project", "action project", ""),
    ("project_card", "action project_card", ""),
    ("project_column", "action project_column", ""),
    ("projects_v2", "action projects_v2", ""),
    ("projects_v2_item", "action projects_v2_item", ""),
    ("projects_v2_status_update", "action projects_v2_status_update", ""),
    ("public", "repository", ""),
    ("pull_request", "action number pull_request", "label milestone"),
    ("pull_request_review", "action pull_request review", ""),
    ("pull_request_review_comment", "action comment pull_request", ""),
    ("pull_request_review_thread", "action pull_request thread", ""),
    ("push", "after before commits pusher ref", "action"),
    ("registry_package", "action registry_package", ""),
    ("release", "action release", ""),
    ("repository", "action repository", ""),
    ("repository_advisory", "action repository_advisory", ""),
    ("repository_dispatch", "action branch client_payload", ""),
    ("repository_import", "repository status", "action"),
    ("repository_ruleset", "action repository_ruleset", ""),
    ("repository_vulnerability_alert", "action alert", ""),
    ("secret_scanning_alert", "action alert", ""),
    ("secret_scanning_alert_location", "alert location", "action"),
    ("secret_scanning_scan", "action source started_at", ""),
    ("security_advisory", "action security_advisory", ""),
    ("security_and_analysis", "changes repository", ""),
    ("sponsorship", "action sponsorship", ""),
    ("star", "action starred_at", ""),
    ("status", "branches commit context sha state", "action"),
    ("sub_issues", "action parent_issue sub_issue", ""),
    ("team", "action team", ""),
    ("team_add", "repository team", ""),
    ("watch", "action repository", ""),
    ("workflow_dispatch", "inputs ref workflow", "action"),
    ("workflow_job", "action workflow_job", "deployment"),
    ("workflow_run", "action workflow_run", ""),
];
