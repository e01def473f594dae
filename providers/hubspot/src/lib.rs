//! The HubSpot provider: `X-HubSpot-Signature-v3` over method, public URL and body as data.
//!
//! ```text
//! X-HubSpot-Signature-v3: +Nnk24DeVj0WXoT9doLz4P31YEZrmGOzAc9S+diw4ec=
//! X-HubSpot-Request-Timestamp: 1750000000000
//!
//! [{"eventId":791282014,"subscriptionId":12345,"portalId":62515,"subscriptionType":"contact.creation", …}]
//! ```
//!
//! | | |
//! |---|---|
//! | signed | method, URL, body, timestamp in milliseconds, joined; HMAC-SHA256 in base64 under the app's client secret, as text |
//! | window | five minutes on both sides; the SDKs look at the past alone |
//! | events | each item of the list is one; HubSpot sends up to 100 |
//! | id | digest of the item without its `attemptNumber`: `eventId` is not promised to be unique |
//! | type, account | `subscriptionType`, `portalId` of the item, both signed |
//! | handlers decode | the item |
//! | redelivers | up to ten times within 24 hours after 4xx, 5xx or five seconds; at somebody's request: not documented |
//!
//! # The URL is configured
//!
//! Behind a proxy nobody but its operator knows by which URL it is reached, so its origin is told when the endpoint is made, and
//! what the proxy does to paths (`PublicUrl::rewritten`). Path and query are the request's. HubSpot signs the URL with exactly
//! `%3A %2F %3F %40 %21 %24 %27 %28 %29 %2A %2C %3B` decoded, and so does this crate; the SDKs leave that to their callers.
//!
//! ```
//! use webhook_hubspot::{HubSpot, PublicUrl};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hubspot = HubSpot::at(PublicUrl::new("https://shop.example")?);
//! # let _ = hubspot;
//! # Ok(())
//! # }
//! ```
//!
//! The parts are joined without separators. No byte can move between them: a URL holds neither bracket, brace nor quote, a list
//! begins and ends with a bracket, and what is left of a list is none.
//!
//! Whether a retry is signed anew is not documented; one that repeats its timestamp comes too late for a window of five minutes.
//!
//! # What it will not do
//!
//! Accept signatures of version 1 and 2: SHA-256 of secret and content, without HMAC, which anybody can extend. Take
//! GET requests: HubSpot's webhooks come by POST.
//!
//! Sources: developers.hubspot.com, *Validating requests*, *Webhooks*; hubspot-api-client 12.0.0 and @hubspot/api-client 13.5.0,
//! `utils/signature`.

mod envelope;
mod event;
mod uri;

pub use envelope::HubSpot;
pub use webhook_core::PublicUrl;
