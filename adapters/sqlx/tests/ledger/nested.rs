//! Transactions that a handler nests by sqlx in the one it is lent.

use std::sync::Arc;

use webhook_core::State;
use webhook_core::ledger::{Committed, LedgerTx, RolledBack};
use webhook_testkit::ledger::steps::{begun, complete, in_state, leased, prepared};
use webhook_testkit::ledger::{Act, Post};

use crate::store::{End, Sql};

cases! {
    a3_a_leaked_nested_transaction_is_an_escape
    a3_a_failed_handler_that_undid_a_part_is_undone
    a4_nested_transactions_are_savepoints
}

/// X5: `COMMIT` would only release its savepoint and say that all is well.
async fn a3_a_leaked_nested_transaction_is_an_escape<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    S::nest(tx.conn(), "insert into effect values ('nested')", End::Leak)
        .await
        .unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Escaped);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 1);
}

async fn a3_a_failed_handler_that_undid_a_part_is_undone<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    S::run(tx.conn(), "savepoint s").await.unwrap();
    S::act(tx.conn(), Act::Effect).await.unwrap();
    S::run(tx.conn(), "rollback to s").await.unwrap();
    assert_eq!(tx.rollback().await, RolledBack::Undone);
    assert_eq!(store.effects().await, 0);
}

async fn a4_nested_transactions_are_savepoints<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    for end in [
        End::Commit,
        End::Rollback,
        End::Drop,
        End::Commit,
        End::Drop,
    ] {
        let sql = format!("insert into effect values ('{end:?}')");
        S::nest(tx.conn(), &sql, end).await.unwrap();
    }
    assert_eq!(store.effects().await, 0);
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 3);
    assert_eq!(
        store
            .number("select count(*) from effect where event = 'Commit'")
            .await,
        2
    );
}
