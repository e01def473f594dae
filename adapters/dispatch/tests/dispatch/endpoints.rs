//! What may be registered, and what is kept of it.

use std::time::Duration;

use webhook_core::KeyringError;
use webhook_core::outbox::{DeliveryState, EndpointId, Filter, Outbox as _, SecretState};
use webhook_dispatch::guard::Policy;
use webhook_dispatch::{Dispatcher, EndpointError, NewEndpoint, Schedule, Vault, VaultKey};

use crate::sender::{Sender, client, vault};
use crate::sink::{Reply, Sink};

#[tokio::test]
async fn what_could_not_be_sent_to_is_not_registered() {
    let sender = Sender::start().await;
    let endpoints = sender.dispatcher.endpoints();
    let new = |url: &str| NewEndpoint::new("acme", url, Filter::all());
    let ok = "http://127.0.0.1:9/";
    let refused = async |new: NewEndpoint| endpoints.register(new).await.unwrap_err();
    for url in [
        "",
        "ftp://example.com/",
        "http://user@127.0.0.1/",
        "http://127.0.0.1:0/",
    ] {
        let error = refused(new(url)).await;
        assert!(matches!(error, EndpointError::Url(_)), "{url}: {error:?}");
    }
    for url in [
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://[::1]:80/",
    ] {
        let error = refused(new(url)).await;
        assert!(
            matches!(error, EndpointError::Refused(_)),
            "{url}: {error:?}"
        );
    }
    for (name, value) in [
        ("webhook-signature", "v1,forged"),
        ("Webhook-Id", "evt_1"),
        ("svix-signature", "v1,forged"),
        ("x-hub-signature-256", "sha256=00"),
        ("host", "example.com"),
        ("content-length", "0"),
        ("content-type", "text/plain"),
        ("transfer-encoding", "chunked"),
        ("x-a", "1\r\nx-b: 2"),
        ("x a", "1"),
    ] {
        let error = refused(new(ok).header("x-fine", "1").header(name, value)).await;
        assert!(
            matches!(error, EndpointError::Header(2)),
            "{name}: {error:?}"
        );
    }
    let error = refused(new(ok).scheme("none")).await;
    assert!(matches!(error, EndpointError::Scheme), "{error:?}");
    let error = refused(new(ok).secret("whsec_not base64")).await;
    assert!(matches!(error, EndpointError::Keys(_)), "{error:?}");
    let public = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    let error = refused(new(ok).secret(public)).await;
    let why = KeyringError::NoSigner;
    assert!(
        matches!(error, EndpointError::Keys(ref other) if *other == why),
        "{error:?}"
    );
    let error = refused(NewEndpoint::new("", ok, Filter::all())).await;
    assert!(matches!(error, EndpointError::Invalid(_)), "{error:?}");
    let unknown = endpoints.enable(EndpointId::generate()).await.unwrap_err();
    assert!(matches!(unknown, EndpointError::Unknown), "{unknown:?}");
    assert_eq!(
        endpoints.of_tenant("acme", None, 10).await.unwrap().len(),
        0
    );
}

#[tokio::test]
async fn a_secret_is_nowhere_in_the_clear() {
    let sender = Sender::start().await;
    let (id, secret) = sender.endpoint("http://127.0.0.1:9/".to_owned()).await;
    let (endpoint, _) = sender.outbox.endpoint(id).await.unwrap().unwrap();
    let text = secret.reveal();
    assert!(
        text.starts_with("whsec_") && text.len() == 50,
        "{}",
        text.len()
    );
    assert!(!format!("{endpoint:?} {secret:?}").contains(&text[6..]));
    for part in [text.as_bytes(), &text.as_bytes()[6..]] {
        let sealed = &endpoint.secrets[0].sealed;
        assert!(!sealed.windows(part.len()).any(|bytes| bytes == part));
    }
}

#[tokio::test]
async fn paused_endpoints_wait_and_deleted_ones_are_gone() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start().await;
    let (id, _) = sender.endpoint(sink.url("/")).await;
    let endpoints = sender.dispatcher.endpoints();
    endpoints.pause(id).await.unwrap();
    sender.send("a", "{}").await;
    sender.wait(DeliveryState::Pending, 1).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(sink.got().len(), 0);
    endpoints.enable(id).await.unwrap();
    sink.wait(1).await;
    endpoints.delete(id).await.unwrap();
    let gone = endpoints.enable(id).await.unwrap_err();
    assert!(matches!(gone, EndpointError::Unknown), "{gone:?}");
}

#[tokio::test]
async fn a_changed_url_is_that_of_the_next_attempt() {
    let [old, new] = [
        Sink::start(|_, _| Reply::status(500)).await,
        Sink::start(|_, _| Reply::status(200)).await,
    ];
    let sender = Sender::start().await;
    let (id, _) = sender.endpoint(old.url("/")).await;
    sender.send("a", "{}").await;
    old.wait(1).await;
    let endpoints = sender.dispatcher.endpoints();
    endpoints.set_url(id, new.url("/")).await.unwrap();
    new.wait(1).await;
    let refused = endpoints.set_url(id, "http://10.0.0.1/").await.unwrap_err();
    assert!(matches!(refused, EndpointError::Refused(_)), "{refused:?}");
}

#[tokio::test]
async fn secrets_are_sealed_anew_under_a_new_key() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let a_second = || Schedule::new([Duration::from_secs(1); 10]).unwrap();
    let sender = Sender::start_with(|builder| builder.schedule(a_second())).await;
    let (id, secret) = sender.endpoint(sink.url("/")).await;
    let key = |id, byte| VaultKey::from_bytes(id, &[byte; 32]).unwrap();
    let both = Vault::new([key("v2", 8), key("v1", 7)]).unwrap();
    let with = |vault| {
        Dispatcher::builder(sender.outbox.clone(), vault, client())
            .build()
            .unwrap()
    };
    let endpoints = with(both).endpoints();
    assert_eq!(endpoints.rewrap().await.unwrap(), 1);
    assert_eq!(endpoints.rewrap().await.unwrap(), 0);
    let (endpoint, _) = sender.outbox.endpoint(id).await.unwrap().unwrap();
    assert_eq!(endpoint.secrets[0].sealed_by, "v2");
    // The old vault opens it no more: nothing is sent, and nothing is lost.
    sender.send("a", "{}").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(sink.got().len(), 0);
    sender.dispatcher.shutdown().await;
    let new = with(Vault::new([key("v2", 8)]).unwrap());
    new.start().await.unwrap();
    let request = sink.wait(1).await.remove(0);
    assert!(request.headers.contains_key("webhook-signature"));
    assert!(!secret.reveal().is_empty());
    new.shutdown().await;
}

#[tokio::test]
async fn revoked_secrets_do_not_heap_up() {
    let sender = Sender::start().await;
    let (id, first) = sender.endpoint("http://127.0.0.1:9/".to_owned()).await;
    let endpoints = sender.dispatcher.endpoints();
    let mut key = first.key_id().to_owned();
    for _ in 0..12 {
        let next = endpoints.rotate(id, Duration::from_mins(1)).await.unwrap();
        endpoints.revoke(id, &key).await.unwrap();
        key = next.key_id().to_owned();
    }
    endpoints.rotate(id, Duration::from_mins(1)).await.unwrap();
    let (endpoint, _) = endpoints.get(id).await.unwrap();
    let revoked = endpoint.secrets.iter();
    let revoked = revoked.filter(|secret| secret.state == SecretState::Revoked);
    assert_eq!(revoked.count(), 8);
    assert_eq!(endpoint.secrets.len(), 10);
}

#[tokio::test]
async fn a_test_event_goes_to_one_endpoint_whatever_its_filter() {
    let sink = Sink::start(|_, _| Reply::status(200)).await;
    let sender = Sender::start().await;
    let other = Filter::new(["other"]).unwrap();
    let new = NewEndpoint::new("acme", sink.url("/tested"), other);
    let (id, _) = sender.register(new).await;
    sender.endpoint(sink.url("/beside")).await;
    let endpoints = sender.dispatcher.endpoints();
    let event = endpoints.test(id).await.unwrap();
    let [delivered] = sender
        .wait(DeliveryState::Delivered, 1)
        .await
        .try_into()
        .unwrap();
    assert_eq!((&delivered.event, delivered.endpoint), (&event, id));
    assert_eq!(&*delivered.event_type, "webhook.test");
    let [request] = sink.got().try_into().unwrap();
    assert_eq!(
        (
            request.path.as_str(),
            request.headers["webhook-id"].as_str()
        ),
        ("/tested", event.as_str())
    );
    assert!(request.body.starts_with(br#"{"type":"webhook.test","#));
    endpoints.pause(id).await.unwrap();
    let refused = endpoints.test(id).await.unwrap_err();
    assert!(matches!(refused, EndpointError::NotEnabled), "{refused:?}");
    endpoints.delete(id).await.unwrap();
    let refused = endpoints.test(id).await.unwrap_err();
    assert!(matches!(refused, EndpointError::Unknown), "{refused:?}");
}

#[tokio::test]
async fn a_dispatcher_that_cannot_work_is_not_built() {
    let sender = Sender::start().await;
    let builder = || Dispatcher::builder(sender.outbox.clone(), vault(), client());
    assert!(builder().places(0).build().is_err());
    assert!(builder().max_bytes(0).build().is_err());
    assert!(builder().threads(0).build().is_err());
    assert!(builder().poll_every(Duration::ZERO).build().is_err());
    assert!(builder().build().is_ok());
    client().set_policy(Policy::strict());
}
