//! The Bitbucket Cloud provider: `X-Hub-Signature` as data.
//!
//! ```text
//! X-Event-Key: repo:push
//! X-Request-UUID: 2b7c9a41-9d8e-4f9b-9a53-3a1a1d7d4c55
//! X-Hub-Signature: sha256=5dd7cbf447bbf294cb0a7bfd48a225a25a4f9441ce48057fead324112e535f58
//!
//! {"push":{"changes":[…]},"repository":{"full_name":"acme/site","workspace":{"uuid":"{90e6…}"}, …}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 in lower-case hex under the secret text |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the secret |
//! | id, type | `X-Request-UUID`, `X-Event-Key`, **both unsigned** |
//! | account | of the signed body: `repository.workspace.uuid`, else `repository.owner.uuid` (**unverified** that one is always there) |
//! | handlers decode | the whole body |
//! | redelivers | twice after the first attempt, when is not documented; at somebody's request: not documented |
//!
//! # Unsigned ids and types
//!
//! Whoever captures a request can send it again under a fresh id or another event key. So the digest of the signed
//! content is claimed beside the id, handlers get `Unsigned<EventId>`, and a body must corroborate the key it comes
//! under: it has the members of that event and no subject of another, and the pull request under `pullrequest:fulfilled`
//! *is* merged, under `pullrequest:rejected` declined. Members do not tell apart, and only the type a handler decodes does:
//! `pullrequest:created` and `:updated`; comments that are made, changed, deleted, resolved or reopened; a status that is
//! made and one that is changed. Keys that are not in the table are taken at their word.
//!
//! Whether a retry keeps its `X-Request-UUID` is **unverified**. If it does not, a retry of what was stored is quarantined
//! by its digest, and no handler runs twice.
//!
//! # What it will not do
//!
//! Take deliveries of Bitbucket Data Center, which bear `X-Request-Id` and other event keys, or the signature under
//! GitHub's name, `X-Hub-Signature-256`.
//!
//! Sources: support.atlassian.com, *Event payloads*; *Manage webhooks*, with its example of a signature (second-hand).

mod envelope;
mod event;
mod members;

pub use envelope::Bitbucket;
