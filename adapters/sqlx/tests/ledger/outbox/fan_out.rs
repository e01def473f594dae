//! Events to deliveries.

use std::sync::Arc;

use webhook_core::outbox::{EndpointId, EndpointState, Event, Filter, Outbox as _, Search};

use super::{WithOutbox, change, endpoint, event, put, send, take};

cases! {
    an_event_reaches_the_endpoints_whose_filter_matches
    an_event_reaches_its_tenants_endpoints_alone
    an_event_is_fanned_out_once_by_any_number_of_replicas
    an_event_nobody_wants_is_done_with
    what_is_paused_waits_and_what_is_disabled_gets_nothing
    the_endpoints_are_those_of_the_moment
    a_batch_is_bounded_and_oldest_first
    an_event_for_very_many_endpoints_is_fanned_out_in_ranges
    an_event_for_one_endpoint_goes_there_whatever_its_filter
}

async fn an_event_reaches_the_endpoints_whose_filter_matches<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let types = [
        "invoice",
        "invoice.paid",
        "invoice.paid.late",
        "invoices.paid",
        "Ping",
        "ping",
    ];
    for patterns in [
        &["*"][..],
        &["invoice.*"],
        &["invoice.paid"],
        &["invoice.paid", "ping"],
        &["invoice.paid.*", "invoice"],
        &["other"],
    ] {
        let filter = Filter::new(patterns.iter().copied()).unwrap();
        let to = put(&outbox, filter.clone(), |_| ()).await;
        send(&*store, &outbox, &types).await;
        let mut got: Vec<_> = take(&outbox, to, 100)
            .await
            .iter()
            .map(|delivery| delivery.event_type.to_string())
            .collect();
        got.sort_unstable();
        // As the filter itself says.
        let wanted: Vec<_> = types.iter().filter(|name| filter.matches(name)).collect();
        let mut wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
        wanted.sort_unstable();
        assert_eq!(got, wanted, "{patterns:?}");
    }
}

async fn an_event_reaches_its_tenants_endpoints_alone<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let ours = endpoint(&outbox).await;
    let event = Event::new("acme corp", "a", "{}").unwrap();
    store.enqueue(&outbox, event, true).await.unwrap();
    assert_eq!(outbox.expand(10).await.unwrap().deliveries, 0);
    assert_eq!(take(&outbox, ours, 10).await.len(), 0);
}

async fn an_event_is_fanned_out_once_by_any_number_of_replicas<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    endpoint(&outbox).await;
    endpoint(&outbox).await;
    for _ in 0..30 {
        store.enqueue(&outbox, event("a"), true).await.unwrap();
    }
    let mut replicas = Vec::new();
    for _ in 0..4 {
        let replica = store.open_outbox().await;
        replicas.push(tokio::spawn(async move {
            let mut deliveries = 0;
            for _ in 0..20 {
                deliveries += replica.expand(3).await.unwrap().deliveries;
            }
            deliveries
        }));
    }
    let mut deliveries = 0;
    for replica in replicas {
        deliveries += replica.await.unwrap();
    }
    deliveries += outbox.expand(100).await.unwrap().deliveries;
    assert_eq!(deliveries, 60);
    assert_eq!(outbox.find(Search::newest(100)).await.unwrap().len(), 60);
}

async fn an_event_nobody_wants_is_done_with<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    store.enqueue(&outbox, event("a"), true).await.unwrap();
    let expanded = outbox.expand(10).await.unwrap();
    assert_eq!((expanded.events, expanded.deliveries), (1, 0));
    assert_eq!(outbox.expand(10).await.unwrap().events, 0);
}

async fn what_is_paused_waits_and_what_is_disabled_gets_nothing<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let paused = put(&outbox, Filter::all(), |new| {
        new.state = EndpointState::Paused;
    })
    .await;
    let disabled = EndpointState::Disabled("asked to".to_owned());
    let disabled = put(&outbox, Filter::all(), |new| new.state = disabled).await;
    let deleted = put(&outbox, Filter::all(), |new| {
        new.state = EndpointState::Deleted;
    })
    .await;
    send(&*store, &outbox, &["a"]).await;
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 0);
    for id in [paused, disabled] {
        assert_eq!(take(&outbox, id, 10).await.len(), 0);
        change(&outbox, id, |endpoint| {
            endpoint.state = EndpointState::Enabled;
        })
        .await;
    }
    assert_eq!(take(&outbox, paused, 10).await.len(), 1);
    assert_eq!(take(&outbox, disabled, 10).await.len(), 0);
    assert_eq!(take(&outbox, deleted, 10).await.len(), 0);
}

async fn the_endpoints_are_those_of_the_moment<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    send(&*store, &outbox, &["a"]).await;
    let late = endpoint(&outbox).await;
    assert_eq!(outbox.expand(10).await.unwrap().deliveries, 0);
    assert_eq!(take(&outbox, late, 10).await.len(), 0);
}

async fn a_batch_is_bounded_and_oldest_first<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    for event_type in ["a", "b", "c"] {
        store
            .enqueue(&outbox, event(event_type), true)
            .await
            .unwrap();
    }
    for event_type in ["a", "b", "c"] {
        assert_eq!(outbox.expand(1).await.unwrap().events, 1);
        let taken = take(&outbox, to, 10).await;
        assert_eq!((taken.len(), &*taken[0].event_type), (1, event_type));
    }
}

/// Each call is a transaction, and whoever comes next goes on where the last one ended.
async fn an_event_for_very_many_endpoints_is_fanned_out_in_ranges<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    put(&outbox, Filter::new(["a"]).unwrap(), |_| ()).await;
    let more = format!(
        "with recursive number (n) as (select 1 union all select n + 1 from number where n < 11999)
         insert into webhook.outbox_endpoint (id, version, tenant, url, filter, scheme, headers,
             state, in_flight, is_ordered, secrets)
         select {}, version, tenant, url, filter, scheme, headers, state, in_flight, is_ordered,
             secrets
         from webhook.outbox_endpoint cross join number",
        S::RANDOM_ID
    );
    store.execute(&more).await;
    for event_type in ["a", "b"] {
        let event = event(event_type);
        store.enqueue(&outbox, event, true).await.unwrap();
    }
    let (mut deliveries, mut calls) = (0, 0);
    loop {
        let expanded = store.open_outbox().await.expand(10).await.unwrap();
        assert!(expanded.deliveries <= 5000 && expanded.endpoints.len() <= 512);
        deliveries += expanded.deliveries;
        calls += 1;
        if !expanded.is_partial {
            // Both are done with at the end, and neither before.
            assert_eq!(expanded.events, 1);
            break;
        }
    }
    assert_eq!((deliveries, calls), (12_000, 5));
    let distinct = "select count(distinct endpoint) from webhook.outbox_delivery";
    assert_eq!(store.number(distinct).await, 12_000);
}

async fn an_event_for_one_endpoint_goes_there_whatever_its_filter<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = put(&outbox, Filter::new(["other"]).unwrap(), |new| {
        new.is_ordered = true;
    })
    .await;
    let beside = endpoint(&outbox).await;
    let test = || event("webhook.test");
    assert!(outbox.send_to(to, test()).await.unwrap());
    assert_eq!(outbox.expand(10).await.unwrap().events, 0);
    let taken = take(&outbox, to, 10).await;
    assert_eq!(
        (taken.len(), &*taken[0].event_type, &*taken[0].payload),
        (1, "webhook.test", &test().payload()[..])
    );
    assert_eq!(take(&outbox, beside, 10).await.len(), 0);
    // Not to another tenant's, nor to one that is not enabled.
    let theirs = Event::new("zeta", "webhook.test", "{}").unwrap();
    assert!(!outbox.send_to(to, theirs).await.unwrap());
    change(&outbox, to, |endpoint| {
        endpoint.state = EndpointState::Paused;
    })
    .await;
    assert!(!outbox.send_to(to, test()).await.unwrap());
    assert!(
        !outbox
            .send_to(EndpointId::generate(), test())
            .await
            .unwrap()
    );
    assert_eq!(outbox.find(Search::newest(10)).await.unwrap().len(), 1);
}
