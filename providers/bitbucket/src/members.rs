//! What a body must have, and must not have, to be the event its unsigned header names.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use webhook_core::json_object;

/// Whether `json` has the members of the event named `key`, and none that only others have.
///
/// Keys not in the table are taken at their word: Bitbucket may add some.
pub(crate) fn corroborate(key: &str, json: &[u8]) -> bool {
    let row = EVENTS.iter().find(|(name, ..)| *name == key);
    let Some((_, must, state)) = row else {
        return true;
    };
    #[expect(clippy::zero_sized_map_values, reason = "serde reads sets from arrays")]
    let Ok(members) = json_object::<BTreeMap<Cow<'_, str>, IgnoredAny>>(json) else {
        return false;
    };
    let has = |name: &&str| members.contains_key(*name);
    must.split(' ').all(|name| has(&name))
        && SUBJECTS
            .iter()
            .filter(|name| has(name))
            .all(|name| must.split(' ').any(|own| own == *name))
        && state.is_none_or(|state| is_in(state, json))
}

/// Whether the pull request is in this state.
fn is_in(state: &str, json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct About<'b> {
        #[serde(borrow)]
        pullrequest: PullRequest<'b>,
    }
    #[derive(Deserialize)]
    struct PullRequest<'b> {
        #[serde(borrow)]
        state: Cow<'b, str>,
    }
    json_object::<About<'_>>(json).is_ok_and(|about| about.pullrequest.state == state)
}

/// Members that say what an event is about: only the rows that name one may carry it. `changes` is not among them,
/// because it is a detail of more than one.
const SUBJECTS: [&str; 9] = [
    "approval",
    "changes_request",
    "comment",
    "commit",
    "commit_status",
    "fork",
    "issue",
    "pullrequest",
    "push",
];

/// Event key; the members it always has; the state its pull request is in.
#[rustfmt::skip]
const EVENTS: &[(&str, &str, Option<&str>)] = &[
    ("issue:comment_created", "comment issue", None),
    ("issue:created", "issue", None),
    ("pullrequest:approved", "approval pullrequest", None),
    ("pullrequest:changes_request_created", "changes_request pullrequest", None),
    ("pullrequest:changes_request_removed", "changes_request pullrequest", None),
    ("pullrequest:comment_created", "comment pullrequest", None),
    ("pullrequest:comment_deleted", "comment pullrequest", None),
    ("pullrequest:comment_reopened", "comment pullrequest", None),
    ("pullrequest:comment_resolved", "comment pullrequest", None),
    ("pullrequest:comment_updated", "comment pullrequest", None),
    ("pullrequest:created", "pullrequest", None),
    ("pullrequest:fulfilled", "pullrequest", Some("MERGED")),
    ("pullrequest:rejected", "pullrequest", Some("DECLINED")),
    ("pullrequest:unapproved", "approval pullrequest", None),
    ("pullrequest:updated", "pullrequest", None),
    ("repo:commit_comment_created", "comment commit", None),
    ("repo:commit_status_created", "commit_status", None),
    ("repo:commit_status_updated", "commit_status", None),
    ("repo:fork", "fork", None),
    ("repo:push", "push", None),
];
