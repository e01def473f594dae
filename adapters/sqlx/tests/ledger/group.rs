//! Group commit on PostgreSQL: claims of one process share statements and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use webhook_core::Claim;
use webhook_core::ledger::{Ledger, LedgerTx};
use webhook_testkit::ledger::steps::{claim, granted, limits, prepared};
use webhook_testkit::ledger::{Post, Store};

use crate::store::{Postgres, Sql};

on_postgres! {
    a_crowd_shares_statements
    another_process_hears_of_an_arrival
    c2_an_open_transaction_delays_only_its_own_key
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
