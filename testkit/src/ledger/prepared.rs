//! Start-up: migration, durability, keys, notices.
#![expect(missing_docs, reason = "a case's name says what it demands")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::Claim;
use webhook_core::ledger::{
    IdentityRetention, Ledger, LedgerFault, Notice, RegisteredEndpoint, Registration, Retention,
};

use crate::ledger::Store;
use crate::ledger::post::Post;
use crate::ledger::steps::{claim, completed, done, pass, prepared, want};

pub async fn f13_replicas_start_at_once<S: Store>(store: Arc<S>) {
    let mut race = JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        race.spawn(async move { prepared(&*store).await });
    }
    let ledgers = race.join_all().await;
    for (n, ledger) in ledgers.iter().enumerate() {
        let event = Post::new(&n.to_string()).strict();
        assert_eq!(claim(ledger, event).await, Claim::Stored);
    }
}

pub async fn preparing_again_changes_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert_eq!(claim(&ledger, Post::new("1").strict()).await, Claim::Stored);
    let ledger = prepared(&*store).await;
    assert_eq!(
        claim(&ledger, Post::new("1").strict()).await,
        Claim::InFlight
    );
}

fn registration(endpoints: &[(&str, bool)]) -> Registration {
    let keys = vec![Post::new("1").key_fingerprint()];
    let endpoint = |(name, shared): &(&str, bool)| {
        RegisteredEndpoint::new((*name).into(), keys.clone(), *shared)
    };
    Registration::new(endpoints.iter().map(endpoint).collect())
}

pub async fn e3_a_key_whose_events_are_forgotten_is_refused<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let shop = registration(&[("shop", false)]);
    assert!(ledger.prepare(shop.clone()).await.unwrap().is_empty());
    completed(&ledger, Post::new("1").strict()).await;
    pass(&*store, Duration::from_hours(2)).await;
    let what = IdentityRetention::WhileKeysLive(Duration::from_hours(1));
    let what = Retention::new("shop", what).payloads(Duration::ZERO, Duration::ZERO);
    let pruned = ledger.prune(what).await.unwrap();
    assert_eq!((pruned.buried, pruned.forgotten), (1, 1));
    for _ in 0..2 {
        let refused = ledger.prepare(shop.clone()).await.unwrap_err();
        assert!(matches!(refused.kind(), LedgerFault::Unfit(advice) if advice.contains("`shop`")));
    }
    // It is the key at that endpoint that is spent.
    ledger
        .prepare(registration(&[("other", true)]))
        .await
        .unwrap();
}

pub async fn waiting_events_of_other_endpoints_are_noticed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for (id, endpoint) in [("1", "gone"), ("2", "gone"), ("3", "shop"), ("4", "done")] {
        let event = Post::new(id).endpoint(endpoint).strict();
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
    }
    let mut settled = want();
    settled.endpoint = "done".into();
    let settled = ledger.take(settled).await.unwrap().events.remove(0);
    done(&ledger, settled.lease).await;
    let notices = ledger
        .prepare(registration(&[("shop", false)]))
        .await
        .unwrap();
    let orphans = Notice::Orphans {
        endpoint: "gone".to_owned(),
        waiting: 2,
    };
    assert_eq!(notices, [orphans]);
}

pub async fn shared_keys_are_noticed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    assert!(
        ledger
            .prepare(registration(&[("a", false)]))
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        ledger
            .prepare(registration(&[("b", true)]))
            .await
            .unwrap()
            .is_empty()
    );
    let notices = ledger
        .prepare(registration(&[("a", false), ("b", true)]))
        .await
        .unwrap();
    let shared = Notice::SharedKey {
        endpoint: "a".to_owned(),
        other: "b".to_owned(),
    };
    assert_eq!(notices, [shared]);
}
