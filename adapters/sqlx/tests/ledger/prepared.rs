//! Start-up: migration, durability, keys, notices.

use std::error::Error;
use std::sync::Arc;

use tokio::task::JoinSet;
use webhook_core::Claim;
use webhook_core::ledger::{Ledger, LedgerFault, Notice, RegisteredEndpoint, Registration};

use crate::post::Post;
use crate::store::{Store, claim, prepared};

cases! {
    f13_replicas_start_at_once
    f13_a_newer_schema_says_who_may_read_it
    preparing_again_changes_nothing
    e3_a_key_whose_events_are_forgotten_is_refused
    keys_are_registered
    waiting_events_of_other_endpoints_are_noticed
    shared_keys_are_noticed
    nothing_works_before_it_is_prepared
    f14_errors_quote_nothing
}

async fn f13_replicas_start_at_once<S: Store>(store: Arc<S>) {
    let mut race = JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        race.spawn(async move { prepared(&*store).await });
    }
    let ledgers = race.join_all().await;
    assert_eq!(
        store
            .number("select count(*) from webhook.schema_version")
            .await,
        1
    );
    for (n, ledger) in ledgers.iter().enumerate() {
        let event = Post::new(&n.to_string()).strict();
        assert_eq!(claim(ledger, event).await, Claim::Stored);
    }
}

async fn f13_a_newer_schema_says_who_may_read_it<S: Store>(store: Arc<S>) {
    prepared(&*store).await;
    store
        .execute("insert into webhook.schema_version (version, min_reader) values (9, 1)")
        .await;
    prepared(&*store).await;
    store
        .execute("insert into webhook.schema_version (version, min_reader) values (10, 2)")
        .await;
    let refused = store
        .open()
        .await
        .prepare(Registration::default())
        .await
        .unwrap_err();
    assert!(matches!(refused.kind(), LedgerFault::Unfit(advice) if advice.contains("newer")));
}

async fn preparing_again_changes_nothing<S: Store>(store: Arc<S>) {
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

async fn e3_a_key_whose_events_are_forgotten_is_refused<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let shop = registration(&[("shop", false)]);
    assert!(ledger.prepare(shop.clone()).await.unwrap().is_empty());
    let prune = format!(
        "update webhook.signing_key set pruned_at = {}",
        S::moment(0)
    );
    assert_eq!(store.execute(&prune).await, 1);
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

async fn keys_are_registered<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let shop = registration(&[("shop", false)]);
    ledger.prepare(shop.clone()).await.unwrap();
    let old = format!(
        "update webhook.signing_key set last_live_at = {}",
        S::moment(-100_000)
    );
    store.execute(&old).await;
    ledger.prepare(shop).await.unwrap();
    let live = format!(
        "select count(*) from webhook.signing_key where last_live_at > {} and pruned_at is null",
        S::moment(-50_000)
    );
    assert_eq!(store.number(&live).await, 1);
    assert_eq!(
        store
            .number("select count(*) from webhook.signing_key")
            .await,
        1
    );
}

async fn waiting_events_of_other_endpoints_are_noticed<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    for (id, endpoint) in [("1", "gone"), ("2", "gone"), ("3", "shop"), ("4", "done")] {
        let event = Post::new(id).endpoint(endpoint).strict();
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
    }
    store
        .execute("update webhook.inbox set state = 'completed' where endpoint = 'done'")
        .await;
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

async fn shared_keys_are_noticed<S: Store>(store: Arc<S>) {
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

async fn nothing_works_before_it_is_prepared<S: Store>(store: Arc<S>) {
    let ledger = store.open().await;
    let refused = ledger
        .claim(vec![Post::new("1").strict()])
        .await
        .unwrap_err();
    assert_eq!(*refused.kind(), LedgerFault::Internal);
}

/// A canary in everything the store could quote.
async fn f14_errors_quote_nothing<S: Store>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    store.execute("drop table webhook.inbox").await;
    let event = Post::new("canary-id")
        .account("canary-account")
        .content("canary-content");
    let refused = ledger.claim(vec![event.strict()]).await.unwrap_err();
    let causes = std::iter::successors(Some(&refused as &dyn Error), |error| (*error).source());
    let said: Vec<String> = causes.map(|error| format!("{error} {error:?}")).collect();
    let said = said.join(" ");
    for secret in ["canary", "inbox", "insert", "select"] {
        assert!(!said.contains(secret), "{said}");
    }
}
