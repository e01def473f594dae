//! Leases on deliveries, fencing and order.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use webhook_core::outbox::{
    AttemptClass, DeliveryState, EndpointId, Event, Filter, Next, Outbox as _, Resend, Search, Want,
};

use super::{LEASE, RETRY, WithOutbox, ended, endpoint, event, put, record, send, take, take_all};

cases! {
    a_delivery_is_taken_once
    replicas_take_different_deliveries
    no_more_is_taken_than_there_is_room_for
    the_room_is_that_of_all_replicas
    payloads_are_bounded_but_one_always_goes
    a_stale_token_records_nothing
    what_is_recorded_twice_was_held_and_counts_once
    what_waits_by_a_clock_set_back_is_recalled
    an_expired_lease_records_nothing
    a_lost_lease_is_rescued_and_on_record
    a_lease_lost_too_often_is_dead
    a_lease_from_a_clock_set_back_has_run_out
    what_is_handed_back_was_not_attempted
    a_retry_is_due_when_it_said
    what_is_ready_is_due_and_enabled
    those_asked_for_are_ready_as_all_are
    ready_endpoints_come_in_pages
    events_of_one_key_run_one_at_a_time
    an_ordered_endpoint_runs_other_keys_meanwhile
    order_is_the_endpoints_choice
    what_is_sent_again_does_not_run_beside_its_key
    what_waits_behind_one_head_hides_no_other_key
}

async fn a_delivery_is_taken_once<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    let ids = send(&*store, &outbox, &["a"]).await;
    let taken = take_all(&outbox, to, 10, 100).await;
    assert_eq!(taken.endpoints.len(), 1);
    let delivery = &taken.deliveries[0];
    assert_eq!((&delivery.event, delivery.attempt), (&ids[0], 1));
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    assert!(
        record(
            &outbox,
            ended(delivery, AttemptClass::Delivered, Next::Delivered)
        )
        .await
    );
    store.shift_outbox(60_000).await;
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    let log = outbox.attempts(delivery.share.delivery).await.unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!((log[0].attempt, log[0].class), (1, AttemptClass::Delivered));
    assert_eq!(
        (log[0].status, &log[0].answer[..]),
        (Some(204), &b"so it was"[..])
    );
    assert_eq!(log[0].address, Some("203.0.113.7".parse().unwrap()));
    assert_eq!(log[0].took, Duration::from_millis(12));
}

async fn replicas_take_different_deliveries<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let endpoints = [endpoint(&outbox).await, endpoint(&outbox).await];
    send(&*store, &outbox, &["a"; 20]).await;
    let mut replicas = Vec::new();
    for _ in 0..4 {
        let replica = store.open_outbox().await;
        replicas.push(tokio::spawn(async move {
            let mut taken = Vec::new();
            for _ in 0..20 {
                let wants = endpoints.map(|endpoint| Want::new(endpoint, 2, 100));
                let batch = replica.take(wants.to_vec(), LEASE, u64::MAX).await.unwrap();
                taken.extend(
                    batch
                        .deliveries
                        .iter()
                        .map(|delivery| delivery.share.delivery),
                );
            }
            taken
        }));
    }
    let (mut all, mut count) = (HashSet::new(), 0);
    for replica in replicas {
        let taken = replica.await.unwrap();
        count += taken.len();
        all.extend(taken);
    }
    // The rest is left to whoever comes after those that were passed over.
    for endpoint in endpoints {
        let rest = take(&outbox, endpoint, 100).await;
        count += rest.len();
        all.extend(rest.iter().map(|delivery| delivery.share.delivery));
    }
    assert_eq!((all.len(), count), (40, 40));
}

async fn no_more_is_taken_than_there_is_room_for<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"; 5]).await;
    assert_eq!(take_all(&outbox, to, 2, 3).await.deliveries.len(), 2);
    let third = take_all(&outbox, to, 2, 3).await.deliveries;
    assert_eq!(third.len(), 1);
    assert_eq!(take_all(&outbox, to, 2, 3).await.deliveries.len(), 0);
    record(
        &outbox,
        ended(&third[0], AttemptClass::Delivered, Next::Delivered),
    )
    .await;
    assert_eq!(take_all(&outbox, to, 2, 3).await.deliveries.len(), 1);
}

async fn the_room_is_that_of_all_replicas<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"; 40]).await;
    let mut replicas = Vec::new();
    for _ in 0..4 {
        let replica = store.open_outbox().await;
        replicas.push(tokio::spawn(async move {
            let mut taken = 0;
            for _ in 0..10 {
                taken += take_all(&replica, to, 3, 7).await.deliveries.len();
            }
            taken
        }));
    }
    let mut taken = 0;
    for replica in replicas {
        taken += replica.await.unwrap();
    }
    assert_eq!(taken, 7);
}

async fn payloads_are_bounded_but_one_always_goes<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    for _ in 0..3 {
        let event = Event::new("acme", "a", vec![b' '; 1000]).unwrap();
        store.enqueue(&outbox, event, true).await.unwrap();
    }
    outbox.expand(10).await.unwrap();
    let want = vec![Want::new(to, 10, 10)];
    for (bytes, count) in [(2500, 2), (1, 1), (u64::MAX, 0)] {
        let taken = outbox.take(want.clone(), LEASE, bytes).await.unwrap();
        assert_eq!(taken.deliveries.len(), count, "{bytes}");
    }
}

async fn a_stale_token_records_nothing<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let first = take(&outbox, to, 1).await.remove(0);
    store.shift_outbox(20_000).await;
    assert_eq!(outbox.rescue(11, 10).await.unwrap(), 1);
    let second = take(&outbox, to, 1).await.remove(0);
    assert_eq!(second.share.delivery, first.share.delivery);
    assert!(second.share.token > first.share.token);
    assert_eq!(second.attempt, 2);
    assert!(!record(&outbox, ended(&first, AttemptClass::Answer, Next::Dead)).await);
    assert!(
        record(
            &outbox,
            ended(&second, AttemptClass::Delivered, Next::Delivered)
        )
        .await
    );
    // Nor afterwards.
    assert!(!record(&outbox, ended(&first, AttemptClass::Answer, Next::Dead)).await);
    let log = outbox.attempts(first.share.delivery).await.unwrap();
    let classes: Vec<_> = log.iter().map(|attempt| attempt.class).collect();
    assert_eq!(classes, [AttemptClass::Unknown, AttemptClass::Delivered]);
}

/// As a dispatcher does that never heard what became of the first call.
async fn what_is_recorded_twice_was_held_and_counts_once<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a", "b"]).await;
    let [failed, arrived] = take(&outbox, to, 2).await.try_into().unwrap();
    for _ in 0..3 {
        assert!(record(&outbox, ended(&failed, AttemptClass::Answer, RETRY)).await);
    }
    let (_, health) = outbox.endpoint(to).await.unwrap().unwrap();
    assert_eq!(health.failures, 1);
    for _ in 0..2 {
        let ended = ended(&arrived, AttemptClass::Delivered, Next::Delivered);
        assert!(record(&outbox, ended).await);
    }
    for delivery in [failed.share.delivery, arrived.share.delivery] {
        assert_eq!(outbox.attempts(delivery).await.unwrap().len(), 1);
    }
}

async fn what_waits_by_a_clock_set_back_is_recalled<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let (late, soon) = (endpoint(&outbox).await, endpoint(&outbox).await);
    send(&*store, &outbox, &["a", "b"]).await;
    for (to, pause) in [(late, 48), (soon, 23)] {
        for delivery in take(&outbox, to, 2).await {
            let next = Next::Retry(Duration::from_hours(pause));
            record(&outbox, ended(&delivery, AttemptClass::Answer, next)).await;
        }
    }
    let open = "update webhook.outbox_endpoint set open_until = 9000000000000";
    store.execute(open).await;
    let recall = async |batch| {
        let [pause, open] = [24, 1].map(Duration::from_hours);
        outbox.recall(pause, open, batch).await.unwrap()
    };
    assert_eq!(recall(1).await, 3);
    assert_eq!(recall(10).await, 1);
    assert_eq!(recall(10).await, 0);
    let ready = outbox.ready(None, 10).await.unwrap();
    let ready: Vec<_> = ready.iter().map(|ready| ready.endpoint).collect();
    assert_eq!(ready, [late]);
    assert_eq!(take(&outbox, late, 10).await.len(), 2);
}

async fn an_expired_lease_records_nothing<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    store.shift_outbox(16_000).await;
    assert!(
        !record(
            &outbox,
            ended(&delivery, AttemptClass::Delivered, Next::Delivered)
        )
        .await
    );
    assert_eq!(
        outbox
            .attempts(delivery.share.delivery)
            .await
            .unwrap()
            .len(),
        0
    );
}

async fn a_lost_lease_is_rescued_and_on_record<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    store.shift_outbox(14_000).await;
    assert_eq!(outbox.rescue(11, 10).await.unwrap(), 0);
    store.shift_outbox(2_000).await;
    assert_eq!(outbox.rescue(11, 10).await.unwrap(), 1);
    assert_eq!(outbox.rescue(11, 10).await.unwrap(), 0);
    let log = outbox.attempts(delivery.share.delivery).await.unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!((log[0].class, log[0].attempt), (AttemptClass::Unknown, 1));
    let again = take(&outbox, to, 1).await.remove(0);
    assert_eq!((&again.event, again.attempt), (&delivery.event, 2));
}

async fn a_lease_lost_too_often_is_dead<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    for _ in 0..2 {
        assert_eq!(take(&outbox, to, 1).await.len(), 1);
        store.shift_outbox(20_000).await;
        assert_eq!(outbox.rescue(2, 10).await.unwrap(), 1);
    }
    assert_eq!(take(&outbox, to, 1).await.len(), 0);
    let search = Search::newest(10).state(DeliveryState::Dead);
    let dead = outbox.find(search).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].last_class, Some(AttemptClass::Unknown));
}

async fn a_lease_from_a_clock_set_back_has_run_out<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    assert_eq!(take(&outbox, to, 1).await.len(), 1);
    store.shift_outbox(-2 * 60 * 60 * 1000).await;
    assert_eq!(outbox.rescue(11, 10).await.unwrap(), 1);
}

async fn what_is_handed_back_was_not_attempted<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    outbox.hand_back(vec![delivery.share]).await.unwrap();
    assert!(!record(&outbox, ended(&delivery, AttemptClass::Answer, Next::Dead)).await);
    let again = take(&outbox, to, 1).await.remove(0);
    assert_eq!(again.attempt, 1);
    // A stale one hands nothing back.
    outbox.hand_back(vec![delivery.share]).await.unwrap();
    assert_eq!(take(&outbox, to, 1).await.len(), 0);
}

async fn a_retry_is_due_when_it_said<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    assert!(record(&outbox, ended(&delivery, AttemptClass::Answer, RETRY)).await);
    store.shift_outbox(55_000).await;
    assert_eq!(take(&outbox, to, 1).await.len(), 0);
    store.shift_outbox(6_000).await;
    let again = take(&outbox, to, 1).await.remove(0);
    assert_eq!((again.event, again.attempt), (delivery.event, 2));
}

async fn those_asked_for_are_ready_as_all_are<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let all = [
        endpoint(&outbox).await,
        endpoint(&outbox).await,
        endpoint(&outbox).await,
    ];
    let idle = put(&outbox, Filter::new(["other"]).unwrap(), |_| ()).await;
    send(&*store, &outbox, &["a"]).await;
    take(&outbox, all[1], 1).await;
    let asked = vec![all[2], idle, all[1], all[0], all[2], EndpointId::generate()];
    let ready = outbox.ready_of(asked).await.unwrap();
    let ready: Vec<_> = ready.iter().map(|ready| ready.endpoint).collect();
    let mut wanted = [all[0], all[2]];
    wanted.sort_unstable();
    assert_eq!(ready, wanted);
}

async fn what_is_ready_is_due_and_enabled<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    let idle = put(&outbox, Filter::new(["other"]).unwrap(), |_| ()).await;
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 0);
    send(&*store, &outbox, &["a"]).await;
    let ready = outbox.ready(None, 10).await.unwrap();
    assert_eq!((ready.len(), ready[0].endpoint), (1, to));
    assert_ne!(ready[0].endpoint, idle);
    assert_eq!(&*ready[0].tenant, "acme");
    let delivery = take(&outbox, to, 1).await.remove(0);
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 0);
    record(&outbox, ended(&delivery, AttemptClass::Answer, RETRY)).await;
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 0);
    store.shift_outbox(61_000).await;
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 1);
}

async fn ready_endpoints_come_in_pages<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    for _ in 0..700 {
        // Ids in no order, as those of many processes are.
        put(&outbox, Filter::all(), |new| {
            new.id = EndpointId::from_bytes(rand::random());
        })
        .await;
    }
    send(&*store, &outbox, &["a", "b"]).await;
    for _ in 0..2 {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let page = outbox.ready(after, 512).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.endpoint);
            seen.extend(page.iter().map(|ready| ready.endpoint));
        }
        assert_eq!(seen.len(), 700);
        assert!(seen.is_sorted());
        // Nor does it depend on what the planner knows.
        store.execute("analyze").await;
    }
}

async fn events_of_one_key_run_one_at_a_time<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = put(&outbox, Filter::all(), |new| new.is_ordered = true).await;
    for event_type in ["a", "b", "c"] {
        let event = event(event_type).order_key("invoice 1").unwrap();
        store.enqueue(&outbox, event, true).await.unwrap();
    }
    outbox.expand(10).await.unwrap();
    let head = take(&outbox, to, 10).await;
    assert_eq!((head.len(), &*head[0].event_type), (1, "a"));
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    // A retry holds up those behind it.
    record(&outbox, ended(&head[0], AttemptClass::Answer, RETRY)).await;
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    store.shift_outbox(61_000).await;
    let head = take(&outbox, to, 10).await;
    assert_eq!((head.len(), &*head[0].event_type), (1, "a"));
    // One that is dead holds up nobody.
    record(&outbox, ended(&head[0], AttemptClass::Answer, Next::Dead)).await;
    let next = take(&outbox, to, 10).await;
    assert_eq!((next.len(), &*next[0].event_type), (1, "b"));
}

async fn an_ordered_endpoint_runs_other_keys_meanwhile<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = put(&outbox, Filter::all(), |new| new.is_ordered = true).await;
    for (event_type, key) in [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2")] {
        let event = event(event_type).order_key(key).unwrap();
        store.enqueue(&outbox, event, true).await.unwrap();
    }
    send(&*store, &outbox, &["e", "f"]).await;
    let mut types: Vec<_> = take(&outbox, to, 10)
        .await
        .iter()
        .map(|delivery| delivery.event_type.to_string())
        .collect();
    types.sort_unstable();
    assert_eq!(types, ["a", "c", "e", "f"]);
}

async fn order_is_the_endpoints_choice<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    for event_type in ["a", "b"] {
        let event = event(event_type).order_key("1").unwrap();
        store.enqueue(&outbox, event, true).await.unwrap();
    }
    outbox.expand(10).await.unwrap();
    assert_eq!(take(&outbox, to, 10).await.len(), 2);
}

async fn what_is_sent_again_does_not_run_beside_its_key<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = put(&outbox, Filter::all(), |new| new.is_ordered = true).await;
    for event_type in ["a", "b"] {
        let event = event(event_type).order_key("1").unwrap();
        store.enqueue(&outbox, event, true).await.unwrap();
    }
    outbox.expand(10).await.unwrap();
    let first = take(&outbox, to, 10).await.remove(0);
    let done = ended(&first, AttemptClass::Delivered, Next::Delivered);
    assert!(record(&outbox, done).await);
    let second = take(&outbox, to, 10).await.remove(0);
    let again = Resend::One(first.share.delivery);
    assert_eq!(outbox.resend(again).await.unwrap(), 1);
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    let done = ended(&second, AttemptClass::Delivered, Next::Delivered);
    assert!(record(&outbox, done).await);
    assert_eq!(take(&outbox, to, 10).await.len(), 1);
}

/// Of the first that are due none may go; those that may are further back.
async fn what_waits_behind_one_head_hides_no_other_key<S: WithOutbox>(store: Arc<S>) {
    let outbox = store.open_outbox().await;
    let to = put(&outbox, Filter::all(), |new| new.is_ordered = true).await;
    let keyed = |key: &str| event("a").order_key(key).unwrap();
    for _ in 0..150 {
        store.enqueue(&outbox, keyed("m"), true).await.unwrap();
    }
    outbox.expand(1000).await.unwrap();
    let head = take(&outbox, to, 10).await.remove(0);
    record(&outbox, ended(&head, AttemptClass::Answer, RETRY)).await;
    let mut others = Vec::new();
    for other in [keyed("b"), event("a"), keyed("z"), keyed("z")] {
        let enqueued = store.enqueue(&outbox, other, true).await.unwrap();
        others.push(enqueued.id().clone());
    }
    outbox.expand(1000).await.unwrap();
    let mut taken: Vec<_> = take(&outbox, to, 10)
        .await
        .into_iter()
        .map(|delivery| delivery.event)
        .collect();
    taken.sort();
    others.pop();
    others.sort();
    assert_eq!(taken, others);
}
