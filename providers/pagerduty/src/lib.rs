//! The PagerDuty provider: `X-PagerDuty-Signature` of webhooks v3 as data.
//!
//! ```text
//! X-PagerDuty-Signature: v1=df7a8e66ddaa8276c06ce98004ea09a304c68a6345c68aec57fa7ca57ae394e2
//!
//! {"event":{"id":"01QDZG6YM4YJJYH7DFKJNVPN9T","event_type":"incident.triggered","data":{…}, …}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 in lower-case hex under the secret text |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the secret |
//! | id, type | `event.id`, `event.event_type` of the body, both signed |
//! | account | none |
//! | handlers decode | `event`: `data` is the incident or service, beside it stand `occurred_at` and `agent` |
//! | redelivers | **unverified**: identities are kept until an operator says otherwise |
//!
//! - While a secret is rotated the header has several `v1`, parted by commas. Any match is enough; versions other than
//!   `v1` are ignored.
//! - The test that an administrator sends, `pagey.ping`, is an event like others.
//! - That the id stays the same on a retry is **unverified**.
//!
//! # What it will not do
//!
//! Read webhooks v2, which carry no signature and were retired.
//!
//! Sources: PagerDuty/go-pagerduty `webhookv3` and its test; developer.pagerduty.com, *Webhooks v3 overview* (second-hand).

mod envelope;
mod event;

pub use envelope::PagerDuty;
