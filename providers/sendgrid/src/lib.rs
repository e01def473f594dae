//! The SendGrid provider: the signed Event Webhook as data.
//!
//! ```text
//! X-Twilio-Email-Event-Webhook-Signature: MEQCIBisDPMlZvu+Wa2owIeylryi6CXTIHR8KuFiH/NodYUNAiBXd/DBVotK5QoZoiJZy81L…
//! X-Twilio-Email-Event-Webhook-Timestamp: 1750000000
//!
//! [{"email":"ann@acme.example","timestamp":1749999991,"event":"delivered","sg_event_id":"DFKgW8jC…", …}, …]\r\n
//! ```
//!
//! | | |
//! |---|---|
//! | signed | timestamp, body with its last line end; ECDSA on P-256 with SHA-256, ASN.1 DER in base64 |
//! | key | the verification key of the settings: base64 of a `SubjectPublicKeyInfo` |
//! | window | five minutes on both sides; SendGrid names none, and whether a retry is signed anew is not documented |
//! | id, type | `sg_event_id`, `event` of each item, signed |
//! | account | none |
//! | handlers decode | one item of the list |
//! | redelivers | for 24 hours, ever more slowly |
//!
//! # A body is a batch
//!
//! It is a list of up to [`MAX_EVENTS_PER_DELIVERY`](webhook_core::bounds::MAX_EVENTS_PER_DELIVERY) items (SendGrid names no number: **unverified**). Each is an event with
//! an id of its own, and is claimed by itself: a batch that comes again in another composition runs nothing twice.
//!
//! The list ends in CR LF, and both are signed. What trims a body on its way, or parses and writes it again, breaks the signature.
//!
//! # A signature is no identity
//!
//! ECDSA lets anybody make a second signature of one. Both are authentic, and both are the same events: nothing here goes by
//! the text of a signature.
//!
//! Timestamp and body are joined without a separator. A timestamp is canonical decimal and a body one JSON list, which begins
//! with no digit: no byte can move between them under one signature.
//!
//! Signing is off until it is turned on at SendGrid. Without it requests carry no signature, and are refused.
//!
//! Sources: sendgrid-python 6.12.5 `helpers/eventwebhook` and its test (its published example is a vector),
//! @sendgrid/eventwebhook 8.0.0; twilio.com/docs/sendgrid, *Getting started with the Event Webhook*.

mod envelope;
mod event;

pub use envelope::SendGrid;
