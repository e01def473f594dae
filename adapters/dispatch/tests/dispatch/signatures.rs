//! What is sent, against libraries that are not ours.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use standardwebhooks::Webhook;
use webhook_core::outbox::{DeliveryState, Filter};
use webhook_dispatch::{EndpointError, NewEndpoint};

use crate::sender::Sender;
use crate::sink::{Reply, Request, Sink};

/// The official library's verdict.
fn verifies(secret: &str, request: &Request) -> bool {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let name = HeaderName::try_from(name).unwrap();
        headers.insert(name, HeaderValue::try_from(value).unwrap());
    }
    let webhook = Webhook::new(secret).unwrap();
    webhook.verify(&request.body, &headers).is_ok()
}

#[tokio::test]
async fn the_official_library_verifies_the_very_bytes() {
    let sink = Sink::start(|_, _| Reply::status(204)).await;
    let sender = Sender::start().await;
    let (_, secret) = sender.endpoint(sink.url("/in?a=1")).await;
    let payload = "{\"z\":\"é\\u00e9\", \"a\" :1.0}\n";
    let id = sender.send("invoice.paid", payload).await;
    let request = sink.wait(1).await.remove(0);
    assert_eq!(request.body, payload.as_bytes());
    assert_eq!(request.path, "/in?a=1");
    assert_eq!(request.headers["webhook-id"], id.as_str());
    assert_eq!(request.headers["content-type"], "application/json");
    assert!(verifies(secret.reveal(), &request));
    let mut changed = request.clone();
    changed.body[0] ^= 1;
    assert!(!verifies(secret.reveal(), &changed));
    let delivered = sender.wait(DeliveryState::Delivered, 1).await;
    assert_eq!(sender.attempts(&delivered[0]).await.len(), 1);
}

#[tokio::test]
async fn every_attempt_has_the_same_id_and_a_signature_of_its_own() {
    let sink = Sink::start(|_, before| Reply {
        status: if before < 2 { 500 } else { 200 },
        // A second, so that timestamps differ.
        after: Duration::from_millis(1050),
        ..Reply::default()
    })
    .await;
    let sender = Sender::start().await;
    let (_, secret) = sender.endpoint(sink.url("/")).await;
    sender.send("a", "{}").await;
    let got = sink.wait(3).await;
    for request in &got {
        assert!(verifies(secret.reveal(), request));
        assert_eq!(request.headers["webhook-id"], got[0].headers["webhook-id"]);
    }
    let timestamps: Vec<_> = got
        .iter()
        .map(|request| &request.headers["webhook-timestamp"])
        .collect();
    assert!(
        timestamps.is_sorted() && timestamps[0] != timestamps[2],
        "{timestamps:?}"
    );
}

#[tokio::test]
async fn old_and_new_secrets_sign_while_they_overlap_and_a_revoked_one_never() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start().await;
    let (id, old) = sender.endpoint(sink.url("/")).await;
    let endpoints = sender.dispatcher.endpoints();
    let sent = async |count: usize| {
        sender.send("a", "{}").await;
        sink.wait(count).await.remove(count - 1)
    };
    let before = sent(1).await;
    assert!(verifies(old.reveal(), &before));
    let new = endpoints.rotate(id, Duration::from_hours(1)).await.unwrap();
    let overlap = sent(2).await;
    assert!(verifies(old.reveal(), &overlap) && verifies(new.reveal(), &overlap));
    endpoints.revoke(id, old.key_id()).await.unwrap();
    let after = sent(3).await;
    assert!(!verifies(old.reveal(), &after) && verifies(new.reveal(), &after));
    let last = endpoints.revoke(id, new.key_id()).await;
    assert!(matches!(last, Err(EndpointError::LastSecret)), "{last:?}");
    // Without an overlap the old one is out at once.
    let newest = endpoints.rotate(id, Duration::ZERO).await.unwrap();
    let cut = sent(4).await;
    assert!(!verifies(new.reveal(), &cut) && verifies(newest.reveal(), &cut));
}

#[tokio::test]
async fn other_schemes_sign_as_their_receivers_expect() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start().await;
    for scheme in ["github", "timestamped"] {
        let new = NewEndpoint::new("acme", sink.url("/"), Filter::new([scheme]).unwrap())
            .scheme(scheme)
            .secret("it is no secret at all");
        sender.register(new).await;
    }
    let id = sender.send("github", "{}").await;
    let request = sink.wait(1).await.remove(0);
    // HMAC-SHA256 of `{}` by openssl: printf '{}' | openssl dgst -sha256 -hmac 'it is no secret at all'
    assert_eq!(request.headers["x-hub-signature-256"], GITHUB);
    assert_eq!(request.headers["x-github-delivery"], id.as_str());
    assert_eq!(request.headers["x-github-event"], "github");
    let id = sender.send("timestamped", "{}").await;
    let request = sink.wait(2).await.remove(1);
    assert_eq!(request.headers["webhook-id"], id.as_str());
    let signature = &request.headers["x-webhook-signature"];
    let (key_id, tag) = signature.split_once('=').unwrap();
    assert!(key_id.starts_with('k') && tag.len() == 64, "{signature}");
    assert!(
        request.headers["x-webhook-timestamp"]
            .parse::<u64>()
            .is_ok()
    );
}

const GITHUB: &str = "sha256=f518b70bd9c5adfa8d69ee4ba31326967d6a5e36502ecc57a3c5d184a2f16909";
