//! The Shopify provider: `X-Shopify-Hmac-Sha256` as data.
//!
//! ```text
//! X-Shopify-Topic: orders/create
//! X-Shopify-Shop-Domain: acme-dev.myshopify.com
//! X-Shopify-Webhook-Id: 8bddfb13-c5c0-4fa3-a82c-4d42fca91338
//! X-Shopify-Hmac-Sha256: RqzmCE02tqk7nBMZjM75NXps9oy57pqTZLlnwjbbBxA=
//!
//! {"id":820982911946154508,"admin_graphql_api_id":"gid://shopify/Order/820982911946154508", …}
//! ```
//!
//! | | |
//! |---|---|
//! | signed | the body and nothing else; HMAC-SHA256 in base64 under the client secret's text |
//! | window | none: no timestamp is signed, and a captured request is good for as long as the secret |
//! | id, type | `X-Shopify-Webhook-Id`, the same on retries, and `X-Shopify-Topic`, **both unsigned** |
//! | account | where the signed body names the shop: `shop_domain` of the compliance topics, `myshopify_domain` of a shop; else none |
//! | handlers decode | the whole body |
//! | redelivers | eight times within four hours, the same bytes; at somebody's request: not documented |
//!
//! - The names without `X-`, of the Events product, are read alike. Signatures under both names in one request are refused, and id
//!   and topic are taken from the names that go with the signature.
//! - Shopify signs with the oldest secret that was not revoked: keep both secrets until well after the old one is (a
//!   switch may take an hour).
//! - It waits for five seconds for its answer. After eight failures in a row a subscription made through the Admin API is
//!   deleted (second-hand).
//!
//! # Unsigned shops, ids and topics
//!
//! Whoever captures a request can send it again under a fresh id, another topic or another shop. So the digest of the
//! signed content is claimed beside the id, and handlers get `Unsigned<EventId>`. **The shop of most events is not signed**, and all
//! shops of an app share one secret: `X-Shopify-Shop-Domain` is stored with the event as an unsigned header and is never its
//! account. Before something depends on the shop, look the resource up in that shop through the API.
//!
//! One change is reported under several topics with equal bodies (`orders/create`, `orders/paid`), so that a topic is
//! part of the digest's claim. A body must corroborate its topic: as long as it has members that say so,
//!
//! - `admin_graphql_api_id` is of the resource that the topic is about,
//! - what is reported as deleted has no `created_at`: that topic's bodies are an id and little else,
//! - an order under `orders/cancelled` has a `cancelled_at`,
//! - `shop/redact` names a shop and no customer, and `customers/redact` and `customers/data_request` have their own members.
//!
//! Topics of one resource are otherwise not told apart (`orders/create`, `orders/updated`, `orders/paid`): subscribe to
//! those you handle, and read the state from the body.
//!
//! # What it will not do
//!
//! Take the test notifications of a shop's admin page: they are signed with another key.
//!
//! Sources: Shopify/shopify-app-js, shopify-api 13.1.0 `lib/webhooks`; shopify.dev, *Verify deliveries* of webhooks and of
//! events, *Privacy law compliance*; the retries second-hand.

mod envelope;
mod event;
mod members;

pub use envelope::Shopify;
