//! `curl` lines to paste, signed with the made-up secrets.

use std::net::SocketAddr;

use serde_json::{Value, json};
use webhook_actix::{
    Clock as _, KeyConfig, Keyring, KeyringError, Provider as _, Signing, SystemClock,
};
use webhook_stripe::Stripe;

use crate::shops::SHOPS;

pub(crate) fn print(address: &SocketAddr) -> Result<(), KeyringError> {
    let now = SystemClock::default().unix_secs();
    println!("\nTry it (signatures are fresh for five minutes):");
    for (shop, secret) in SHOPS {
        for event in [subscription(shop, now), invoice(shop, now)] {
            println!("\n{}", curl(address, shop, secret, &event, now)?);
        }
        println!("\nThen look at http://{address}/shops/{shop}");
    }
    Ok(())
}

fn curl(
    address: &SocketAddr,
    shop: &str,
    secret: &str,
    event: &Value,
    now: i64,
) -> Result<String, KeyringError> {
    let stripe = Stripe::test();
    let keys = Keyring::build(stripe.spec().secret(), [KeyConfig::new(secret)])?;
    let body = event.to_string();
    let mut line = format!(
        "curl -i http://{address}/webhooks/stripe/{shop} -H 'Content-Type: application/json'"
    );
    for (name, value) in stripe.sign(&Signing::new(&keys, body.as_bytes(), now)) {
        line = format!("{line} -H '{name}: {value}'");
    }
    Ok(format!("{line} --data-binary '{body}'"))
}

fn event(id: &str, event_type: &str, created: i64, object: &Value) -> Value {
    json!({
        "id": id, "object": "event", "type": event_type, "livemode": false, "created": created,
        "api_version": "2025-05-28.basil", "data": { "object": object },
    })
}

fn subscription(shop: &str, now: i64) -> Value {
    let object = json!({
        "id": format!("sub_{shop}"), "object": "subscription", "livemode": false, "created": now,
        "status": "active", "customer": "cus_1", "currency": "eur",
        "items": { "object": "list", "data": [{ "id": "si_1", "quantity": 1 }], "has_more": false },
    });
    let id = format!("evt_{shop}_subscription_{now}");
    event(&id, "customer.subscription.updated", now, &object)
}

fn invoice(shop: &str, now: i64) -> Value {
    let object = json!({
        "id": format!("in_{shop}_{now}"), "object": "invoice", "livemode": false, "created": now,
        "status": "paid", "currency": "eur", "customer": "cus_1",
        "amount_due": 2500, "amount_paid": 2500, "amount_remaining": 0, "subtotal": 2500, "total": 2500,
    });
    event(
        &format!("evt_{shop}_invoice_{now}"),
        "invoice.paid",
        now,
        &object,
    )
}
