//! Checks: what a store is found to be, and what of it is refused at start.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use webhook_core::ledger::{
    Check, CheckVerdict, Ledger, LedgerFault, RegisteredEndpoint, Registration,
};
use webhook_core::{Claim, Clock};

use crate::post::Post;
use crate::store::{Store, claim, prepared};

cases! {
    f10_a_fit_store_has_nothing_to_say
    e4_a_clock_that_is_off_is_told
    e4_a_clock_that_is_far_off_is_refused
    f3_events_that_nobody_serves_are_told
    f13_a_schema_that_cannot_be_used_is_told
    f10_a_store_that_cannot_be_asked_is_told
}

/// The system's clock, so many seconds off.
#[derive(Debug)]
struct Off(i64);

impl Clock for Off {
    fn unix_secs(&self) -> i64 {
        #[expect(clippy::disallowed_methods, reason = "to be compared with a store's")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(since.as_secs()).unwrap() + self.0
    }
}

async fn check<L: Ledger>(ledger: &L, off: i64) -> Vec<Check> {
    ledger.check(Arc::new(Off(off))).await
}

fn verdict(checks: &[Check], name: &str) -> CheckVerdict {
    let named: Vec<_> = checks.iter().filter(|check| check.name == name).collect();
    assert_eq!(named.len(), 1, "{name}: {checks:?}");
    named[0].verdict
}

async fn f10_a_fit_store_has_nothing_to_say<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let checks = check(&ledger, 0).await;
    for check in &checks {
        assert_eq!(check.verdict, CheckVerdict::Good, "{check:?}");
        assert!(!check.detail.is_empty());
    }
    for name in ["clock", "schema", "waiting"] {
        verdict(&checks, name);
    }
    let durability = match S::bytes(&[]).as_str() {
        "x''" => ["journal_mode", "synchronous", "writable", "file"],
        _ => [
            "fsync",
            "full_page_writes",
            "synchronous_commit",
            "in_hot_standby",
        ],
    };
    for name in durability {
        verdict(&checks, name);
    }
}

async fn e4_a_clock_that_is_off_is_told<S: Store>(store: Arc<S>) {
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

async fn e4_a_clock_that_is_far_off_is_refused<S: Store>(store: Arc<S>) {
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

async fn f3_events_that_nobody_serves_are_told<S: Store>(store: Arc<S>) {
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

async fn f13_a_schema_that_cannot_be_used_is_told<S: Store>(store: Arc<S>) {
    let ledger = store.open().await;
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "schema"), CheckVerdict::Bad);
    ledger.prepare(Registration::default()).await.unwrap();
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "schema"), CheckVerdict::Good);
    store
        .execute("insert into webhook.schema_version (version, min_reader) values (10, 2)")
        .await;
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "schema"), CheckVerdict::Bad);
}

async fn f10_a_store_that_cannot_be_asked_is_told<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    ledger.close().await;
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "store"), CheckVerdict::Bad);
    assert_eq!(checks.len(), 1);
}
