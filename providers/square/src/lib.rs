//! The Square provider: `x-square-hmacsha256-signature` as data.
//!
//! ```text
//! x-square-hmacsha256-signature: hTPezYTnaCrSdsN1EInETkOA3gLNaI0vIWhOJxW1xyE=
//!
//! {"merchant_id":"MLsDy0gLQh4V9","type":"payment.updated","event_id":"378c1669-…","data":{…}, …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the notification URL as registered, body; HMAC-SHA256 in base64 under the signature key's text |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the key |
//! | id, type, account | `event_id`, `type`, `merchant_id` of the body, all signed; the id is the same on retries |
//! | handlers decode | `data`: `type` and `id` of what changed, and itself in `object` |
//! | redelivers | eleven times within 24 hours, ever more slowly (second-hand); at somebody's request: not documented |
//!
//! # The URL is configured
//!
//! Behind a proxy nobody but its operator knows by which URL it is reached, and a `Host` header says what the sender likes. So
//! the URL is told when the endpoint is made, byte for byte as it is registered at Square:
//!
//! ```
//! use webhook_square::Square;
//!
//! let square = Square::at("https://shop.example/webhooks/square");
//! # let _ = square;
//! ```
//!
//! A request that is signed for another URL of the same subscription does not verify. URL and body are joined without a
//! separator; as the URL is not the sender's to choose, no byte can move between them.
//!
//! Every subscription has its own key, and sandbox and production are subscriptions of their own. Square waits for ten seconds for its
//! answer (second-hand). `square-retry-number`, `square-retry-reason` and `square-environment` are unsigned, and kept.
//!
//! # What it will not do
//!
//! Read the retired SHA-1 signature, or take the URL from the request.
//!
//! Sources: square SDKs 46.0.0 `webhooks_helper`; developer.squareup.com, *Validate and process notifications* (its published
//! example is a vector), *Webhooks overview* (second-hand).

mod envelope;
mod event;

pub use envelope::Square;
