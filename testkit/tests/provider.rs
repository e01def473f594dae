//! The providers' suite, on one of them.

use webhook_paddle::Paddle;

webhook_testkit::provider_conformance! {
    provider: Paddle,
    secret: "pdl_ntfset_only-for-tests-0123456789",
    body: r#"{"event_id":"evt_1","event_type":"product.created"}"#,
    headers: [("Paddle-Signature", "ts=17500000[0-9]{2}(;h[12]=[0-9a-f]{63,65}){1,2}")],
    window: 5,
    lists: true,
}
