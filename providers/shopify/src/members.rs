//! What a body must have, and must not have, to be of the topic its unsigned header names.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use webhook_core::json_object;

/// The members that tell topics apart. A subscription may leave members out of its bodies, so that only what is
/// there speaks against a topic, but for the compliance topics, whose bodies nobody shapes.
#[derive(Deserialize)]
struct Members<'b> {
    #[serde(borrow)]
    admin_graphql_api_id: Option<Cow<'b, str>>,
    /// There if it was left out: then nothing speaks against it.
    #[serde(default = "unsaid")]
    cancelled_at: Option<IgnoredAny>,
    created_at: Option<IgnoredAny>,
    customer: Option<IgnoredAny>,
    data_request: Option<IgnoredAny>,
    orders_to_redact: Option<IgnoredAny>,
    shop_domain: Option<IgnoredAny>,
}

/// Whether `json` can be of `topic`. Topics without a rule are taken at their word.
pub(crate) fn corroborate(topic: &str, json: &[u8]) -> bool {
    let Ok(body) = json_object::<Members<'_>>(json) else {
        return false;
    };
    let has_its_members = match topic {
        "customers/data_request" => body.data_request.is_some(),
        "customers/redact" => body.orders_to_redact.is_some() && body.data_request.is_none(),
        "orders/cancelled" => body.cancelled_at.is_some(),
        "orders/delete" | "products/delete" => body.created_at.is_none(),
        "shop/redact" => {
            let others = [body.customer, body.data_request, body.orders_to_redact];
            body.shop_domain.is_some() && others.iter().all(Option::is_none)
        }
        _ => true,
    };
    has_its_members && is_of_its_resource(topic, body.admin_graphql_api_id.as_deref())
}

/// Whether the global id is of the resource that `topic` is about, where the table knows both.
fn is_of_its_resource(topic: &str, global_id: Option<&str>) -> bool {
    let named = global_id.and_then(|id| id.strip_prefix("gid://shopify/"));
    let kind = named
        .and_then(|id| id.split_once('/'))
        .map(|(kind, _)| kind);
    let family = topic.split_once('/').map(|(family, _)| family);
    let of_body = RESOURCES.iter().find(|(_, name)| kind == Some(name));
    let of_topic = RESOURCES.iter().find(|(name, _)| family == Some(name));
    match (of_body, of_topic) {
        (Some(body), Some(topic)) => body == topic,
        _ => true,
    }
}

/// First part of a topic, and the type in the global id of its bodies.
const RESOURCES: [(&str, &str); 7] = [
    ("collections", "Collection"),
    ("customers", "Customer"),
    ("draft_orders", "DraftOrder"),
    ("fulfillments", "Fulfillment"),
    ("orders", "Order"),
    ("products", "Product"),
    ("refunds", "Refund"),
];

#[expect(clippy::unnecessary_wraps, reason = "serde asks for the member's type")]
fn unsaid() -> Option<IgnoredAny> {
    Some(IgnoredAny)
}
