//! What cases are made of: the steps that most of them begin with.
//!
//! Public for the tests of a store's own, which see what is not every store's.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use webhook_core::ledger::{
    Check, CheckVerdict, Committed, Completion, Failure, Found, Inline, Lease, Leased, Ledger,
    LedgerError, LedgerTx, Next, Registration, Search, Take, TxLimits,
};
use webhook_core::{Claim, Clock, NewEvent, State};

use crate::ledger::post::{ENDPOINT, TYPE};
use crate::ledger::store::{Act, Store, Tx};

/// A ledger on `store`, ready for events.
pub async fn prepared<S: Store>(store: &S) -> S::Ledger {
    let ledger = store.open().await;
    ledger.prepare(Registration::default()).await.unwrap();
    ledger
}

/// Claim one event.
pub async fn claim<L: Ledger>(ledger: &L, event: NewEvent) -> Claim {
    ledger.claim(vec![event]).await.unwrap().remove(0)
}

/// At most ten events of [`ENDPOINT`] and [`TYPE`], for 30 seconds each.
pub fn want() -> Take {
    Take::new(ENDPOINT, vec![TYPE.to_owned()], LEASE)
        .at_most(10)
        .max_crashes(3)
}

/// Lease the only event that is due.
pub async fn take<L: Ledger>(ledger: &L) -> Leased {
    let mut events = ledger.take(want()).await.unwrap().events;
    assert_eq!(events.len(), 1);
    events.remove(0)
}

/// See that nothing is due.
pub async fn nothing_is_due<L: Ledger>(ledger: &L) {
    assert!(ledger.take(want()).await.unwrap().events.is_empty());
}

/// Claim one event and lease it.
pub async fn leased<L: Ledger>(ledger: &L, event: NewEvent) -> Lease {
    assert_eq!(claim(ledger, event).await, Claim::Stored);
    take(ledger).await.lease
}

/// Claim one event, lease it and complete it.
pub async fn completed<L: Ledger>(ledger: &L, event: NewEvent) -> Lease {
    let lease = leased(ledger, event).await;
    done(ledger, lease).await;
    lease
}

/// Complete a leased event.
pub async fn done<L: Ledger>(ledger: &L, lease: Lease) {
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
}

/// A failure that counts.
pub fn failure(next: Next) -> Failure {
    Failure::new("class: public words", next)
}

/// See that who holds this lease can do nothing, whatever it tries.
pub async fn is_powerless<L: Ledger>(ledger: &L, lease: Lease) {
    let retry = failure(Next::Retry(Duration::ZERO));
    assert!(ledger.begin(lease, limits()).await.unwrap().is_none());
    assert!(!ledger.complete(lease, Completion::default()).await.unwrap());
    assert!(!ledger.fail(lease, retry).await.unwrap());
    let length = Duration::from_mins(1);
    assert!(ledger.renew(vec![lease], length).await.unwrap().is_empty());
    ledger.hand_back(vec![lease]).await.unwrap();
}

/// Five seconds a statement, two a lock.
pub fn limits() -> TxLimits {
    TxLimits::new(Duration::from_secs(5), LEASE).lock(Duration::from_secs(2))
}

/// Open a transaction and have an effect in it.
pub async fn begun<S: Store>(ledger: &S::Ledger, lease: Lease) -> Tx<S> {
    let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    S::act(tx.conn(), Act::Effect).await.unwrap();
    tx
}

/// Complete and commit.
///
/// # Errors
///
/// The ledger's.
pub async fn complete<T: LedgerTx>(tx: T) -> Result<Committed, LedgerError> {
    tx.complete(Completion::default()).await
}

/// The transaction of an inline claim that must be won.
pub fn granted<T>(inline: Inline<T>) -> (T, Leased) {
    match inline {
        Inline::Granted(tx, leased) => (tx, *leased),
        Inline::Settled(claim) => panic!("settled: {claim:?}"),
        _ => panic!(),
    }
}

/// The claim of an inline claim that must be lost.
pub fn settled<T>(inline: Inline<T>) -> Claim {
    match inline {
        Inline::Settled(claim) => claim,
        _ => panic!("granted"),
    }
}

/// Let so much time pass on the store's clock.
pub async fn pass<S: Store>(store: &S, time: Duration) {
    store.shift(i64::try_from(time.as_millis()).unwrap()).await;
}

/// Let all leases of [`want`] run out.
pub async fn lapse<S: Store>(store: &S) {
    pass(store, LEASE + Duration::from_millis(1)).await;
}

/// Everything that is stored and that `what` asks for.
pub async fn found<L: Ledger>(ledger: &L, what: Search) -> Vec<Found> {
    let what = what.limit(EVERYTHING);
    ledger.find(what).await.unwrap()
}

/// How many events are stored.
pub async fn stored<L: Ledger>(ledger: &L) -> usize {
    found(ledger, Search::default()).await.len()
}

/// How many events are in this state.
pub async fn in_state<L: Ledger>(ledger: &L, state: State) -> usize {
    let what = Search::default().state(state);
    found(ledger, what).await.len()
}

/// The system's clock, so many seconds off.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "one number")]
pub struct Off(pub i64);

impl Clock for Off {
    fn unix_secs(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "to be compared with a store's")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(since.as_secs()).unwrap() + self.0
    }
}

/// What the ledger finds beside a clock that is so many seconds off.
pub async fn check<L: Ledger>(ledger: &L, off: i64) -> Vec<Check> {
    ledger.check(Arc::new(Off(off))).await
}

/// What was found of this name, once.
pub fn verdict(checks: &[Check], name: &str) -> CheckVerdict {
    let named: Vec<_> = checks.iter().filter(|check| check.name == name).collect();
    assert_eq!(named.len(), 1, "{name}: {checks:?}");
    named[0].verdict
}

/// How many deliveries are in quarantine and not decided on.
pub async fn held<L: Ledger>(ledger: &L) -> usize {
    let rows = ledger.quarantined(None, None, EVERYTHING).await.unwrap();
    rows.len()
}

const LEASE: Duration = Duration::from_secs(30);
const EVERYTHING: u32 = 10_000;
