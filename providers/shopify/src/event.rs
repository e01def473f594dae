//! Who a Shopify event is: named by unsigned headers, and now and then owned according to the signed body.

use std::borrow::Cow;

use serde::Deserialize;
use webhook_core::{Account, EventId, EventType, Identity, InvalidEvent, Verified, json_object};

/// Names of the signature, the id and the topic, in each dialect.
const DIALECTS: [[&str; 3]; 2] = [
    [
        "x-shopify-hmac-sha256",
        "x-shopify-webhook-id",
        "x-shopify-topic",
    ],
    ["shopify-hmac-sha256", "shopify-webhook-id", "shopify-topic"],
];

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Owned<'b> {
    #[serde(borrow)]
    shop_domain: Option<Cow<'b, str>>,
    #[serde(borrow)]
    myshopify_domain: Option<Cow<'b, str>>,
}

pub(crate) fn identity(verified: &Verified<'_>) -> Result<Identity, InvalidEvent> {
    let head = verified.unsigned_head();
    // One of the signatures is there, and not both: the envelope was read.
    let mut dialects = DIALECTS.iter();
    let dialect = dialects.find(|[signature, ..]| head.all(signature).next().is_some());
    let [_, id, topic] = dialect.ok_or(InvalidEvent::Id)?;
    let id = head.one(id).map_err(|_| InvalidEvent::Id)?;
    let topic = head.one(topic).map_err(|_| InvalidEvent::Type)?;
    let identity = Identity::new(EventId::new(id)?, EventType::new(topic)?);
    let owned: Owned<'_> = json_object(verified.body())?;
    let shop = owned.shop_domain.or(owned.myshopify_domain);
    Ok(identity.account(shop.map(|shop| Account::new(&shop)).transpose()?))
}
