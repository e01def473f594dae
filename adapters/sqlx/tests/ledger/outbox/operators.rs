//! What operators ask of it, and what it forgets.

use std::sync::Arc;
use std::time::Duration;

use webhook_core::outbox::{
    AttemptClass, DeliveryState, Endpoint, EndpointId, EndpointState, Filter, Limits, Next, Outbox,
    Put, Resend, Retention, SealedSecret, Search, SecretState,
};

use super::{WithOutbox, change, ended, endpoint, event, put, record, send, take};

cases! {
    an_endpoint_is_read_as_it_was_put
    an_endpoint_is_compared_and_set
    a_deleted_endpoint_is_gone_with_its_secrets
    endpoints_come_in_pages_by_tenant
    deliveries_are_found_by_what_is_known
    what_is_dead_is_sent_again
    what_is_delivered_is_sent_again_when_it_is_named
    what_is_sent_as_new_is_another_event_for_that_endpoint_alone
    what_waits_too_long_is_given_up
    what_waits_for_a_deleted_endpoint_is_dead
    a_deleted_endpoint_goes_after_its_deliveries
    old_events_go_whole_and_not_before_they_are_settled
    what_is_sent_again_is_kept_until_it_is_settled_again
    old_attempts_go_by_themselves
    a_schema_from_the_future_is_refused
}

async fn an_endpoint_is_read_as_it_was_put<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let filter = Filter::new(["a.*", "b"]).unwrap();
    let mut new = Endpoint::new("acmé 本", "https://example.com/?q=é", filter, "github").unwrap();
    new.headers = vec![("x-a".to_owned(), "1 \"é\"".to_owned())];
    new.limits = Limits::new(9, Some(3)).unwrap();
    new.is_ordered = true;
    new.secrets = vec![
        SealedSecret::new("k3", "w2", [0, 255]),
        SealedSecret::new("k2", "w1", [1]).in_state(SecretState::RetiresAt(17)),
        SealedSecret::new("k1", "w1", []).in_state(SecretState::Revoked),
    ];
    new.state = EndpointState::Disabled("so \"it\" was".to_owned());
    assert_eq!(outbox.put(new.clone()).await.unwrap(), Put::Stored(1));
    let (read, health) = outbox.endpoint(new.id).await.unwrap().unwrap();
    new.version = 1;
    assert_eq!(format!("{read:?}"), format!("{new:?}"));
    assert_eq!((&read.url, &read.headers), (&new.url, &new.headers));
    assert_eq!(read.secrets, new.secrets);
    assert_eq!(health, webhook_core::outbox::Health::default());
    assert!(
        outbox
            .endpoint(EndpointId::generate())
            .await
            .unwrap()
            .is_none()
    );
}

async fn an_endpoint_is_compared_and_set<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let id = endpoint(&outbox).await;
    let (stale, _) = outbox.endpoint(id).await.unwrap().unwrap();
    assert_eq!(change(&outbox, id, |_| ()).await, Put::Stored(2));
    assert_eq!(outbox.put(stale).await.unwrap(), Put::Stale);
    // A new one does not take the place of an old one.
    let (mut twin, _) = outbox.endpoint(id).await.unwrap().unwrap();
    twin.version = 0;
    assert_eq!(outbox.put(twin).await.unwrap(), Put::Stale);
    let mut crowd = Vec::new();
    for _ in 0..8 {
        let outbox = outbox.clone();
        crowd.push(tokio::spawn(
            async move { change(&outbox, id, |_| ()).await },
        ));
    }
    let mut stored = 0;
    for one in crowd {
        stored += i64::from(matches!(one.await.unwrap(), Put::Stored(_)));
    }
    let (last, _) = outbox.endpoint(id).await.unwrap().unwrap();
    assert_eq!(last.version, 2 + stored);
}

async fn a_deleted_endpoint_is_gone_with_its_secrets<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let id = put(&outbox, Filter::all(), |new| {
        new.secrets = vec![SealedSecret::new("k", "w", [7])];
    })
    .await;
    change(&outbox, id, |endpoint| {
        endpoint.state = EndpointState::Deleted;
    })
    .await;
    let (deleted, _) = outbox.endpoint(id).await.unwrap().unwrap();
    assert_eq!(deleted.secrets, []);
    let back = change(&outbox, id, |endpoint| {
        endpoint.state = EndpointState::Enabled;
    })
    .await;
    assert_eq!(back, Put::Stale);
}

async fn endpoints_come_in_pages_by_tenant<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    for _ in 0..5 {
        endpoint(&outbox).await;
        put(&outbox, Filter::all(), |new| new.tenant = "zeta".into()).await;
    }
    for (tenant, count) in [(None, 10), (Some("zeta"), 5), (Some("nobody"), 0)] {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let page = outbox.endpoints(tenant, after, 2).await.unwrap();
            let Some((last, _)) = page.last() else { break };
            after = Some(last.id);
            seen.extend(page.into_iter().map(|(endpoint, _)| endpoint));
        }
        assert_eq!(seen.len(), count, "{tenant:?}");
        assert!(seen.is_sorted_by_key(|endpoint| endpoint.id));
        let is_theirs = |endpoint: &Endpoint| tenant.is_none_or(|name| &*endpoint.tenant == name);
        assert!(seen.iter().all(is_theirs));
    }
}

async fn deliveries_are_found_by_what_is_known<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let (one, two) = (endpoint(&outbox).await, endpoint(&outbox).await);
    let ids = send(&*store, &outbox, &["a", "b"]).await;
    let delivery = take(&outbox, one, 1).await.remove(0);
    record(
        &outbox,
        ended(&delivery, AttemptClass::Delivered, Next::Delivered),
    )
    .await;
    let all = || Search::newest(10);
    let found = async |what: Search| outbox.find(what).await.unwrap();
    assert_eq!(found(all()).await.len(), 4);
    let to = all().endpoint(two);
    assert_eq!(found(to).await.len(), 2);
    let of = all().event(ids[1].clone());
    assert_eq!(found(of).await.len(), 2);
    let theirs = all().tenant("zeta");
    assert_eq!(found(theirs).await.len(), 0);
    let delivered = all().state(DeliveryState::Delivered);
    let delivered = found(delivered).await;
    assert_eq!(
        (delivered.len(), delivered[0].id),
        (1, delivery.share.delivery)
    );
    assert_eq!(
        (delivered[0].attempts, delivered[0].last_status),
        (1, Some(204))
    );
    // Newest first, in pages.
    let first = found(Search::newest(3)).await;
    assert!(first.is_sorted_by(|a, b| a.id > b.id));
    let rest = all().before(first.last().unwrap().id);
    assert_eq!(found(rest).await.len(), 1);
}

async fn what_is_dead_is_sent_again<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a", "b"]).await;
    store.shift_outbox(60 * 60 * 1000).await;
    let ids = send(&*store, &outbox, &["c"]).await;
    for delivery in take(&outbox, to, 10).await {
        record(&outbox, ended(&delivery, AttemptClass::Answer, Next::Dead)).await;
    }
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    let lately = Resend::DeadOf {
        endpoint: to,
        since: Duration::from_mins(1),
    };
    assert_eq!(outbox.resend(lately.clone()).await.unwrap(), 1);
    assert_eq!(outbox.resend(lately).await.unwrap(), 0);
    let again = take(&outbox, to, 10).await;
    assert_eq!(
        (again.len(), &again[0].event, again[0].attempt),
        (1, &ids[0], 1)
    );
    let all = Resend::DeadOf {
        endpoint: to,
        since: Duration::from_hours(2),
    };
    assert_eq!(outbox.resend(all).await.unwrap(), 2);
}

async fn what_is_delivered_is_sent_again_when_it_is_named<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"; 4]).await;
    let taken = take(&outbox, to, 4).await;
    for delivery in &taken[..3] {
        record(
            &outbox,
            ended(delivery, AttemptClass::Delivered, Next::Delivered),
        )
        .await;
    }
    let id = |place: usize| taken[place].share.delivery;
    assert_eq!(outbox.resend(Resend::One(id(0))).await.unwrap(), 1);
    // It waits already.
    assert_eq!(outbox.resend(Resend::One(id(0))).await.unwrap(), 0);
    // The last one is under way.
    let range = Resend::Range {
        endpoint: to,
        first: id(1),
        last: id(3),
    };
    assert_eq!(outbox.resend(range).await.unwrap(), 2);
    assert_eq!(take(&outbox, to, 10).await.len(), 3);
}

async fn what_is_sent_as_new_is_another_event_for_that_endpoint_alone<S: WithOutbox>(
    store: Arc<S>,
) {
    let outbox = store.open_outbox().await;
    let (to, other) = (endpoint(&outbox).await, endpoint(&outbox).await);
    let keyed = event("a").idempotency_key("1").unwrap();
    store.enqueue(&outbox, keyed, true).await.unwrap();
    outbox.expand(10).await.unwrap();
    let first = take(&outbox, to, 1).await.remove(0);
    let id = first.share.delivery;
    // It is under way.
    assert_eq!(outbox.resend_as_new(id).await.unwrap(), None);
    let done = ended(&first, AttemptClass::Delivered, Next::Delivered);
    assert!(record(&outbox, done).await);
    let new = outbox.resend_as_new(id).await.unwrap().unwrap();
    assert_ne!(new, first.event);
    assert_eq!(outbox.expand(10).await.unwrap().events, 0);
    let again = take(&outbox, to, 10).await;
    assert_eq!(again.len(), 1);
    assert_eq!((&again[0].event, again[0].attempt), (&new, 1));
    assert_eq!(again[0].payload, first.payload);
    assert_eq!(&*again[0].event_type, "a");
    assert_eq!(take(&outbox, other, 10).await.len(), 1);
    change(&outbox, to, |endpoint| {
        endpoint.state = EndpointState::Deleted;
    })
    .await;
    assert_eq!(outbox.resend_as_new(id).await.unwrap(), None);
}

fn retention() -> Retention {
    let mut retention = Retention::default();
    retention.give_up_after = Duration::from_secs(100);
    retention.keep_events = Duration::from_secs(200);
    retention.keep_attempts = Duration::from_secs(50);
    retention.batch = 100;
    retention
}

async fn what_waits_too_long_is_given_up<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    store.shift_outbox(99_000).await;
    assert!(outbox.prune(retention()).await.unwrap().is_nothing());
    store.shift_outbox(2_000).await;
    assert_eq!(outbox.prune(retention()).await.unwrap().given_up, 1);
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    // Sent again, it waits anew.
    let all = Resend::DeadOf {
        endpoint: to,
        since: Duration::from_hours(2),
    };
    assert_eq!(outbox.resend(all).await.unwrap(), 1);
    assert!(outbox.prune(retention()).await.unwrap().is_nothing());
}

async fn what_waits_for_a_deleted_endpoint_is_dead<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let (to, other) = (endpoint(&outbox).await, endpoint(&outbox).await);
    send(&*store, &outbox, &["a", "b"]).await;
    change(&outbox, to, |endpoint| {
        endpoint.state = EndpointState::Deleted;
    })
    .await;
    assert_eq!(outbox.prune(retention()).await.unwrap().given_up, 2);
    assert!(outbox.prune(retention()).await.unwrap().is_nothing());
    assert_eq!(take(&outbox, other, 10).await.len(), 2);
    let all = Resend::DeadOf {
        endpoint: to,
        since: Duration::from_hours(2),
    };
    assert_eq!(outbox.resend(all).await.unwrap(), 0);
}

/// Nobody looks at it for ever after.
async fn a_deleted_endpoint_goes_after_its_deliveries<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let (to, other) = (endpoint(&outbox).await, endpoint(&outbox).await);
    send(&*store, &outbox, &["a"]).await;
    for delivery in take(&outbox, other, 1).await {
        record(
            &outbox,
            ended(&delivery, AttemptClass::Delivered, Next::Delivered),
        )
        .await;
    }
    change(&outbox, to, |endpoint| {
        endpoint.state = EndpointState::Deleted;
    })
    .await;
    let pruned = outbox.prune(retention()).await.unwrap();
    assert_eq!((pruned.given_up, pruned.endpoints), (1, 0));
    store.shift_outbox(201_000).await;
    let pruned = outbox.prune(retention()).await.unwrap();
    assert_eq!((pruned.events, pruned.endpoints), (1, 1));
    assert!(outbox.endpoint(to).await.unwrap().is_none());
    assert!(outbox.endpoint(other).await.unwrap().is_some());
}

async fn old_events_go_whole_and_not_before_they_are_settled<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    let keyed = || event("a").idempotency_key("1").unwrap();
    store.enqueue(&outbox, keyed(), true).await.unwrap();
    send(&*store, &outbox, &["b"]).await;
    let taken = take(&outbox, to, 2).await;
    let mut keep = retention();
    keep.give_up_after = Duration::from_secs(9999);
    record(
        &outbox,
        ended(&taken[0], AttemptClass::Delivered, Next::Delivered),
    )
    .await;
    record(&outbox, ended(&taken[1], AttemptClass::Answer, RETRY_LATE)).await;
    store.shift_outbox(201_000).await;
    let pruned = outbox.prune(keep).await.unwrap();
    assert_eq!((pruned.events, pruned.attempts), (1, 2));
    // Its key is free again.
    assert!(
        !store
            .enqueue(&outbox, keyed(), true)
            .await
            .unwrap()
            .is_repeat()
    );
    let left = outbox.find(Search::newest(10)).await.unwrap();
    assert_eq!((left.len(), left[0].state), (1, DeliveryState::Pending));
}

async fn what_is_sent_again_is_kept_until_it_is_settled_again<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let settle = async || {
        let delivery = take(&outbox, to, 1).await.remove(0);
        let done = ended(&delivery, AttemptClass::Delivered, Next::Delivered);
        assert!(record(&outbox, done).await);
        delivery.share.delivery
    };
    let pruned = async || outbox.prune(retention()).await.unwrap().events;
    let delivery = settle().await;
    store.shift_outbox(201_000).await;
    assert_eq!(outbox.resend(Resend::One(delivery)).await.unwrap(), 1);
    assert_eq!(pruned().await, 0);
    settle().await;
    store.shift_outbox(199_000).await;
    assert_eq!(pruned().await, 0);
    store.shift_outbox(2_000).await;
    assert_eq!(pruned().await, 1);
}

async fn old_attempts_go_by_themselves<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    record(
        &outbox,
        ended(&delivery, AttemptClass::Delivered, Next::Delivered),
    )
    .await;
    store.shift_outbox(51_000).await;
    let pruned = outbox.prune(retention()).await.unwrap();
    assert_eq!((pruned.events, pruned.attempts), (0, 1));
    assert_eq!(
        outbox
            .attempts(delivery.share.delivery)
            .await
            .unwrap()
            .len(),
        0
    );
}

async fn a_schema_from_the_future_is_refused<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let later = "insert into webhook.outbox_version (version, min_reader) values (99, 99)";
    store.execute(later).await;
    let refused = outbox.prepare().await.unwrap_err();
    assert!(
        refused.to_string().contains("deploy a newer one"),
        "{refused}"
    );
    // Newer, and readable all the same.
    store
        .execute("update webhook.outbox_version set min_reader = 1")
        .await;
    outbox.prepare().await.unwrap();
}

const RETRY_LATE: Next = Next::Retry(Duration::from_mins(15));
