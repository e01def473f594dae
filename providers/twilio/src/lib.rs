//! The Twilio provider: `X-Twilio-Signature` over public URL and sorted form as data.
//!
//! ```text
//! POST /twilio/sms?tenant=42
//! X-Twilio-Signature: 30n8onpgLgn/TkT5Vm4/oT7oQ0A=
//!
//! MessageSid=SMf7417a85e29a3d4d7078b920a96baf76&AccountSid=AC…&From=%2B4915112345678&Body=Hello
//! ```
//!
//! | | |
//! |---|---|
//! | signed, forms | the public URL, then each parameter's name and value, decoded and sorted by bytes, equal pairs once, all joined |
//! | signed, other bodies | the public URL, in which `bodySHA256` is the digest of the body as received |
//! | algorithm | HMAC-SHA1 in base64 under the auth token's text; under a named shared key HMAC-SHA256 or HMAC-SHA1, see below |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the key |
//! | id | forms: digest of what is signed; a list of [cloud events](https://cloudevents.io): the `id` of each |
//! | type | forms: see below; cloud events: `type`; all signed |
//! | account | `AccountSid`, signed; none for cloud events |
//! | handlers decode | the form as a JSON object of texts, a repeated name as a list of them; a cloud event whole |
//! | redelivers | differs by product, and by what the URL's fragment asks for: not documented as a whole |
//!
//! # The URL is configured
//!
//! Behind a proxy nobody but its operator knows by which URL it is reached, so its origin is told when the endpoint is made, and what the proxy
//! does to paths (`PublicUrl::rewritten`). Path and query are the request's, byte for byte. Twilio is not of one mind about ports:
//! the URL without a port and with one (443 where none is configured) are both tried, as in the SDKs.
//!
//! ```
//! use webhook_twilio::{PublicUrl, Twilio};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let twilio = Twilio::at(PublicUrl::new("https://shop.example")?); // messages and calls: forms
//! let streams = twilio.clone().json(); // Event Streams
//! # let _ = streams;
//! # Ok(())
//! # }
//! ```
//!
//! # What joining without separators does
//!
//! `Body=x&BodyTo=y` and `Body=xBodyToy` have one signature, and so has a URL with the first parameter appended. Whoever captured a request can
//! move such borders, and nobody can tell. So the id is the digest of the joined text, which stays the same: a request whose
//! borders were moved is a duplicate. But where the captured one never arrived, a field may hold the next one's name and value: do not build
//! rights on where a field ends.
//!
//! For the same reason an endpoint takes forms or other bodies, and is told which: what was signed as a form could be read as a
//! URL with a digest in it.
//!
//! The other side of it: requests that are alike in every parameter are one event. A caller who presses the same key twice at one
//! prompt is such a case: an inline handler's answer is then given again, from the ledger.
//!
//! # Types
//!
//! Twilio names none for its forms. In this order: the value of `EventType` (Conversations); `recording` where there is a
//! `RecordingSid`; `message_status` where there is a `MessageStatus`; `message` where there is a `MessageSid` or `SmsSid`; `call_status` where there is a
//! `CallSid` and a `CallbackSource`; `call` where there is a `CallSid`; else `form`. JSON that is no list of cloud events is of type `json`,
//! named by its digest.
//!
//! # Keys
//!
//! The auth token is a key without an id. A shared key (public beta) is one whose id is the name that `X-Twilio-Webhooks-Signature-Settings`
//! bears; that header is unsigned, and chooses among what is configured: an unknown name is refused, whatever the SDKs do. Twilio signs
//! with the *primary* token alone.
//!
//! # What it will not do
//!
//! Take GET requests: configure POST. Try the URL in other spellings, as twilio-node does. Take other bodies without `bodySHA256`: they
//! would be unsigned. `I-Twilio-Idempotency-Token` is unsigned, and kept.
//!
//! Sources: twilio-python 9.13.0 `request_validator.py`, twilio-node 6.3.1 `webhooks.js`; twilio.com, *Webhooks security*, *Webhook shared
//! keys*, error 57012. That Event Streams signs its lists so is **unverified**.

mod content;
mod envelope;
mod event;
mod settings;

pub use envelope::Twilio;
pub use webhook_core::PublicUrl;
