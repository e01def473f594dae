//! Checks: what a store is found to be, and what of it is refused at start.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;

use webhook_core::Claim;
use webhook_core::ledger::{CheckVerdict, Ledger, LedgerFault, RegisteredEndpoint, Registration};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{Off, check, claim, prepared, verdict};

pub async fn f10_a_fit_store_has_nothing_to_say<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let checks = check(&ledger, 0).await;
    for check in &checks {
        assert_eq!(check.verdict, CheckVerdict::Good, "{check:?}");
        assert!(!check.detail.is_empty());
    }
    for name in ["clock", "schema", "waiting"] {
        verdict(&checks, name);
    }
}

pub async fn e4_a_clock_that_is_off_is_told<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for (off, wanted) in [
        (0, CheckVerdict::Good),
        (-1, CheckVerdict::Good),
        (20, CheckVerdict::Warning),
        (-20, CheckVerdict::Warning),
        (60, CheckVerdict::Bad),
        (-60, CheckVerdict::Bad),
    ] {
        let checks = check(&ledger, off).await;
        assert_eq!(verdict(&checks, "clock"), wanted, "{off}: {checks:?}");
    }
    let checks = check(&ledger, 60).await;
    assert!(
        checks
            .iter()
            .any(|check| check.detail.contains("ahead of the store's"))
    );
}

pub async fn e4_a_clock_that_is_far_off_is_refused<S: Store>(store: Arc<S>) {
    let ledger = store.open().await;
    let with = |off| Registration::default().clock(Arc::new(Off(off)));
    for off in [-60, 60] {
        let refused = ledger.prepare(with(off)).await.unwrap_err();
        assert!(matches!(refused.kind(), LedgerFault::Unfit(advice) if advice.contains("clock")));
    }
    for off in [-20, 0, 20] {
        ledger.prepare(with(off)).await.unwrap();
    }
}

pub async fn f3_events_that_nobody_serves_are_told<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let post = Post::new("1");
    assert_eq!(claim(&ledger, post.strict()).await, Claim::Stored);
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "waiting"), CheckVerdict::Warning);
    assert!(
        checks
            .iter()
            .any(|check| check.detail.contains("1 for `shop`"))
    );
    // Served here, if by keys that are looked up.
    let shop = |keys| {
        let shop = RegisteredEndpoint::new("shop".into(), keys, false);
        Registration::new(vec![shop])
    };
    ledger.prepare(shop(Vec::new())).await.unwrap();
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "waiting"), CheckVerdict::Good);
    // Served by another process.
    let other = prepared(&*store).await;
    let checks = check(&other, 0).await;
    assert_eq!(verdict(&checks, "waiting"), CheckVerdict::Warning);
    let keys = vec![post.key_fingerprint()];
    ledger.prepare(shop(keys)).await.unwrap();
    let checks = check(&other, 0).await;
    assert_eq!(verdict(&checks, "waiting"), CheckVerdict::Good);
}

pub async fn f10_a_store_that_cannot_be_asked_is_told<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    ledger.close().await;
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "store"), CheckVerdict::Bad);
    assert_eq!(checks.len(), 1);
}
