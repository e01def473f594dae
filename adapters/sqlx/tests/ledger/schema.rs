//! The schema: who may use it, what is told of it, and what errors say.

use std::error::Error;
use std::sync::Arc;

use tokio::task::JoinSet;
use webhook_core::ledger::{CheckVerdict, Ledger, LedgerFault, Registration};
use webhook_testkit::ledger::Post;
use webhook_testkit::ledger::steps::{check, prepared, verdict};

use crate::store::Sql;

cases! {
    f10_a_fit_store_is_as_durable_as_promised
    f13_a_newer_schema_says_who_may_read_it
    f13_a_schema_that_cannot_be_used_is_told
    f13_replicas_migrate_once
    f14_errors_quote_nothing
    nothing_works_before_it_is_prepared
}

async fn f10_a_fit_store_is_as_durable_as_promised<S: Sql>(store: Arc<S>) {
    let ledger = prepared(&*store).await;
    let checks = check(&ledger, 0).await;
    for name in S::DURABILITY {
        assert_eq!(verdict(&checks, name), CheckVerdict::Good, "{name}");
    }
}

async fn f13_replicas_migrate_once<S: Sql>(store: Arc<S>) {
    let mut race = JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        race.spawn(async move { prepared(&*store).await });
    }
    race.join_all().await;
    let steps = "select count(*) from webhook.schema_version";
    assert_eq!(store.number(steps).await, 1);
}

async fn f13_a_schema_that_cannot_be_used_is_told<S: Sql>(store: Arc<S>) {
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

async fn f13_a_newer_schema_says_who_may_read_it<S: Sql>(store: Arc<S>) {
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

/// A canary in everything the store could quote.
async fn f14_errors_quote_nothing<S: Sql>(store: Arc<S>) {
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

async fn nothing_works_before_it_is_prepared<S: Sql>(store: Arc<S>) {
    let ledger = store.open().await;
    let refused = ledger
        .claim(vec![Post::new("1").strict()])
        .await
        .unwrap_err();
    assert_eq!(*refused.kind(), LedgerFault::Internal);
}
