//! What PostgreSQL alone can get wrong: isolation levels, timeouts and locks of the application's own.

use std::sync::Arc;

use sqlx::Connection as _;
use webhook_core::ledger::LedgerFault;
use webhook_core::outbox::{
    AttemptClass, EndpointState, EnqueueError, Enqueued, Next, Outbox as _, Resend,
};
use webhook_sqlx::PostgresOutbox;

use super::{WithOutbox as _, change, ended, endpoint, event, record, send, take};
use crate::store::{Postgres, Sql as _};

on_postgres! {
    a_key_used_after_the_snapshot_is_contention_and_afterwards_a_repeat
    a_key_that_another_transaction_holds_is_waited_for_as_long_as_the_application_says
    without_its_tables_nothing_is_enqueued_and_the_error_says_so
    an_event_that_is_being_forgotten_is_not_sent_again
    an_endpoint_deleted_while_it_is_sent_to_gets_nothing_more
}

fn keyed(event_type: &str) -> webhook_core::outbox::Event {
    event(event_type).idempotency_key("1").unwrap()
}

fn kind(refused: Result<Enqueued, EnqueueError>) -> LedgerFault {
    match refused {
        Err(EnqueueError::Store(error)) => error.kind().clone(),
        other => panic!("{other:?}"),
    }
}

/// Not a conflict: tried again, the transaction sees the first event.
async fn a_key_used_after_the_snapshot_is_contention_and_afterwards_a_repeat(store: Arc<Postgres>) {
    let outbox = store.open_outbox().await;
    for level in ["repeatable read", "serializable"] {
        let mut conn = store.connect().await;
        let begin = format!("begin isolation level {level}; select 1");
        Postgres::run(&mut conn, &begin).await.unwrap();
        let key = || event("a").idempotency_key(level).unwrap();
        let first = store.enqueue(&outbox, key(), true).await.unwrap();
        let refused = outbox.enqueue(&mut conn, key()).await;
        assert_eq!(kind(refused), LedgerFault::Contention, "{level}");
        Postgres::run(&mut conn, "rollback").await.unwrap();

        Postgres::run(&mut conn, &begin).await.unwrap();
        let again = outbox.enqueue(&mut conn, key()).await.unwrap();
        assert_eq!(again, Enqueued::Before(first.id().clone()), "{level}");
        // Others of the same transaction are sent if it commits.
        outbox.enqueue(&mut conn, event("b")).await.unwrap();
        Postgres::run(&mut conn, "commit").await.unwrap();
    }
    assert_eq!(outbox.expand(100).await.unwrap().events, 4);
}

async fn a_key_that_another_transaction_holds_is_waited_for_as_long_as_the_application_says(
    store: Arc<Postgres>,
) {
    let outbox = store.open_outbox().await;
    let mut holder = store.connect().await;
    let mut tx = holder.begin().await.unwrap();
    outbox.enqueue(&mut tx, keyed("a")).await.unwrap();
    for setting in ["lock_timeout = '50ms'", "statement_timeout = '50ms'"] {
        let mut conn = store.connect().await;
        let begin = format!("begin; set local {setting}");
        Postgres::run(&mut conn, &begin).await.unwrap();
        let refused = outbox.enqueue(&mut conn, keyed("a")).await;
        assert_eq!(kind(refused), LedgerFault::Contention, "{setting}");
    }
    tx.rollback().await.unwrap();
    let enqueued = store.enqueue(&outbox, keyed("a"), true).await.unwrap();
    assert!(!enqueued.is_repeat());
}

async fn without_its_tables_nothing_is_enqueued_and_the_error_says_so(store: Arc<Postgres>) {
    let outbox = PostgresOutbox::connect(&store.url).await.unwrap();
    let refused = store.enqueue(&outbox, event("a"), false).await.unwrap_err();
    let EnqueueError::Store(error) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(*error.kind(), LedgerFault::Internal);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("42P01"), "{cause}");
}

/// What is about to be forgotten is not promised to be sent.
async fn an_event_that_is_being_forgotten_is_not_sent_again(store: Arc<Postgres>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    let done = ended(&delivery, AttemptClass::Delivered, Next::Delivered);
    assert!(record(&outbox, done).await);
    let mut conn = store.connect().await;
    let lock = "begin; select from webhook.outbox_event for update";
    Postgres::run(&mut conn, lock).await.unwrap();
    let again = Resend::One(delivery.share.delivery);
    assert_eq!(outbox.resend(again.clone()).await.unwrap(), 0);
    Postgres::run(&mut conn, "rollback").await.unwrap();
    assert_eq!(outbox.resend(again).await.unwrap(), 1);
}

/// The attempt under way ends as it ends; nothing more begins.
async fn an_endpoint_deleted_while_it_is_sent_to_gets_nothing_more(store: Arc<Postgres>) {
    let outbox = store.open_outbox().await;
    let to = endpoint(&outbox).await;
    send(&*store, &outbox, &["a", "b"]).await;
    let delivery = take(&outbox, to, 1).await.remove(0);
    change(&outbox, to, |endpoint| {
        endpoint.state = EndpointState::Deleted;
    })
    .await;
    assert!(
        record(
            &outbox,
            ended(&delivery, AttemptClass::Answer, super::RETRY)
        )
        .await
    );
    store.shift_outbox(120_000).await;
    assert_eq!(take(&outbox, to, 10).await.len(), 0);
    assert_eq!(outbox.ready(None, 10).await.unwrap().len(), 0);
}
