//! A handler's effect and its event's completion, whatever the handler does.

use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::{Committed, Ledger, LedgerTx, RolledBack};

use crate::post::Post;
use crate::store::{
    End, Store, begun, complete, effects, in_state, leased, limits, prepared, set_due, take, want,
};

cases! {
    effect_and_completion_commit_together
    a_rolled_back_attempt_leaves_the_lease
    a3_a_raw_commit_is_an_escape
    a3_a_raw_rollback_is_an_escape
    a3_a_replaced_transaction_is_an_escape
    a3_a_leaked_nested_transaction_is_an_escape
    a3_a_failed_handler_that_committed_has_escaped
    a3_a_failed_handler_that_did_not_is_undone
    a4_nested_transactions_are_savepoints
    a_lost_lease_commits_nothing
    a_lost_lease_opens_no_transaction
    a_dropped_transaction_releases_its_locks
    a_connection_whose_handler_failed_is_clean
    a5_a_running_statement_is_ended_by_a_rollback
    a5_a_running_statement_is_ended_by_a_drop
    two_workers_cannot_both_commit
}

async fn effect_and_completion_commit_together<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(
        (effects(&*store).await, in_state(&*store, "completed").await),
        (0, 0)
    );
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(
        (effects(&*store).await, in_state(&*store, "completed").await),
        (1, 1)
    );
}

async fn a_rolled_back_attempt_leaves_the_lease<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    begun::<S>(&ledger, lease).await.rollback().await;
    assert_eq!(
        (
            effects(&*store).await,
            in_state(&*store, "processing").await
        ),
        (0, 1)
    );
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(effects(&*store).await, 1);
}

/// The handler runs `sql`, and what it did before stands or not.
async fn escapes<S: Store>(store: &S, sql: &[&str], stands: i64) {
    let ledger = prepared(store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    for sql in sql {
        S::run(tx.conn(), sql).await.unwrap();
    }
    assert_eq!(complete(tx).await.unwrap(), Committed::Escaped);
    assert_eq!(effects(store).await, stands);
    assert_eq!(in_state(store, "processing").await, 1);
    // The next one is not affected.
    let lease = leased(&ledger, Post::new("2").strict()).await;
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(effects(store).await, stands + 1);
}

async fn a3_a_raw_commit_is_an_escape<S: Store>(store: Arc<S>) {
    escapes(&*store, &["commit"], 1).await;
}

async fn a3_a_raw_rollback_is_an_escape<S: Store>(store: Arc<S>) {
    escapes(&*store, &["rollback"], 0).await;
}

async fn a3_a_replaced_transaction_is_an_escape<S: Store>(store: Arc<S>) {
    let replaced = ["commit", "begin", "insert into effect values ('never')"];
    escapes(&*store, &replaced, 1).await;
}

/// The handler of event `id` runs `statements` beside its effect, swallows their errors, and fails.
/// What the rollback says, and how many effects stand.
async fn failed<S: Store>(store: &S, id: usize, statements: &[&str]) -> (RolledBack, i64) {
    store.execute("delete from effect").await;
    let ledger = prepared(store).await;
    let lease = leased(&ledger, Post::new(&id.to_string()).strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    for statement in statements {
        let _ = S::run(tx.conn(), statement).await;
    }
    let rolled_back = tx.rollback().await;
    (rolled_back, effects(store).await)
}

const ONE_MORE: &str = "insert into effect values ('2')";
const WRONG: &str = "insert into nowhere values (1)";

/// Its effect may stand: were it retried, it would be doubled.
async fn a3_a_failed_handler_that_committed_has_escaped<S: Store>(store: Arc<S>) {
    let escapes = [
        &["commit"][..],
        &["commit", "begin"],
        &["rollback", ONE_MORE],
        &["commit", "begin", WRONG],
    ];
    for (id, statements) in escapes.into_iter().enumerate() {
        let expected = (RolledBack::Escaped, 1);
        assert_eq!(
            failed(&*store, id, statements).await,
            expected,
            "{statements:?}"
        );
    }
}

async fn a3_a_failed_handler_that_did_not_is_undone<S: Store>(store: Arc<S>) {
    let honest = [
        &[][..],
        &[ONE_MORE],
        &[WRONG],
        &["savepoint s", ONE_MORE, "rollback to s"],
    ];
    for (id, statements) in honest.into_iter().enumerate() {
        let expected = (RolledBack::Undone, 0);
        assert_eq!(
            failed(&*store, id, statements).await,
            expected,
            "{statements:?}"
        );
    }
}

/// X5: `COMMIT` would only release its savepoint and say that all is well.
async fn a3_a_leaked_nested_transaction_is_an_escape<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    S::nest(tx.conn(), "insert into effect values ('nested')", End::Leak)
        .await
        .unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Escaped);
    assert_eq!(
        (
            effects(&*store).await,
            in_state(&*store, "processing").await
        ),
        (0, 1)
    );
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(effects(&*store).await, 1);
}

async fn a4_nested_transactions_are_savepoints<S: Store>(store: Arc<S>) {
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
    assert_eq!(effects(&*store).await, 0);
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(effects(&*store).await, 3);
    assert_eq!(
        store
            .number("select count(*) from effect where event = 'Commit'")
            .await,
        2
    );
}

async fn a_lost_lease_commits_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut short = limits();
    short.lease = Duration::from_millis(100);
    set_due(&*store, lease, 100).await;
    let mut tx = ledger.begin(lease, short).await.unwrap().unwrap();
    S::run(tx.conn(), "insert into effect values ('1')")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::LeaseLost);
    assert_eq!(
        (
            effects(&*store).await,
            in_state(&*store, "processing").await
        ),
        (0, 1)
    );
}

async fn a_lost_lease_opens_no_transaction<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    set_due(&*store, lease, -1).await;
    assert!(ledger.begin(lease, limits()).await.unwrap().is_none());
    let next = take(&ledger).await.lease;
    assert!(ledger.begin(lease, limits()).await.unwrap().is_none());
    assert!(ledger.begin(next, limits()).await.unwrap().is_some());
}

async fn a_dropped_transaction_releases_its_locks<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    store.execute("insert into effect values ('row')").await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..20 {
        let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
        // Each waits for the row that the one before has locked.
        S::run(tx.conn(), "update effect set event = 'changed'")
            .await
            .unwrap();
        drop(tx);
    }
    assert_eq!(
        store
            .number("select count(*) from effect where event = 'row'")
            .await,
        1
    );
    let tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

async fn a_connection_whose_handler_failed_is_clean<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    for sql in [
        "select * from nowhere",
        "insert into effect values (null)",
        "not sql",
    ] {
        let mut tx = begun::<S>(&ledger, lease).await;
        S::run(tx.conn(), sql).await.unwrap_err();
        tx.rollback().await;
        assert_eq!(effects(&*store).await, 0);
    }
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(effects(&*store).await, 1);
}

/// A statement of many seconds, in both dialects.
const SLOW: &str = "
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000)
    select count(*) from n";

async fn with_a_running_statement<S: Store>(
    store: &S,
    end: impl AsyncFnOnce(<S::L as Ledger>::Tx),
) {
    let ledger = prepared(store).await;
    store.execute("insert into effect values ('row')").await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut long = limits();
    long.statement = Duration::from_mins(1);
    let mut tx = ledger.begin(lease, long).await.unwrap().unwrap();
    let lock = "update effect set event = 'first'";
    S::run(tx.conn(), lock).await.unwrap();
    let running = tokio::time::timeout(Duration::from_millis(300), S::run(tx.conn(), SLOW));
    assert!(running.await.is_err());
    end(tx).await;
    // Its locks are released within the time that another may wait for one.
    let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    let lock = "update effect set event = 'second'";
    S::run(tx.conn(), lock).await.unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    let second = "select count(*) from effect where event = 'second'";
    assert_eq!(store.number(second).await, 1);
}

/// X6: the deadline has passed and the caller has been answered.
async fn a5_a_running_statement_is_ended_by_a_rollback<S: Store>(store: Arc<S>) {
    with_a_running_statement(&*store, async |tx| {
        tx.rollback().await;
    })
    .await;
}

async fn a5_a_running_statement_is_ended_by_a_drop<S: Store>(store: Arc<S>) {
    with_a_running_statement(&*store, async |tx| drop(tx)).await;
}

/// A worker stalls, another takes over, the first wakes up.
async fn two_workers_cannot_both_commit<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let first = leased(&ledgers[0], Post::new("1").strict()).await;
    set_due(&*store, first, -1).await;
    let second = ledgers[1]
        .take(want())
        .await
        .unwrap()
        .events
        .remove(0)
        .lease;
    let tx = begun::<S>(&ledgers[1], second).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert!(ledgers[0].begin(first, limits()).await.unwrap().is_none());
    assert_eq!(effects(&*store).await, 1);
}
