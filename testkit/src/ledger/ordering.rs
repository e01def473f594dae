//! Ordering: events with one key run one at a time, in the order in which they were stored.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{Committed, Leased, Ledger, Next};
use webhook_core::{Claim, NewEvent, State};

use crate::ledger::Store;
use crate::ledger::post::{Post, TYPE};
use crate::ledger::steps::{
    begun, claim, complete, done, failure, in_state, lapse, pass, prepared, take, want,
};

fn ordered(id: &str, key: &str) -> NewEvent {
    Post::new(id).content(key).ordered().strict()
}

async fn store_all<L: Ledger>(ledger: &L, events: impl IntoIterator<Item = NewEvent>) {
    for event in events {
        assert_eq!(claim(ledger, event).await, Claim::Stored);
    }
}

async fn taken<L: Ledger>(ledger: &L) -> Vec<Leased> {
    ledger.take(want()).await.unwrap().events
}

fn ids(events: &[Leased]) -> Vec<&str> {
    let mut ids: Vec<&str> = events
        .iter()
        .map(|leased| leased.event.id.as_str())
        .collect();
    ids.sort_unstable();
    ids
}

pub async fn f8_one_of_a_key_runs_at_a_time<S: Store>(store: Arc<S>) {
    let (one, two) = (prepared(&*store).await, prepared(&*store).await);
    let events = [("1", "a"), ("2", "a"), ("3", "b"), ("4", "a"), ("5", "b")];
    store_all(&one, events.map(|(id, key)| ordered(id, key))).await;
    store_all(&one, [Post::new("6").content("a").strict()]).await;
    let first = taken(&one).await;
    assert_eq!(ids(&first), ["1", "3", "6"]);
    assert!(taken(&two).await.is_empty());
    for leased in &first {
        done(&one, leased.lease).await;
    }
    let second = taken(&two).await;
    assert_eq!(ids(&second), ["2", "5"]);
    assert!(taken(&one).await.is_empty());
    for leased in &second {
        done(&two, leased.lease).await;
    }
    assert_eq!(ids(&taken(&one).await), ["4"]);
}

pub async fn f8_a_retry_of_the_head_blocks_its_key_alone<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    store_all(&ledger, [ordered("1", "a"), ordered("2", "a")]).await;
    let head = take(&ledger).await.lease;
    let later = failure(Next::Retry(Duration::from_hours(1)));
    assert!(ledger.fail(head, later).await.unwrap());
    store_all(&ledger, [ordered("3", "b")]).await;
    let other = take(&ledger).await;
    assert_eq!(other.event.id.as_str(), "3");
    done(&ledger, other.lease).await;
    pass(&*store, Duration::from_hours(1)).await;
    let again = take(&ledger).await;
    assert_eq!(again.event.id.as_str(), "1");
    ledger.hand_back(vec![again.lease]).await.unwrap();
    let again = take(&ledger).await;
    assert_eq!(again.event.id.as_str(), "1");
    let tx = begun::<S>(&ledger, again.lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(ids(&taken(&ledger).await), ["2"]);
}

pub async fn f8_an_abandoned_head_blocks_its_key_until_it_is_taken<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    store_all(&ledger, [ordered("1", "a"), ordered("2", "a")]).await;
    let head = take(&ledger).await.lease;
    lapse(&*store).await;
    // By who cannot run it, it is not taken, and nobody passes it.
    store_all(
        &ledger,
        [Post::new("3")
            .event_type("other")
            .content("a")
            .ordered()
            .strict()],
    )
    .await;
    let mut other = want();
    other.event_types = vec!["other".to_owned()].into();
    assert!(ledger.take(other).await.unwrap().events.is_empty());
    let again = take(&ledger).await;
    assert_eq!((again.lease.inbox(), again.crashes), (head.inbox(), 1));
}

pub async fn f8_a_dead_head_blocks_nobody<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    store_all(&ledger, [ordered("1", "a"), ordered("2", "a")]).await;
    let head = take(&ledger).await.lease;
    let quiet = Duration::ZERO;
    let dead = failure(Next::Dead { quiet });
    assert!(ledger.fail(head, dead).await.unwrap());
    assert_eq!(take(&ledger).await.event.id.as_str(), "2");
}

pub async fn f8_a_buried_head_blocks_nobody<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    store_all(&ledger, [ordered("1", "a"), ordered("2", "a")]).await;
    take(&ledger).await;
    lapse(&*store).await;
    let strict = want().max_crashes(0);
    assert_eq!(ledger.take(strict).await.unwrap().buried, 1);
    assert_eq!(take(&ledger).await.event.id.as_str(), "2");
}

pub async fn f8_a_revived_head_runs_beside_nobody<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let events = ["1", "2", "3"].map(|id| ordered(id, "a"));
    store_all(&ledger, events).await;
    let head = take(&ledger).await.lease;
    let quiet = Duration::ZERO;
    let dead = failure(Next::Dead { quiet });
    assert!(ledger.fail(head, dead).await.unwrap());
    let second = take(&ledger).await.lease;
    assert_eq!(claim(&ledger, ordered("1", "a")).await, Claim::Revived);
    // A revived event may have to wait, for less than the other's lease.
    pass(&*store, Duration::from_secs(20)).await;
    assert!(taken(&ledger).await.is_empty());
    // Abandoned, the running one is taken first, though the revived one is older.
    pass(&*store, Duration::from_secs(11)).await;
    let again = take(&ledger).await;
    assert_eq!(again.lease.inbox(), second.inbox());
    done(&ledger, again.lease).await;
    let revived = take(&ledger).await;
    assert_eq!(revived.lease.inbox(), head.inbox());
    done(&ledger, revived.lease).await;
    assert_eq!(take(&ledger).await.event.id.as_str(), "3");
}

pub async fn f8_a_batch_keeps_its_order<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    // Ids and keys whose order is not that of the batch.
    let batch = [
        ("9", "b"),
        ("1", "a"),
        ("8", "b"),
        ("5", "a"),
        ("2", "b"),
        ("3", "a"),
    ];
    let claims = ledger
        .claim(batch.map(|(id, key)| ordered(id, key)).to_vec())
        .await
        .unwrap();
    assert!(claims.iter().all(|claim| *claim == Claim::Stored));
    for wanted in [["1", "9"], ["5", "8"], ["2", "3"]] {
        let round = taken(&ledger).await;
        assert_eq!(ids(&round), wanted);
        for leased in round {
            done(&ledger, leased.lease).await;
        }
    }
}

/// What was claimed before another claim began runs before it; so does each claimant's own order.
pub async fn f8_concurrent_claims_run_as_committed<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let mut race = JoinSet::new();
    for (claimant, ledger) in ledgers.iter().cycle().take(4).enumerate() {
        let ledger = ledger.clone();
        race.spawn(async move {
            for n in 0..10 {
                let batch: Vec<NewEvent> = ["a", "b"]
                    .into_iter()
                    .map(|key| ordered(&format!("{key}-{claimant}-{n}"), key))
                    .collect();
                let claims = ledger.claim(batch).await.unwrap();
                assert_eq!(claims, [Claim::Stored, Claim::Stored]);
            }
        });
    }
    race.join_all().await;
    let mut ran: Vec<String> = Vec::new();
    loop {
        let round = taken(&ledgers[0]).await;
        assert!(round.len() <= 2);
        if round.is_empty() {
            break;
        }
        for leased in round {
            ran.push(leased.event.id.as_str().to_owned());
            done(&ledgers[0], leased.lease).await;
        }
    }
    assert_eq!(ran.len(), 80);
    for claimant in 0..4 {
        for key in ["a", "b"] {
            let prefix = format!("{key}-{claimant}-");
            let own: Vec<_> = ran.iter().filter(|id| id.starts_with(&prefix)).collect();
            let wanted: Vec<_> = (0..10).map(|n| format!("{prefix}{n}")).collect();
            assert_eq!(own, wanted.iter().collect::<Vec<_>>());
        }
    }
}

pub async fn f8_concurrent_takers_run_one_of_a_key<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let keys = ["a", "b", "c"];
    let batch = (0..30).map(|n| ordered(&format!("{n:02}"), keys[n % 3]));
    ledgers[0].claim(batch.collect()).await.unwrap();
    let running = Arc::new(keys.map(|_| std::sync::atomic::AtomicUsize::new(0)));
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(6) {
        let (ledger, running) = (ledger.clone(), running.clone());
        race.spawn(async move {
            use std::sync::atomic::Ordering::SeqCst;
            let mut ran = 0;
            for _ in 0..200 {
                for leased in ledger.take(want()).await.unwrap().events {
                    let n: usize = leased.event.id.as_str().parse().unwrap();
                    assert_eq!(running[n % 3].fetch_add(1, SeqCst), 0);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    assert_eq!(running[n % 3].fetch_sub(1, SeqCst), 1);
                    done(&ledger, leased.lease).await;
                    ran += 1;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            ran
        });
    }
    let ran: i32 = race.join_all().await.into_iter().sum();
    assert_eq!(ran, 30);
}

pub async fn f8_an_order_is_an_endpoints_own<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let elsewhere = Post::new("1").endpoint("elsewhere").content("a").ordered();
    store_all(&ledger, [elsewhere.strict(), ordered("2", "a")]).await;
    assert_eq!(take(&ledger).await.event.id.as_str(), "2");
}

pub async fn f3_an_ignored_event_is_stored_and_never_due<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ignored = Post::new("1").strict().ignored();
    assert_eq!(claim(&ledger, ignored.clone()).await, Claim::Stored);
    assert!(taken(&ledger).await.is_empty());
    assert_eq!(
        claim(&ledger, ignored).await,
        Claim::Duplicate { reply: None }
    );
    assert_eq!(in_state(&ledger, State::Ignored).await, 1);
}

pub async fn f3_an_ignored_event_is_revived_by_who_takes_its_type<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let batch = vec![
        Post::new("1").strict().ignored(),
        Post::new("2").event_type("other").strict(),
    ];
    assert_eq!(
        ledger.claim(batch).await.unwrap(),
        [Claim::Stored, Claim::Stored]
    );
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::Revived
    );
    let leased = take(&ledger).await;
    assert_eq!(leased.event.event_type.as_str(), TYPE);
    done(&ledger, leased.lease).await;
}

pub async fn a12_contention_is_counted_apart<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    store_all(&ledger, [Post::new("1").strict()]).await;
    for contended in 0..3 {
        let leased = take(&ledger).await;
        assert_eq!(
            (leased.failures, leased.crashes, leased.contended),
            (0, 0, contended)
        );
        let blameless = failure(Next::Retry(Duration::ZERO)).uncounted();
        assert!(ledger.fail(leased.lease, blameless).await.unwrap());
    }
    let leased = take(&ledger).await;
    let counted = failure(Next::Retry(Duration::ZERO));
    assert!(ledger.fail(leased.lease, counted).await.unwrap());
    let leased = take(&ledger).await;
    assert_eq!((leased.failures, leased.contended), (1, 3));
}
