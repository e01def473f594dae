//! The Mailgun provider: a signature inside the body as data, which **does not cover the event**.
//!
//! ```text
//! {"signature":{"timestamp":"1750000000","token":"9f3ee531…","signature":"7cce090b…"},
//!  "event-data":{"id":"7tQMy4lgi2oXhLclVT8x5c","event":"delivered", …}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `signature.timestamp` and `signature.token`, joined, and nothing else; HMAC-SHA256 in lower-case hex under the HTTP webhook signing key, as text |
//! | window | five minutes on both sides; Mailgun names none |
//! | id | `signature.token`, signed: fifty characters of letters and digits |
//! | type | `event` of `event-data`, **unsigned** |
//! | account | none |
//! | handlers decode | `event-data`, **unsigned** |
//! | redelivers | after 10, 10, 15 and 30 minutes, 1, 2 and 4 hours (an older manual), until 200 or 406; at somebody's request: not documented |
//!
//! # What is not signed
//!
//! Whoever sees one delivery can put any event into it. What is verified is that Mailgun made the token within the last five minutes,
//! and that is all. So the constructor says it aloud, and there is no other:
//!
//! ```
//! use webhook_mailgun::Mailgun;
//!
//! let mailgun = Mailgun::dangerous_unsigned_events();
//! # let _ = mailgun;
//! ```
//!
//! - The token is claimed: one token, one event, for as long as the window is open. A second event under it is quarantined.
//! - The digest of `event-data` is claimed too. A retry under a fresh token (whether Mailgun signs retries anew is
//!   **unverified**) is quarantined by it, and no handler runs twice.
//! - Handlers get `Unsigned<EventId>`. Take an event for a hint: look up at Mailgun what moves money or rights.
//!
//! The signature is looked for in a body that nobody has vouched for: once that is whole and within the cap, three texts of one object are
//! read, each of them once and of a strict grammar. `timestamp` is the text that Mailgun's examples show; a JSON number, which its table
//! speaks of, is refused. Timestamp and token are joined without a separator: that a token begins with a digit moves none, as its length is fixed.
//!
//! Mailgun never sends a failed event again after 406. This crate answers no request so.
//!
//! # What it will not do
//!
//! Read the `parent-signature` of subaccounts, or the form fields that inbound routes post.
//!
//! Sources: documentation.mailgun.com, *Securing webhooks*; its older user manual for the retries.

mod envelope;
mod event;

pub use envelope::Mailgun;
