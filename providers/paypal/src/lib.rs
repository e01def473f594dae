//! The PayPal provider: an RSA signature over a checksum of the body as data, which **does not hold the event**.
//!
//! ```text
//! PAYPAL-TRANSMISSION-ID: 69cd13f0-d67a-11e5-baa3-778b53f4ae55
//! PAYPAL-TRANSMISSION-TIME: 2025-06-15T15:06:40Z
//! PAYPAL-AUTH-ALGO: SHA256withRSA
//! PAYPAL-TRANSMISSION-SIG: lmI95Jx3Y9nhR5SJWlHVIWpg4AgFk7n9bCHSRxbrd8A9zrhdu2rMyFrmz+Zjh3s3…
//!
//! {"id":"WH-2WR32451HC0233532-67976317FL4543714","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{…}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | transmission id, `\|`, transmission time, `\|`, webhook id, `\|`, CRC-32 of the body in decimal; RSA PKCS#1 v1.5 with SHA-256 in base64 |
//! | window | five minutes on both sides; PayPal names none, and whether a retry is signed anew is not documented |
//! | id | `PAYPAL-TRANSMISSION-ID`, signed |
//! | type | `event_type` of the body, **under a checksum alone** |
//! | account | none |
//! | handlers decode | `resource`, **under a checksum alone** |
//! | redelivers | up to 25 times in three days (second-hand); at somebody's request: not documented |
//!
//! # What a checksum is worth
//!
//! CRC-32 finds noise on a line. Whoever has seen one request can give any other body the same four bytes of it, and the signature
//! holds. So the constructor says it aloud, and there is no other:
//!
//! ```
//! use webhook_paypal::PayPal;
//!
//! let paypal = PayPal::dangerous_checksummed_events("1JE4291016473214C");
//! # let _ = paypal;
//! ```
//!
//! - The transmission id is claimed: one transmission, one event. Another event under it is quarantined.
//! - The digest of the body is claimed too. A retry under a new transmission id (whether there is such is **unverified**) is
//!   quarantined by it, and no handler runs twice.
//! - Handlers get `Unsigned<EventId>`. Take an event for a hint: ask PayPal's API for the resource before money moves.
//!
//! The webhook id is told by you, as your developer dashboard shows it; a request that was signed for another webhook does not verify.
//!
//! # Keys
//!
//! A request says in `PAYPAL-CERT-URL` at which URL its certificate stands. That is the word of whoever sent it, so only a URL of PayPal
//! is asked for ([`PayPal::is_certificate_url`]), through a client that goes nowhere else, and what it gives is remembered:
//!
//! ```text
//! Keys::source(webhook_certificates::Certificates::allowed(PayPal::is_certificate_url)?)
//! ```
//!
//! An endpoint of the sandbox asks by [`PayPal::is_sandbox_certificate_url`]. None takes both: whoever can make a sandbox sign has no
//! say in what is live.
//!
//! Or the certificate is configured, in base64, without the lines that frame it; then the URL is not looked at. Sandbox and live
//! have certificates of their own. When PayPal changes one, deliveries no longer verify until it stands beside the old one; PayPal
//! tries again meanwhile.
//!
//! # What it will not do
//!
//! Ask PayPal's `verify-webhook-signature`. Accept another `PAYPAL-AUTH-ALGO` than `SHA256withRSA`.
//!
//! Source: developer.paypal.com, *Webhooks: verify signature* (second-hand).

mod envelope;
mod event;

pub use envelope::PayPal;
