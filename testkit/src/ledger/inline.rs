//! Claim, effect and completion in one transaction, inside the request.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use webhook_core::ledger::{
    Committed, Completion, Inline, Ledger, LedgerTx, Next, Replay, Replayable, Search,
    TRANSACTION_ESCAPED,
};
use webhook_core::{Claim, Quarantine, Reply, State};

use crate::ledger::post::Post;
use crate::ledger::steps::{
    claim, complete, failure, found, granted, held, in_state, leased, limits, prepared, settled,
    stored,
};
use crate::ledger::{Act, Store};

pub async fn a_granted_claim_commits_with_its_effect<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").account("acct").loose();
    let inline = ledger.begin_inline(event.clone(), limits()).await.unwrap();
    let (mut tx, leased) = granted(inline);
    assert_eq!(leased.event.id, *event.id());
    assert_eq!(leased.event.payload, event.payload());
    assert!(leased.event.received_at > 1_700_000_000);
    assert_eq!((leased.failures, leased.crashes), (0, 0));
    S::act(tx.conn(), Act::Effect).await.unwrap();
    let reply = Reply::json("{}");
    let done = Completion::new(reply.clone(), event.canonical());
    assert_eq!(tx.complete(done).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 1);
    assert_eq!(in_state(&ledger, State::Completed).await, 1);
    let duplicate = Claim::Duplicate { reply: Some(reply) };
    let again = ledger.begin_inline(event.clone(), limits()).await.unwrap();
    assert_eq!(settled(again), duplicate);
    assert_eq!(claim(&ledger, event).await, duplicate);
}

async fn is_untouched<S: Store>(store: &S, ledger: &S::Ledger) {
    assert_eq!(store.effects().await, 0);
    assert_eq!(store.keys().await, 0);
    assert_eq!((stored(ledger).await, held(ledger).await), (0, 0));
}

pub async fn a_rollback_leaves_no_trace<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for _ in 0..3 {
        let event = Post::new("1").loose();
        let (mut tx, _) = granted(ledger.begin_inline(event, limits()).await.unwrap());
        S::act(tx.conn(), Act::Effect).await.unwrap();
        tx.rollback().await;
        is_untouched(&*store, &ledger).await;
    }
}

pub async fn a_dropped_transaction_leaves_no_trace<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").loose();
    let (mut tx, _) = granted(ledger.begin_inline(event.clone(), limits()).await.unwrap());
    S::act(tx.conn(), Act::Effect).await.unwrap();
    drop(tx);
    // It waits for the connection to be closed, and no longer.
    let (tx, _) = granted(ledger.begin_inline(event, limits()).await.unwrap());
    tx.rollback().await;
    is_untouched(&*store, &ledger).await;
}

pub async fn a3_an_escaped_claim_is_dead_until_an_operator_says_so<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").loose();
    let escaped = event.clone().escaped();
    assert_eq!(claim(&ledger, escaped.clone()).await, Claim::Stored);
    for again in [event, escaped] {
        let duplicate = Claim::Duplicate { reply: None };
        assert_eq!(claim(&ledger, again).await, duplicate);
    }
    let dead = found(&ledger, Search::default().state(State::Dead)).await;
    let error = dead[0].last_error.as_deref();
    assert_eq!((dead.len(), error), (1, Some(TRANSACTION_ESCAPED)));
    let replay = ledger.replay(dead[0].inbox, "anna".to_owned(), Replayable::Unfinished);
    assert_eq!(replay.await.unwrap(), Replay::Waiting);
}

pub async fn a3_an_escaped_claim_revives_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let dead = leased(&ledger, Post::new("dead").loose()).await;
    let quiet = Duration::ZERO;
    assert!(
        ledger
            .fail(dead, failure(Next::Dead { quiet }))
            .await
            .unwrap()
    );
    let ignored = Post::new("ignored").content("x").loose();
    assert_eq!(
        claim(&ledger, ignored.clone().ignored()).await,
        Claim::Stored
    );
    for event in [Post::new("dead").loose(), ignored] {
        let duplicate = Claim::Duplicate { reply: None };
        assert_eq!(claim(&ledger, event.escaped()).await, duplicate);
    }
    assert_eq!(in_state(&ledger, State::Pending).await, 0);
}

pub async fn a_concurrent_duplicate_waits_and_is_a_duplicate<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let event = Post::new("1").loose();
    let (tx, _) = granted(
        ledgers[0]
            .begin_inline(event.clone(), limits())
            .await
            .unwrap(),
    );
    let waiting = tokio::spawn({
        let ledger = ledgers[1].clone();
        async move { settled(ledger.begin_inline(event, limits()).await.unwrap()) }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waiting.is_finished());
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(waiting.await.unwrap(), Claim::Duplicate { reply: None });
}

pub async fn a_concurrent_duplicate_wins_after_a_rollback<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let event = Post::new("1").loose();
    let (tx, _) = granted(
        ledgers[0]
            .begin_inline(event.clone(), limits())
            .await
            .unwrap(),
    );
    let waiting = tokio::spawn({
        let ledger = ledgers[1].clone();
        async move { granted(ledger.begin_inline(event, limits()).await.unwrap()).0 }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waiting.is_finished());
    tx.rollback().await;
    assert_eq!(
        complete(waiting.await.unwrap()).await.unwrap(),
        Committed::Committed
    );
    assert_eq!(in_state(&ledgers[0], State::Completed).await, 1);
}

pub async fn c6_waiting_is_bounded<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").loose();
    let (tx, _) = granted(ledger.begin_inline(event.clone(), limits()).await.unwrap());
    let from = Instant::now();
    let short = limits().lock(Duration::from_millis(200));
    let refused = ledger.begin_inline(event, short).await.err().unwrap();
    assert!(refused.is_contention(), "{refused:?}");
    assert!(from.elapsed() < Duration::from_secs(4));
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

pub async fn a_lost_inline_claim_is_judged<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").loose();
    let (tx, _) = granted(ledger.begin_inline(event, limits()).await.unwrap());
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    let replayed = Post::new("2").loose();
    let claim = settled(ledger.begin_inline(replayed, limits()).await.unwrap());
    assert_eq!(claim, Claim::Quarantined(Quarantine::Replayed));
    assert_eq!(held(&ledger).await, 1);
    let again = Post::new("dead").content("dead").loose();
    let lease = leased(&ledger, again.clone()).await;
    let quiet = Duration::ZERO;
    let dead = failure(Next::Dead { quiet });
    assert!(ledger.fail(lease, dead).await.unwrap());
    let claim = settled(ledger.begin_inline(again, limits()).await.unwrap());
    assert_eq!(claim, Claim::Revived);
    assert_eq!(in_state(&ledger, State::Pending).await, 1);
}

pub async fn an_event_in_the_inbox_is_not_run_inline<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").loose();
    assert_eq!(claim(&ledger, event.clone()).await, Claim::Stored);
    let inline = ledger.begin_inline(event, limits()).await.unwrap();
    assert_eq!(settled(inline), Claim::InFlight);
}

pub async fn ten_inline_claims_have_one_winner<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(10) {
        let ledger = ledger.clone();
        race.spawn(async move {
            let event = Post::new("1").loose();
            match ledger.begin_inline(event, limits()).await.unwrap() {
                Inline::Granted(mut tx, _) => {
                    S::act(tx.conn(), Act::Effect).await.unwrap();
                    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
                    true
                }
                settled => {
                    assert!(matches!(settled, Inline::Settled(Claim::Duplicate { .. })));
                    false
                }
            }
        });
    }
    let won = race.join_all().await;
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    assert_eq!(store.effects().await, 1);
}

pub async fn a1_an_abandoned_inline_claim_leaves_no_trace<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for round in 0..30u64 {
        let event = Post::new("1").loose();
        let abandoned = tokio::spawn({
            let (ledger, event) = (ledger.clone(), event.clone());
            async move {
                let (mut tx, _) = granted(ledger.begin_inline(event, limits()).await.unwrap());
                S::act(tx.conn(), Act::Effect).await.unwrap();
                std::future::pending::<()>().await;
            }
        });
        tokio::time::sleep(Duration::from_micros(round * 200)).await;
        abandoned.abort();
        let _ = abandoned.await;
        let (tx, _) = granted(ledger.begin_inline(event, limits()).await.unwrap());
        tx.rollback().await;
        is_untouched(&*store, &ledger).await;
    }
}
