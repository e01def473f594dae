//! The Typeform provider: `Typeform-Signature` as data.
//!
//! ```text
//! Typeform-Signature: sha256=j4Rf1Bb17opUoTpbTPiI+rVKPRYsQMiQxyD1LgQn6kQ=
//!
//! {"event_id":"01HM3K8N2P9X4Q0RSTVWXYZ012","event_type":"form_response","form_response":{…}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 under the secret text, in base64 after `sha256=` |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the secret |
//! | id, type | `event_id`, `event_type` of the body, both signed |
//! | account | none; a webhook is one form's, `form_response.form_id` |
//! | handlers decode | `form_response` |
//! | redelivers | every two or three minutes for ten hours after 408, 423, 429 and 503, else five times within ten and a half hours, never after 404 and 410 (second-hand); at somebody's request: not documented |
//!
//! - Typeform waits for thirty seconds for its answer (second-hand).
//! - That the id stays the same on a retry is **unverified**.
//! - A webhook without a secret sends no signature, and is refused.
//!
//! # What it will not do
//!
//! Take hex after `sha256=`, as GitHub writes it, or base64 without padding.
//!
//! Sources, all second-hand: typeform.com/developers, *Secure your webhooks*, *Example payload*, *Webhooks*.

mod envelope;
mod event;

pub use envelope::Typeform;
