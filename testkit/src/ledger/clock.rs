//! A store's clock that was set back.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use webhook_core::Claim;
use webhook_core::ledger::{Committed, IdentityRetention, Ledger, Retention};

use crate::ledger::Store;
use crate::ledger::post::{ENDPOINT, Post};
use crate::ledger::steps::{
    begun, claim, complete, completed, done, lapse, leased, nothing_is_due, prepared, stored, take,
    want,
};

pub async fn e4_a_lease_from_a_clock_set_back_has_run_out<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    store.shift(-30 * MINUTE).await;
    nothing_is_due(&ledger).await;
    store.shift(-90 * MINUTE).await;
    let mut long = want();
    long.lease = Duration::from_hours(2);
    assert!(ledger.take(long).await.unwrap().events.is_empty());
    assert_eq!(take(&ledger).await.lease.inbox(), lease.inbox());
}

pub async fn e4_a_pause_from_a_clock_set_back_is_over<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ordered = |id: &str| Post::new(id).content("k").ordered().strict();
    for id in ["1", "2"] {
        assert_eq!(claim(&ledger, ordered(id)).await, Claim::Stored);
    }
    store.shift(-30 * MINUTE).await;
    let want = want().longest_pause(Duration::from_hours(1));
    assert!(ledger.take(want.clone()).await.unwrap().events.is_empty());
    store.shift(-90 * MINUTE).await;
    let patient = want.clone().longest_pause(Duration::from_hours(3));
    assert!(ledger.take(patient).await.unwrap().events.is_empty());
    // One at a time still, in their order, and before what is due since.
    assert_eq!(claim(&ledger, Post::new("3").strict()).await, Claim::Stored);
    for wanted in ["1", "2", "3"] {
        let one = want.clone().at_most(1);
        let taken = ledger.take(one).await.unwrap().events.remove(0);
        assert_eq!(taken.event.id.as_str(), wanted);
        done(&ledger, taken.lease).await;
    }
}

/// The holder works on, whatever the clock does.
pub async fn e4_a_clock_set_back_takes_no_lease_away<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    store.shift(-10 * MINUTE).await;
    let length = Duration::from_secs(30);
    assert_eq!(ledger.renew(vec![lease], length).await.unwrap(), [lease]);
    nothing_is_due(&ledger).await;
    let tx = begun::<S>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 1);
}

/// A renewed lease is as long as it was asked to be, not as long as the clock was wrong.
pub async fn e4_a_renewal_ends_a_clocks_error<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    store.shift(-10 * MINUTE).await;
    let length = Duration::from_secs(30);
    assert_eq!(ledger.renew(vec![lease], length).await.unwrap(), [lease]);
    lapse(&*store).await;
    let again = take(&ledger).await;
    assert_eq!((again.lease.inbox(), again.crashes), (lease.inbox(), 1));
    assert!(again.lease.token() > lease.token());
}

pub async fn e4_a_clock_set_back_makes_nothing_new<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    completed(&ledger, post.loose()).await;
    for days in [1, 1000] {
        store.shift(-24 * 60 * MINUTE * days).await;
        let duplicate = Claim::Duplicate { reply: None };
        assert_eq!(claim(&ledger, post.loose()).await, duplicate);
    }
    // Nothing of what is still to come is old.
    for identities in [
        IdentityRetention::For(Duration::from_hours(1)),
        IdentityRetention::WhileKeysLive(Duration::from_hours(1)),
    ] {
        let what = Retention::new(ENDPOINT, identities);
        assert!(ledger.prune(what).await.unwrap().is_nothing());
    }
    assert_eq!((stored(&ledger).await, store.keys().await), (1, 2));
}

/// What came first runs first, though it was stored at a later time.
pub async fn e4_a_clock_set_back_keeps_the_order_of_a_key<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let ordered = |id: &str| Post::new(id).content("k").ordered().strict();
    assert_eq!(claim(&ledger, ordered("1")).await, Claim::Stored);
    store.shift(-10 * MINUTE).await;
    assert_eq!(claim(&ledger, ordered("2")).await, Claim::Stored);
    for leased in ledger.take(want()).await.unwrap().events {
        assert_eq!(leased.event.id.as_str(), "1");
        ledger.hand_back(vec![leased.lease]).await.unwrap();
    }
    // At the latest when the clock is again where it was.
    store.shift(10 * MINUTE).await;
    for wanted in ["1", "2"] {
        let leased = take(&ledger).await;
        assert_eq!(leased.event.id.as_str(), wanted);
        done(&ledger, leased.lease).await;
    }
}

const MINUTE: i64 = 60_000;
