//! A store's clock that was set back.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use webhook_core::ledger::Ledger;

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{leased, nothing_is_due, prepared, take, want};

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

const MINUTE: i64 = 60_000;
