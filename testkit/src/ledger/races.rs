//! Races: any number of claimants, one winner.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{Completion, Ledger, Search};
use webhook_core::{Claim, NewEvent, State};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{
    claim, done, found, in_state, lapse, leased, limits, prepared, stored, take, want,
};

async fn race<S: Store>(ledgers: &[S::Ledger], claims: usize) -> (usize, usize) {
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(claims) {
        let (ledger, event) = (ledger.clone(), Post::new("evt_1").strict());
        race.spawn(async move { claim(&ledger, event).await });
    }
    let claims = race.join_all().await;
    let count = |wanted: Claim| claims.iter().filter(|claim| **claim == wanted).count();
    (count(Claim::Stored), count(Claim::InFlight))
}

pub async fn two_concurrent_claims_have_one_winner<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ledgers = [ledger.clone()];
    assert_eq!(race::<S>(&ledgers, 2).await, (1, 1));
    assert_eq!(in_state(&ledger, State::Pending).await, 1);
}

pub async fn fifty_claims_on_two_ledgers_have_one_winner<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    assert_eq!(race::<S>(&ledgers, 50).await, (1, 49));
    assert_eq!(in_state(&ledgers[0], State::Pending).await, 1);
    assert_eq!(store.keys().await, 1);
}

pub async fn c3_overlapping_batches_do_not_deadlock<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    for round in 0..10 {
        let mut race = JoinSet::new();
        for (way, ledger) in (0..4).zip(ledgers.iter().cycle()) {
            let mut batch: Vec<NewEvent> = (0..20)
                .map(|n| {
                    // Ids and contents pair up differently in every second batch.
                    let content = if way % 2 == 0 { n } else { 19 - n };
                    Post::new(&format!("{round}-{n}")).content(format!("{round}-{content}"))
                })
                .map(|post| post.loose())
                .collect();
            if way > 1 {
                batch.reverse();
            }
            let ledger = ledger.clone();
            race.spawn(async move { ledger.claim(batch).await.unwrap() });
        }
        let claims = race.join_all().await.concat();
        let stored = claims
            .iter()
            .filter(|claim| **claim == Claim::Stored)
            .count();
        assert!((1..=20).contains(&stored), "{stored}");
    }
    // Each event has both of its keys, and nobody has another.
    let events = u64::try_from(stored(&ledgers[0]).await).unwrap();
    assert_eq!(store.keys().await, 2 * events);
}

/// X1: a `begin` that is cancelled in flight must leave no connection that later claims vanish in.
pub async fn a1_aborted_begins_hide_no_claim<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    // Another process, which sees what is committed and nothing else.
    let other = prepared(&*store).await;
    for round in 0..60 {
        let lease = leased(&ledger, Post::new(&format!("held-{round}")).strict()).await;
        let begin = tokio::spawn({
            let ledger = ledger.clone();
            async move {
                let tx = ledger.begin(lease, limits()).await;
                std::future::pending::<()>().await;
                drop(tx);
            }
        });
        tokio::time::sleep(Duration::from_micros(u64::try_from(round).unwrap() * 61)).await;
        begin.abort();
        let _ = begin.await;
        let event = Post::new(&format!("evt_{round}"))
            .event_type("other")
            .strict();
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
        let seen = Search::default().event_type("other".to_owned());
        assert_eq!(found(&other, seen).await.len(), round + 1);
    }
}

pub async fn a1_an_abandoned_claim_is_whole_or_absent<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for round in 0..60u64 {
        let post = Post::new(&format!("evt_{round}")).content(round.to_string());
        let abandoned = tokio::spawn({
            let (ledger, event) = (ledger.clone(), post.loose());
            async move { ledger.claim(vec![event]).await }
        });
        tokio::time::sleep(Duration::from_micros(round * 41)).await;
        abandoned.abort();
        let _ = abandoned.await;
        let again = claim(&ledger, post.loose()).await;
        assert!(
            matches!(again, Claim::Stored | Claim::InFlight),
            "{again:?}"
        );
    }
    assert_eq!(in_state(&ledger, State::Pending).await, 60);
    assert_eq!(store.keys().await, 120);
}

pub async fn a1_the_last_handle_may_be_dropped_anywhere<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("evt_1").strict()).await;
    let tx = ledger.begin(lease, limits()).await.unwrap();
    drop(ledger);
    // Outside of any runtime, with a transaction open.
    std::thread::spawn(move || drop(tx)).join().unwrap();
    let ledger = prepared(&*store).await;
    assert!(ledger.begin(lease, limits()).await.unwrap().is_some());
    let closed = ledger.clone();
    drop(ledger);
    closed.close().await;
    assert!(
        closed
            .claim(vec![Post::new("evt_2").strict()])
            .await
            .is_err()
    );
}

/// A worker is gone, and all others see it at once.
pub async fn an_expired_lease_has_one_heir<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let lost = leased(&ledgers[0], Post::new("1").strict()).await;
    lapse(&*store).await;
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(8) {
        let ledger = ledger.clone();
        race.spawn(async move { ledger.take(want()).await.unwrap().events });
    }
    let heirs = race.join_all().await.concat();
    // All of them may have looked away while one had it locked; then it is still there.
    let heir = match heirs.as_slice() {
        [] => take(&ledgers[0]).await,
        [heir] => heir.clone(),
        more => panic!("{} heirs", more.len()),
    };
    assert_eq!((heir.lease.inbox(), heir.crashes), (lost.inbox(), 1));
    assert!(heir.lease.token() > lost.token());
}

/// The holder completes just as its lease runs out.
pub async fn a_completion_and_a_takeover_exclude_each_other<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    for round in 0..20 {
        let event = Post::new(&round.to_string()).strict();
        let mut brief = want();
        brief.lease = Duration::from_millis(20);
        assert_eq!(claim(&ledgers[0], event).await, Claim::Stored);
        let mut taken = ledgers[0].take(brief).await.unwrap().events;
        let lease = taken.remove(0).lease;
        tokio::time::sleep(Duration::from_millis(10 + round)).await;
        let [one, two] = ledgers.clone();
        let (completed, taken) = tokio::join!(
            tokio::spawn(async move { one.complete(lease, Completion::default()).await.unwrap() }),
            tokio::spawn(async move { two.take(want()).await.unwrap().events }),
        );
        let (completed, mut taken) = (completed.unwrap(), taken.unwrap());
        if taken.is_empty() && !completed {
            taken = ledgers[0].take(want()).await.unwrap().events;
        }
        assert_eq!(taken.len(), usize::from(!completed), "round {round}");
        for leased in taken {
            done(&ledgers[1], leased.lease).await;
        }
    }
}

/// Deliveries go on coming while the event runs and completes.
pub async fn no_claim_beside_a_completion_wins<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    for round in 0..10 {
        let post = Post::new(&round.to_string()).content(round.to_string());
        let lease = leased(&ledgers[0], post.loose()).await;
        let mut race = JoinSet::new();
        for ledger in ledgers.iter().cycle().take(6) {
            let (ledger, event) = (ledger.clone(), post.loose());
            race.spawn(async move { claim(&ledger, event).await });
        }
        done(&ledgers[0], lease).await;
        for claimed in race.join_all().await {
            let known = matches!(claimed, Claim::InFlight | Claim::Duplicate { .. });
            assert!(known, "{claimed:?}");
        }
    }
    assert_eq!(in_state(&ledgers[0], State::Completed).await, 10);
}
