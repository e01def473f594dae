//! Group commit: claims of one process share statements and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use webhook_core::Claim;
use webhook_core::ledger::{Completion, Ledger, LedgerTx};

use crate::post::Post;
use crate::store::{Postgres, Store, claim, granted, in_state, limits, prepared};

cases! {
    a_crowd_of_claims_is_stored_whole
    a_crowd_of_completions_is_recorded_whole
}

mod only_postgres {
    #[test]
    fn c2_an_open_transaction_delays_only_its_own_key() {
        crate::store::run(super::c2_an_open_transaction_delays_only_its_own_key);
    }

    #[test]
    fn a_crowd_shares_statements() {
        crate::store::run(super::a_crowd_shares_statements);
    }

    #[test]
    fn another_process_hears_of_an_arrival() {
        crate::store::run(super::another_process_hears_of_an_arrival);
    }
}

/// Claim events `0..count` at once.
async fn crowd<L: Ledger>(ledger: &L, count: usize) -> Vec<Claim> {
    let mut claims = JoinSet::new();
    for number in 0..count {
        let (ledger, event) = (ledger.clone(), Post::new(&number.to_string()).strict());
        claims.spawn(async move { claim(&ledger, event).await });
    }
    claims.join_all().await
}

async fn a_crowd_of_claims_is_stored_whole<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(crowd(&ledger, 600).await, vec![Claim::Stored; 600]);
    assert_eq!(in_state(&*store, "pending").await, 600);
    assert_eq!(crowd(&ledger, 600).await, vec![Claim::InFlight; 600]);
}

async fn a_crowd_of_completions_is_recorded_whole<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    crowd(&ledger, 100).await;
    let many = crate::store::want().at_most(100);
    let taken = ledger.take(many).await.unwrap();
    assert_eq!(taken.events.len(), 100);
    let mut completions = JoinSet::new();
    for leased in taken.events {
        let ledger = ledger.clone();
        completions.spawn(async move {
            ledger
                .complete(leased.lease, Completion::default())
                .await
                .unwrap()
        });
    }
    assert_eq!(completions.join_all().await, vec![true; 100]);
    assert_eq!(in_state(&*store, "completed").await, 100);
}

async fn c2_an_open_transaction_delays_only_its_own_key(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    // Somebody's open transaction holds the key of event 0.
    let inline = ledger.begin_inline(Post::new("0").strict(), limits()).await;
    let (tx, _) = granted(inline.unwrap());
    let began = Instant::now();
    let mut claims = JoinSet::new();
    for number in 0..40 {
        let (ledger, event) = (ledger.clone(), Post::new(&number.to_string()).strict());
        claims.spawn(async move {
            let claim = ledger.claim(vec![event]).await;
            (number, claim, began.elapsed())
        });
    }
    let mut others = Duration::ZERO;
    for (number, claim, took) in claims.join_all().await {
        if number == 0 {
            assert!(claim.unwrap_err().is_contention());
        } else {
            assert_eq!(claim.unwrap(), [Claim::Stored]);
            others = others.max(took);
        }
    }
    // They waited for one lock timeout of a batch, not for the transaction.
    assert!(others < Duration::from_millis(900), "{others:?}");
    tx.rollback().await;
}

async fn a_crowd_shares_statements(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    crowd(&ledger, 1).await;
    let before = transactions(&store).await;
    crowd(&ledger, 500).await;
    let together = transactions(&store).await - before;
    // The same events one by one, on a database of its own.
    let alone = Arc::new(Postgres::create().await);
    let ledger = prepared(&*alone).await;
    claim(&ledger, Post::new("0").strict()).await;
    let before = transactions(&alone).await;
    for number in 1..500 {
        claim(&ledger, Post::new(&number.to_string()).strict()).await;
    }
    let one_by_one = transactions(&alone).await - before;
    alone.destroy().await;
    assert!(one_by_one >= 499, "{one_by_one}");
    assert!(together * 5 < one_by_one, "{together} against {one_by_one}");
}

/// Distinct transactions that wrote rows of the inbox.
async fn transactions(store: &Postgres) -> i64 {
    store
        .number("select count(distinct xmin::text) from webhook.inbox")
        .await
}

async fn another_process_hears_of_an_arrival(store: Arc<Postgres>) {
    let (here, there) = (prepared(&*store).await, store.open().await);
    let heard = tokio::spawn(async move { there.arrival().await });
    // Events go on coming; a word may be said before anybody listens.
    for number in 0..100 {
        let event = Post::new(&number.to_string()).strict();
        let endpoint = event.endpoint().clone();
        claim(&here, event).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        if heard.is_finished() {
            assert_eq!(heard.await.unwrap(), endpoint);
            return;
        }
    }
    panic!("nothing was heard");
}
