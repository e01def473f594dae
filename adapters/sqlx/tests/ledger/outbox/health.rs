//! What attempts make of an endpoint.

use std::sync::Arc;

use webhook_core::outbox::{
    AttemptClass, AttemptRecord, Change, Delivery, EndpointId, EndpointState, Filter, HealthPolicy,
    Next, Outbox, Repute, Search,
};

use super::{RETRY, WithOutbox, change, ended, endpoint, put, send, take};

cases! {
    failures_open_the_breaker_and_a_success_closes_it
    an_endpoint_that_is_gone_is_disabled_and_its_owner_told
    an_endpoint_that_fails_for_days_is_told_of_and_disabled
    enabling_starts_afresh
    an_attempt_without_a_lease_says_nothing_of_its_endpoint
    replicas_that_record_at_once_lose_no_failure
}

async fn fail<O: Outbox>(outbox: &O, deliveries: &[Delivery]) -> Vec<(EndpointId, Change)> {
    let records = deliveries
        .iter()
        .map(|delivery| ended(delivery, AttemptClass::TimedOut, RETRY))
        .collect();
    record_all(outbox, records).await
}

async fn record_all<O: Outbox>(
    outbox: &O,
    records: Vec<AttemptRecord>,
) -> Vec<(EndpointId, Change)> {
    let recorded = outbox.record(records, HealthPolicy::default()).await;
    recorded.unwrap().changes
}

async fn failures_open_the_breaker_and_a_success_closes_it<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"; 8]).await;
    let taken = take(&outbox, to, 5).await;
    assert_eq!(fail(&outbox, &taken[..4]).await, []);
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 1);
    assert_eq!(fail(&outbox, &taken[4..]).await, [(to, Change::Opened)]);
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 0);
    let (_, health) = outbox.endpoint(to).await.unwrap().unwrap();
    assert_eq!(health.failures, 5);
    store.shift_outbox(5_001).await;
    let ready = outbox.ready(None, 10).await.unwrap();
    let repute = ready[0].health.repute(&HealthPolicy::default());
    assert_eq!(repute, Repute::Bad);
    let probe = take(&outbox, to, 1).await.remove(0);
    let well = ended(&probe, AttemptClass::Delivered, Next::Delivered);
    assert_eq!(
        record_all(&outbox, vec![well]).await,
        [(to, Change::Closed)]
    );
    let (_, health) = outbox.endpoint(to).await.unwrap().unwrap();
    assert!(health.is_proven && health.open_until.is_none() && health.failures == 0);
}

async fn an_endpoint_that_is_gone_is_disabled_and_its_owner_told<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    let owner = put(
        &outbox,
        Filter::new(["webhook.endpoint.*"]).unwrap(),
        |_| (),
    )
    .await;
    send(&*store, &outbox, &["a", "b"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    let mut gone = ended(&delivery, AttemptClass::Answer, Next::Dead);
    gone.is_gone = true;
    assert_eq!(record_all(&outbox, vec![gone]).await, [(to, Change::Gone)]);
    let (endpoint, _) = outbox.endpoint(to).await.unwrap().unwrap();
    assert_eq!(endpoint.state, EndpointState::Disabled("gone".to_owned()));
    assert_eq!(endpoint.version, 2);
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    assert_eq!(outbox.expand(10).await.unwrap().deliveries, 1);
    let told = take(&outbox, owner, 10).await.remove(0);
    assert_eq!(&*told.event_type, "webhook.endpoint.disabled");
    let payload = String::from_utf8(told.payload.to_vec()).unwrap();
    assert!(
        payload.contains(&to.to_string()) && payload.contains("gone"),
        "{payload}"
    );
    assert!(!payload.contains("example.com"), "{payload}");
}

async fn an_endpoint_that_fails_for_days_is_told_of_and_disabled<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let day = 24 * 60 * 60 * 1000;
    let mut changes = Vec::new();
    for _ in 0..6 {
        let taken = take(&outbox, to, 1).await;
        changes.extend(
            fail(&outbox, &taken)
                .await
                .into_iter()
                .map(|(_, change)| change),
        );
        store.shift_outbox(day).await;
    }
    let told: Vec<_> = changes
        .into_iter()
        .filter(|change| !matches!(change, Change::Opened))
        .collect();
    assert_eq!(told, [Change::Failing, Change::Disabled]);
    let (endpoint, _) = outbox.endpoint(to).await.unwrap().unwrap();
    assert_eq!(
        endpoint.state,
        EndpointState::Disabled("failing".to_owned())
    );
}

async fn enabling_starts_afresh<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"; 5]).await;
    let taken = take(&outbox, to, 5).await;
    fail(&outbox, &taken).await;
    // A change that leaves it enabled keeps its record.
    change(&outbox, to, |endpoint| {
        "https://example.com/2".clone_into(&mut endpoint.url);
    })
    .await;
    assert_eq!(outbox.endpoint(to).await.unwrap().unwrap().1.failures, 5);
    change(&outbox, to, |endpoint| {
        endpoint.state = EndpointState::Paused;
    })
    .await;
    assert_eq!(outbox.endpoint(to).await.unwrap().unwrap().1.failures, 5);
    change(&outbox, to, |endpoint| {
        endpoint.state = EndpointState::Enabled;
    })
    .await;
    let (_, health) = outbox.endpoint(to).await.unwrap().unwrap();
    assert_eq!(health, webhook_core::outbox::Health::default());
}

async fn an_attempt_without_a_lease_says_nothing_of_its_endpoint<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"; 5]).await;
    let taken = take(&outbox, to, 5).await;
    store.shift_outbox(20_000).await;
    assert_eq!(fail(&outbox, &taken).await, []);
    assert_eq!(outbox.endpoint(to).await.unwrap().unwrap().1.failures, 0);
}

async fn replicas_that_record_at_once_lose_no_failure<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"; 24]).await;
    let policy = HealthPolicy::default();
    let mut calm = policy;
    calm.open_after = 1000;
    let mut replicas = Vec::new();
    for delivery in take(&outbox, to, 24).await {
        let replica = outbox.clone();
        replicas.push(tokio::spawn(async move {
            let record = ended(&delivery, AttemptClass::Connect, RETRY);
            replica.record(vec![record], calm).await.unwrap();
        }));
    }
    for replica in replicas {
        replica.await.unwrap();
    }
    assert_eq!(outbox.endpoint(to).await.unwrap().unwrap().1.failures, 24);
    let search = Search::newest(100).endpoint(to);
    assert_eq!(outbox.find(search).await.unwrap().len(), 24);
}
