//! The GitLab provider: Standard Webhooks signatures as data.
//!
//! ```text
//! webhook-id: 704137ca-3486-4e3a-a52f-495bf001dea5
//! webhook-timestamp: 1750000000
//! webhook-signature: v1,S2YTCebx3K19AaxuN8mJB5nASG15/pCaNHxlMg4mNug=
//! X-Gitlab-Event: Push Hook
//!
//! {"object_kind":"push","event_name":"push","ref":"refs/heads/main","project":{"id":15, …}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | id, `.`, timestamp, `.`, body; HMAC-SHA256 in base64 under the bytes of the hook's *signing token*, `whsec_` and base64 |
//! | window | five minutes on both sides; GitLab names none |
//! | id | `webhook-id`, signed; GitLab also sends it as `Idempotency-Key`, and keeps it on retries |
//! | type | `object_kind` of the signed body, else `event_name`: `push`, `merge_request`, `user_add_to_group` |
//! | account | `project.id` of the signed body, as text; none for events of a group |
//! | handlers decode | the whole body |
//! | redelivers | which failures and how often is not documented; at somebody's request: not documented |
//!
//! Signing tokens came with GitLab 19.0 (second-hand). A hook may have a signing token and a secret token at once, to migrate: this
//! provider looks at the signature alone. `X-Gitlab-Event`, `-Instance`, `-Webhook-UUID` and `-Event-UUID` are unsigned, and kept.
//! GitLab sends bodies of up to 25 MB, waits for ten seconds (**unverified**), takes 2xx and 3xx for success, and turns a
//! hook off for a while after four failures in a row.
//!
//! # Secret tokens
//!
//! `X-Gitlab-Token`, the *secret token* of older hooks, travels in plain with every request and signs nothing: whoever has seen one
//! request can send any other, at any time. [`GitLab`] does not read it. Where there is nothing else, say so:
//!
//! ```
//! use webhook_gitlab::GitLab;
//!
//! let gitlab = GitLab::dangerous_plain_token();
//! # let _ = gitlab;
//! ```
//!
//! Then the token is compared in constant time, the id is `Idempotency-Key` (GitLab 17.4 and later), unsigned, and the digest of the body is claimed
//! beside it, so that a request that is sent again under a fresh id is quarantined. Against a forged body nothing helps.
//!
//! Sources: gitlabhq `app/services/web_hook_service.rb`; docs.gitlab.com, *Webhooks*; gitlab.com, merge request 230944 (second-hand).

mod envelope;
mod event;

pub use envelope::{GitLab, GitLabPlainToken};
