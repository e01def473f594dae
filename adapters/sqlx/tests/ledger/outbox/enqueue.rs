//! One row in the application's own transaction.

use std::sync::Arc;

use webhook_core::outbox::{EnqueueError, Enqueued, Event, Outbox as _, Search};

use super::{WithOutbox, endpoint, event};

cases! {
    what_is_committed_is_sent_and_what_is_rolled_back_is_not
    an_idempotency_key_makes_a_repeat_one_event
    a_key_used_for_another_event_is_a_conflict
    keys_are_their_tenants
    a_crowd_under_one_key_is_one_event
    a_key_rolled_back_is_free
    an_id_is_used_once
    a_payload_is_kept_byte_for_byte
}

async fn what_is_committed_is_sent_and_what_is_rolled_back_is_not<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    endpoint(&outbox).await;
    let kept = store.enqueue(&outbox, event("a"), true).await.unwrap();
    store.enqueue(&outbox, event("a"), false).await.unwrap();
    assert_eq!(outbox.expand(10).await.unwrap().events, 1);
    let found = outbox.find(Search::newest(10)).await.unwrap();
    let ids: Vec<_> = found.iter().map(|delivery| &delivery.event).collect();
    assert_eq!(ids, [kept.id()]);
    assert_eq!(store.effects().await, 1);
}

async fn an_idempotency_key_makes_a_repeat_one_event<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let event = || event("a").idempotency_key("order 1").unwrap();
    let first = store.enqueue(&outbox, event(), true).await.unwrap();
    assert!(!first.is_repeat());
    let again = store.enqueue(&outbox, event(), true).await.unwrap();
    assert_eq!(again, Enqueued::Before(first.id().clone()));
    assert_eq!(outbox.expand(10).await.unwrap().events, 1);
    // Also after it was fanned out.
    let again = store.enqueue(&outbox, event(), true).await.unwrap();
    assert!(again.is_repeat());
    assert_eq!(outbox.expand(10).await.unwrap().events, 0);
}

async fn a_key_used_for_another_event_is_a_conflict<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let keyed = |event: Event| event.idempotency_key("order 1").unwrap();
    let first = keyed(event("a"));
    store.enqueue(&outbox, first, true).await.unwrap();
    let payload = Event::new("acme", "a", r#"{"n":2}"#).unwrap();
    for other in [keyed(event("b")), keyed(payload)] {
        let refused = store.enqueue(&outbox, other, true).await;
        assert!(
            matches!(refused, Err(EnqueueError::Conflict)),
            "{refused:?}"
        );
    }
    // A conflict is no error of the store's: what else the transaction did stands.
    assert_eq!(store.effects().await, 3);
}

async fn keys_are_their_tenants<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    for tenant in ["acme", "zeta"] {
        let event = Event::new(tenant, "a", "{}").unwrap();
        let event = event.idempotency_key("order 1").unwrap();
        let enqueued = store.enqueue(&outbox, event, true).await.unwrap();
        assert!(!enqueued.is_repeat(), "{tenant}");
    }
}

async fn a_crowd_under_one_key_is_one_event<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let crowd: Vec<_> = (0..12)
        .map(|_| {
            let (store, outbox) = (store.clone(), outbox.clone());
            tokio::spawn(async move {
                let event = event("a").idempotency_key("order 1").unwrap();
                store.enqueue(&outbox, event, true).await.unwrap()
            })
        })
        .collect();
    let mut new = 0;
    for one in crowd {
        new += usize::from(!one.await.unwrap().is_repeat());
    }
    assert_eq!(new, 1);
    assert_eq!(outbox.expand(100).await.unwrap().events, 1);
}

async fn a_key_rolled_back_is_free<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let event = || event("a").idempotency_key("order 1").unwrap();
    store.enqueue(&outbox, event(), false).await.unwrap();
    let enqueued = store.enqueue(&outbox, event(), true).await.unwrap();
    assert!(!enqueued.is_repeat());
}

async fn an_id_is_used_once<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let first = event("a");
    let twin = event("b").with_id(first.id().clone());
    store.enqueue(&outbox, first, true).await.unwrap();
    let refused = store.enqueue(&outbox, twin, false).await;
    assert!(
        matches!(refused, Err(EnqueueError::Store(_))),
        "{refused:?}"
    );
}

async fn a_payload_is_kept_byte_for_byte<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    let payload: Vec<u8> = (0..=255).collect();
    let event = Event::new("acme", "a", payload.clone()).unwrap();
    store.enqueue(&outbox, event, true).await.unwrap();
    outbox.expand(1).await.unwrap();
    let taken = super::take(&outbox, to, 1).await;
    assert_eq!(&taken[0].payload[..], payload);
}
