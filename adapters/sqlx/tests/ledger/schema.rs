//! The schema: who may use it, what is told of it, and what errors say.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use webhook_core::Claim;
use webhook_core::ledger::{
    CheckVerdict, IdentityRetention, Ledger, LedgerFault, Registration, Release, Retention,
};
use webhook_testkit::ledger::Post;
use webhook_testkit::ledger::steps::{check, claim, done, pass, prepared, take, verdict};

use crate::store::Sql;

cases! {
    f10_a_fit_store_is_as_durable_as_promised
    f13_a_newer_schema_says_who_may_read_it
    f13_a_schema_that_cannot_be_used_is_told
    f13_a_database_of_version_1_is_brought_up
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
    assert_eq!(store.number(steps).await, 2);
}

async fn f13_a_schema_that_cannot_be_used_is_told<S: Sql>(store: Arc<S>) {
    let ledger = store.open().await;
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "schema"), CheckVerdict::Bad);
    ledger.prepare(Registration::default()).await.unwrap();
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "schema"), CheckVerdict::Good);
    store
        .execute("insert into webhook.schema_version (version, min_reader) values (10, 9)")
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
        .execute("insert into webhook.schema_version (version, min_reader) values (10, 9)")
        .await;
    let refused = store
        .open()
        .await
        .prepare(Registration::default())
        .await
        .unwrap_err();
    assert!(matches!(refused.kind(), LedgerFault::Unfit(advice) if advice.contains("newer")));
}

/// Made by the first library, with an event, a settled delivery and one that is not.
async fn f13_a_database_of_version_1_is_brought_up<S: Sql>(store: Arc<S>) {
    store.execute(S::VERSION_1).await;
    store
        .execute("insert into webhook.schema_version (version, min_reader) values (1, 1)")
        .await;
    let event = Post::new("1").strict();
    let (id, key) = (S::id(&[7; 16]), S::bytes(event.id_key().as_bytes()));
    let (digest, fingerprint) = (
        S::bytes(event.digest().as_bytes()),
        S::bytes(event.key_fingerprint().as_bytes()),
    );
    let now = S::moment(0);
    let payload = S::bytes(event.payload());
    for sql in [
        format!(
            "insert into webhook.claim (key, inbox, kind, key_fingerprint)
            values ({key}, {id}, 1, {fingerprint})"
        ),
        format!(
            "insert into webhook.inbox (id, endpoint, event_id, event_type, state, due_at,
            id_key, digest, key_fingerprint, payload)
            values ({id}, 'shop', '1', 'invoice.paid', 'pending', {now}, {key}, {digest},
            {fingerprint}, {payload})"
        ),
    ] {
        assert_eq!(store.execute(&sql).await, 1);
    }
    for (row, released_at) in [(1, "null".to_owned()), (2, now)] {
        let (id, digest) = (S::id(&[row; 16]), S::bytes(&[row; 32]));
        let sql = format!(
            "insert into webhook.quarantine (id, endpoint, reason, digest, event_id,
            event_type, key_fingerprint, last_event_id, payload, released_at)
            values ({id}, 'shop', 'content_mismatch', {digest}, '1', 'invoice.paid', {fingerprint},
            '1', {payload}, {released_at})"
        );
        assert_eq!(store.execute(&sql).await, 1);
    }
    let ledger = prepared(&*store).await;
    let checks = check(&ledger, 0).await;
    assert_eq!(verdict(&checks, "schema"), CheckVerdict::Good);
    assert_eq!(claim(&ledger, event.clone()).await, Claim::InFlight);
    let leased = take(&ledger).await;
    assert_eq!(leased.event.payload, event.payload());
    done(&ledger, leased.lease).await;
    let rows = ledger.quarantined(None, None, 10).await.unwrap();
    assert_eq!(rows.len(), 1);
    let released = ledger.release(rows[0].id, "anna".to_owned()).await.unwrap();
    assert!(matches!(released, Release::Released(_)));
    pass(&*store, Duration::from_hours(2)).await;
    let identities = IdentityRetention::For(Duration::from_hours(1));
    let what = Retention::new("shop", identities).settled_quarantine(Duration::ZERO);
    assert_eq!(ledger.prune(what).await.unwrap().decisions, 2);
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
