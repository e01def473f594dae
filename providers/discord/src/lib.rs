//! The Discord provider: interactions and webhook events as data.
//!
//! ```text
//! X-Signature-Ed25519: 1faef0fbf05d19778a1209352c8d3ae82b4bdf0990d80b14466770c6dcb250322f…
//! X-Signature-Timestamp: 1750000000
//!
//! {"id":"115283174690854267","application_id":"225230009804636925","type":2,"data":{…},"token":"…", …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | timestamp, body; Ed25519 in lower-case hex |
//! | key | the application's public key, 64 hex digits from the developer portal |
//! | window | five minutes on both sides; Discord names none, and whether a retry is signed anew is not documented |
//! | id | interactions: `id` of the body, signed. Events have none: the digest of the body's canonical form |
//! | type | interactions: `type` in digits, `2` for a command. Events: `event.type`. Signed |
//! | account | `application_id`, signed |
//! | handlers decode | interactions: the whole body. Events: `event.data` |
//! | redelivers | interactions: not documented. Events: for ten minutes |
//! | success | interactions: 200 with the reply. Events: 204 |
//!
//! # Two products, two URLs
//!
//! ```
//! use webhook_discord::Discord;
//!
//! let interactions = Discord::interactions();
//! let events = Discord::events();
//! # let _ = (interactions, events);
//! ```
//!
//! An application's interactions and its webhook events are signed with one key. Each constructor takes what belongs to its URL
//! and refuses the other's bodies, so that neither can be presented as the other. An application that takes both gives one of its
//! endpoints another name, and says `shared_secret()` on both.
//!
//! Both send a PING when a URL is saved. One of interactions is answered with `{"type":1}`, one of events with 204. Discord
//! also sends wrong signatures on purpose, then and later, and takes down a URL that does not answer 401.
//!
//! # Interactions are answered inline
//!
//! The first response is the answer, and it is due within three seconds: write an `inline` handler that returns a `Reply` in JSON. What
//! takes longer answers `{"type":5}` at once and goes on with the interaction's token, which lives for fifteen minutes.
//!
//! # Signatures
//!
//! Timestamp and body are joined without a separator. A timestamp is canonical decimal and a body one JSON object, which begins
//! with no digit: no byte can move between them under one signature.
//!
//! Ed25519 is checked strictly: `S` is below the group's order (RFC 8032, section 5.1.7), and neither the key nor `R` is of small
//! order; such a key is refused when the keyring is built.
//!
//! # What it will not do
//!
//! Take upper-case hex, which Discord's libraries do and Discord does not send. Know of a rotation: Discord documents none of its
//! public keys (**unverified**).
//!
//! Sources: discord/discord-api-docs, *Interactions: Overview*, *Receiving and responding*, *Webhook events*;
//! discord-interactions-python 0.4.0, discord-interactions-js 4.4.0.

mod envelope;
mod event;

pub use envelope::Discord;
