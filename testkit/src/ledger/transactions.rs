//! A handler's effect and its event's completion, whatever the handler does.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::{Committed, Ledger, LedgerTx, RolledBack};
use webhook_core::{Claim, State};

use crate::ledger::post::Post;
use crate::ledger::steps::{
    begun, claim, complete, in_state, lapse, leased, limits, prepared, take, want,
};
use crate::ledger::{Act, Store, Tx};

pub async fn effect_and_completion_commit_together<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Completed).await
        ),
        (0, 0)
    );
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Completed).await
        ),
        (1, 1)
    );
}

pub async fn a_rolled_back_attempt_leaves_the_lease<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    begun::<S>(&ledger, lease).await.rollback().await;
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

/// The handler does `acts`, and what it did before stands or not.
async fn escapes<S: Store>(store: &S, acts: &[Act], stands: u64) {
    let ledger = prepared(store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    let is_held = is_refused::<S>(&mut tx, acts).await;
    let committed = complete(tx).await.unwrap();
    if is_held {
        assert_eq!(committed, Committed::Committed);
        return;
    }
    assert_eq!(committed, Committed::Escaped);
    assert_eq!(store.effects().await, stands);
    assert_eq!(in_state(&ledger, State::Processing).await, 1);
    // The next one is not affected.
    let lease = leased(&ledger, Post::new("2").strict()).await;
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, stands + 1);
}

/// Do `acts`. Whether the store lets no handler end its transaction, and refused the first of them.
async fn is_refused<S: Store>(tx: &mut Tx<S>, acts: &[Act]) -> bool {
    for (done, act) in acts.iter().enumerate() {
        match S::act(tx.conn(), *act).await {
            Ok(()) => assert_ne!(*act, Act::Refused),
            Err(_) if *act == Act::Refused => {}
            Err(_) if done == 0 => return true,
            Err(error) => panic!("{act:?}: {error}"),
        }
    }
    false
}

pub async fn a3_a_raw_commit_is_an_escape<S: Store>(store: Arc<S>) {
    escapes(&*store, &[Act::Commit], 1).await;
}

pub async fn a3_a_raw_rollback_is_an_escape<S: Store>(store: Arc<S>) {
    escapes(&*store, &[Act::Rollback], 0).await;
}

pub async fn a3_a_replaced_transaction_is_an_escape<S: Store>(store: Arc<S>) {
    let replaced = [Act::Commit, Act::Begin, Act::Effect];
    escapes(&*store, &replaced, 1).await;
}

/// The handler of event `id` does `acts` beside its effect, swallows their errors, and fails. What the
/// rollback says, and how many effects stand; `None` where no handler can end its transaction.
async fn failed<S: Store>(store: &S, id: usize, acts: &[Act]) -> Option<(RolledBack, u64)> {
    let ledger = prepared(store).await;
    let before = store.effects().await;
    let lease = leased(&ledger, Post::new(&id.to_string()).strict()).await;
    let mut tx = begun::<S>(&ledger, lease).await;
    let is_held = is_refused::<S>(&mut tx, acts).await;
    let rolled_back = tx.rollback().await;
    let stand = store.effects().await - before;
    if is_held {
        assert_eq!((rolled_back, stand), (RolledBack::Undone, 0));
        return None;
    }
    Some((rolled_back, stand))
}

/// Its effect may stand: were it retried, it would be doubled.
pub async fn a3_a_failed_handler_that_committed_has_escaped<S: Store>(store: Arc<S>) {
    let escapes = [
        &[Act::Commit][..],
        &[Act::Commit, Act::Begin],
        &[Act::Rollback, Act::Effect],
        &[Act::Commit, Act::Begin, Act::Refused],
    ];
    for (id, acts) in escapes.into_iter().enumerate() {
        if let Some(end) = failed(&*store, id, acts).await {
            assert_eq!(end, (RolledBack::Escaped, 1), "{acts:?}");
        }
    }
}

pub async fn a3_a_failed_handler_that_did_not_is_undone<S: Store>(store: Arc<S>) {
    let honest = [&[][..], &[Act::Effect], &[Act::Refused], &[Act::Lock]];
    for (id, acts) in honest.into_iter().enumerate() {
        let end = failed(&*store, id, acts).await.unwrap();
        assert_eq!(end, (RolledBack::Undone, 0), "{acts:?}");
    }
}

pub async fn a_lost_lease_commits_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").strict();
    assert_eq!(claim(&ledger, event).await, Claim::Stored);
    let second = Duration::from_secs(1);
    let mut short = want();
    short.lease = second;
    let lease = ledger.take(short).await.unwrap().events.remove(0).lease;
    let mut short = limits();
    short.lease = second;
    let mut tx = ledger.begin(lease, short).await.unwrap().unwrap();
    S::act(tx.conn(), Act::Effect).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::LeaseLost);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );
}

pub async fn a_lost_lease_opens_no_transaction<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    lapse(&*store).await;
    assert!(ledger.begin(lease, limits()).await.unwrap().is_none());
    let next = take(&ledger).await.lease;
    assert!(ledger.begin(lease, limits()).await.unwrap().is_none());
    assert!(ledger.begin(next, limits()).await.unwrap().is_some());
}

pub async fn a_dropped_transaction_releases_its_locks<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..20 {
        // Each waits for the row that the one before has locked.
        let mut tx = begun::<S>(&ledger, lease).await;
        S::act(tx.conn(), Act::Lock).await.unwrap();
        drop(tx);
    }
    let tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 0);
}

pub async fn a_connection_whose_handler_failed_is_clean<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..3 {
        let mut tx = begun::<S>(&ledger, lease).await;
        S::act(tx.conn(), Act::Refused).await.unwrap_err();
        tx.rollback().await;
        assert_eq!(store.effects().await, 0);
    }
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 1);
}

async fn with_a_running_statement<S: Store>(store: &S, end: impl AsyncFnOnce(Tx<S>)) {
    let ledger = prepared(store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut long = limits();
    long.statement = Duration::from_mins(1);
    let mut tx = ledger.begin(lease, long).await.unwrap().unwrap();
    S::act(tx.conn(), Act::Lock).await.unwrap();
    let running = S::act(tx.conn(), Act::Slow);
    let cut_off = tokio::time::timeout(Duration::from_millis(300), running);
    assert!(cut_off.await.is_err());
    end(tx).await;
    // Its locks are released within the time that another may wait for one.
    let mut tx = begun::<S>(&ledger, lease).await;
    S::act(tx.conn(), Act::Lock).await.unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 1);
}

/// X6: the deadline has passed and the caller has been answered.
pub async fn a5_a_running_statement_is_ended_by_a_rollback<S: Store>(store: Arc<S>) {
    with_a_running_statement(&*store, async |tx| {
        tx.rollback().await;
    })
    .await;
}

pub async fn a5_a_running_statement_is_ended_by_a_drop<S: Store>(store: Arc<S>) {
    with_a_running_statement(&*store, async |tx| drop(tx)).await;
}

/// A worker stalls, another takes over, the first wakes up.
pub async fn two_workers_cannot_both_commit<S: Store>(store: Arc<S>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let first = leased(&ledgers[0], Post::new("1").strict()).await;
    lapse(&*store).await;
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
    assert_eq!(store.effects().await, 1);
}
