//! Fencing: who lost its lease does nothing any more.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use webhook_core::State;
use webhook_core::ledger::{Completion, FencingToken, IdentityRetention, Lease, Ledger, Retention};

use crate::ledger::Store;
use crate::ledger::post::{ENDPOINT, Post};
use crate::ledger::steps::{
    completed, in_state, is_powerless, lapse, leased, pass, prepared, take,
};

pub async fn a_stale_token_does_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let stale = leased(&ledger, Post::new("1").strict()).await;
    lapse(&*store).await;
    let fresh = take(&ledger).await.lease;
    is_powerless(&ledger, stale).await;
    assert_eq!(in_state(&ledger, State::Processing).await, 1);
    let invented = Lease::new(fresh.inbox(), FencingToken::new(fresh.token().get() + 1));
    is_powerless(&ledger, invented).await;
    assert!(ledger.complete(fresh, Completion::default()).await.unwrap());
    is_powerless(&ledger, stale).await;
}

pub async fn an_expired_lease_does_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    lapse(&*store).await;
    is_powerless(&ledger, lease).await;
    assert_eq!(in_state(&ledger, State::Processing).await, 1);
}

pub async fn e6_a_token_never_returns<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let first = completed(&ledger, Post::new("1").strict()).await;
    pass(&*store, Duration::from_hours(2)).await;
    let what = Retention::new(ENDPOINT, IdentityRetention::For(Duration::from_hours(1)))
        .payloads(Duration::ZERO, Duration::ZERO)
        .batch(10);
    assert_eq!(ledger.prune(what).await.unwrap().forgotten, 1);
    let second = leased(&ledger, Post::new("1").strict()).await;
    assert!(second.token() > first.token());
    let zombie = Lease::new(second.inbox(), first.token());
    is_powerless(&ledger, zombie).await;
    // Neither does another process begin anew.
    let other = prepared(&*store).await;
    let third = leased(&other, Post::new("2").strict()).await;
    assert!(third.token() > second.token());
}

pub async fn completing_twice_is_completing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    for _ in 0..2 {
        assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    }
    let other = Lease::new(lease.inbox(), FencingToken::new(lease.token().get() - 1));
    assert!(!ledger.complete(other, Completion::default()).await.unwrap());
    assert_eq!(in_state(&ledger, State::Completed).await, 1);
}
