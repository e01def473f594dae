//! The Calendly provider: `Calendly-Webhook-Signature` as data.
//!
//! ```text
//! Calendly-Webhook-Signature: t=1750000000,v1=be1e74b4a59c02042c532331c9f24ff0f8a1329862ab7ec75a86e33fa1d56f36
//!
//! {"event":"invitee.created","created_at":"…","created_by":"…","payload":{"uri":"https://api.calendly.com/…", …}}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | `t`, `.`, body; HMAC-SHA256 in lower-case hex under the signing key's text |
//! | window | three minutes on both sides, as Calendly's sample has it |
//! | id | none is sent: derived, see below |
//! | type | `event` of the body, signed |
//! | account | none |
//! | handlers decode | `payload` |
//! | redelivers | for 24 hours, ever more slowly, then the subscription is turned off; at somebody's request: not documented |
//!
//! # Derived ids
//!
//! Calendly names the resource and not the event. An event's id is its type and `payload.uri`, parted by a space.
//! Invitees are created once and cancelled once, a routing form is submitted once: for these three that is all. Other
//! types (`invitee_no_show.created`, …) can happen to one resource more than once, so that `payload.updated_at`
//! follows, after one more space; without it such an event is refused.
//!
//! So two subscriptions, of a user and of the organisation, that lead to one endpoint are one event.
//! Whether `created_at` is the moment of the event or of the attempt is **unverified**: it names nothing, and is
//! left out when contents are compared. Whether a retry is signed anew is **unverified**, too.
//!
//! # What it will not do
//!
//! Take an event whose payload has no `uri`: it could not tell its retry from another event.
//!
//! Sources, all second-hand: developer.calendly.com, *Webhook signatures*, *Receive data from scheduled events in real
//! time with webhook subscriptions*, *Webhook payload*; community.calendly.com, *How does a webhook become disabled?*.

mod envelope;
mod event;

pub use envelope::Calendly;
