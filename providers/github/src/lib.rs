//! The GitHub provider: `X-Hub-Signature-256` as data.
//!
//! ```text
//! X-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958
//! X-GitHub-Event: issues
//! X-Hub-Signature-256: sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c
//!
//! {"action":"opened","issue":{…},"repository":{…}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 under the secret text |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the secret |
//! | id, type | `X-GitHub-Delivery`, `X-GitHub-Event`, **both unsigned** |
//! | account | of the signed body, in decimal: `installation.id`, else `organization.id`, else `repository.owner.id` |
//! | handlers decode | the whole body, or the `payload` field of a form; common ones are in [`payloads`] |
//! | redelivers | never by itself; the same id and body at somebody's request, for thirty days at most |
//!
//! # Unsigned ids and types
//!
//! Whoever captures a request can send it again under a fresh id or another event name. So the digest of the signed
//! content is claimed beside the id, handlers get `Unsigned<EventId>`, and a body must corroborate the name it comes
//! under: the members each event has, and those only other events have, are a table. Members do not tell apart, and only
//! the type a handler decodes does: the alerts of Dependabot, of secret scanning and of vulnerabilities; `deployment`
//! under `deployment_protection_rule`; `security_and_analysis` under `public`; and events of little but an action and
//! common members (`repository`, `watch`, `branch_protection_configuration`, `organization`, `installation`,
//! `github_app_authorization`). Events not in the table are taken at their word.
//!
//! The content type is unsigned, too. Whether the body is JSON or a form is read from the body: JSON that somebody
//! filled with `&payload=…` never passes for a form.
//!
//! # Which events are inside
//!
//! An App that anybody may install gets events of whoever did. An endpoint that is for some of them says so, and the
//! rest is acknowledged, counted and not run:
//!
//! ```
//! use webhook_github::GitHub;
//!
//! let all = GitHub;
//! let ours = GitHub.installations([51_230_001, 51_230_002]); // `installation.id` of the signed body
//! # let _ = (all, ours);
//! ```
//!
//! # What it will not do
//!
//! Read the SHA-1 header `X-Hub-Signature`, or answer a `ping` specially: it is an event like others.
//!
//! Sources: docs.github.com, *Validating webhook deliveries*, *Webhook events and payloads*, *Handling failed webhook
//! deliveries*; octokit/webhooks-methods 6.0.0; the members of events: github/rest-api-description by way of
//! octokit/openapi-webhooks 12.1.0, octokit/webhooks-schemas and -examples 7.6.1.

pub mod payloads;

mod envelope;
mod event;
mod members;

pub use envelope::GitHub;
