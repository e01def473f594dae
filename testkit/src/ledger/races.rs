//! Races: any number of claimants, one winner.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::ledger::{Ledger, Search};
use webhook_core::{Claim, NewEvent, State};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{claim, found, in_state, leased, limits, prepared, stored};

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
