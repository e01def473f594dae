//! Two events about one resource: whichever comes first, the newer one stands.
#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde::Deserialize;
use sqlx::{Connection as _, PgConnection};
use webhook_actix::ledger::{Ledger, Registration};
use webhook_actix::{
    Clock, Delivery, Endpoint, Event, HandlerError, KeyConfig, Keys, Webhooks, webhook,
};
use webhook_sqlx::{Newer, NewerThan};
use webhook_tests::app::{NOW, SECRET, block_on, eventually, run, signed};
use webhook_tests::on_both;
use webhook_tests::stores::{Effects, Postgres, Store};
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

on_both!(
    the_older_of_two_events_has_no_effect,
    a_version_whose_attempt_failed_was_not_applied,
    a_resource_without_a_name_is_refused,
);

#[derive(Deserialize)]
struct Change {
    resource: String,
    version: i64,
    #[serde(default)]
    fails_once: bool,
}

#[webhook(provider = Timestamped, event = "thing.changed")]
async fn on_change<C: Effects + NewerThan>(
    event: Event<Change>,
    delivery: Delivery,
    db: &mut C,
) -> Result<(), HandlerError> {
    let newer = db.newer_than_last(&event.resource, event.version).await?;
    if newer != Newer::No {
        db.record(&format!("{newer:?} {}", event.version)).await?;
    }
    if event.fails_once && delivery.attempt() == 1 {
        return Err("the first attempt fails".into());
    }
    Ok(())
}

#[derive(Debug)]
struct At(i64);

impl Clock for At {
    fn unix_secs(&self) -> i64 {
        self.0
    }
}

type Conn<S> = <<S as Store>::Ledger as Ledger>::Conn;

fn serve<S: Store>(test: impl FnOnce(&S, SocketAddr))
where
    Conn<S>: NewerThan,
{
    let store = Arc::new(block_on(S::fresh()));
    let (ready, is_ready) = mpsc::channel();
    let thread = std::thread::spawn({
        let store = store.clone();
        move || {
            block_on(async move {
                let keys = Keys::new([KeyConfig::new(format!("{SECRET}-custom")).id("k1")]);
                let short = Duration::from_millis(20);
                let endpoint = Endpoint::at("/custom", Timestamped, keys)
                    .on(on_change)
                    .max_failures(2)
                    .backoff(short, short);
                let webhooks = Webhooks::builder(store.ledger().await)
                    .endpoint(endpoint)
                    .clock(At(NOW))
                    .build()
                    .unwrap();
                run(webhooks, |address, server| {
                    ready.send((address, server)).unwrap();
                })
                .await;
            });
        }
    });
    let (address, server) = is_ready.recv().unwrap();
    test(&store, address);
    block_on(server.stop(true));
    thread.join().unwrap();
}

/// Deliver, and wait until it was handled.
fn change<S: Store>(store: &S, to: SocketAddr, id: &str, what: &str) {
    let body = format!(r#"{{"id":"{id}","type":"thing.changed",{what}}}"#);
    let headers = signed("custom", &Timestamped, body.as_bytes(), NOW);
    assert_eq!(post(to, "/custom", &headers, body.as_bytes()).status, 200);
    eventually("it is handled", || {
        let open = "select count(*) from webhook.inbox where state in ('pending', 'processing')";
        block_on(store.number(open)) == 0
    });
}

fn effects<S: Store>(store: &S, text: &str) -> i64 {
    block_on(store.number(&format!(
        "select count(*) from effect where event_id like '{text}'"
    )))
}

fn the_older_of_two_events_has_no_effect<S: Store>()
where
    Conn<S>: NewerThan,
{
    serve::<S>(|store, to| {
        change(store, to, "1", r#""resource":"a","version":2"#);
        change(store, to, "2", r#""resource":"a","version":1"#);
        change(store, to, "3", r#""resource":"b","version":1"#);
        change(store, to, "4", r#""resource":"a","version":2"#);
        change(store, to, "5", r#""resource":"a","version":3"#);
        change(store, to, "6", r#""resource":"a","version":-9"#);
        for (text, number) in [
            ("%", 4),
            ("Yes 1", 1),
            ("Yes 2", 1),
            ("Same 2", 1),
            ("Yes 3", 1),
        ] {
            assert_eq!(effects(store, text), number, "{text}");
        }
    });
}

fn a_version_whose_attempt_failed_was_not_applied<S: Store>()
where
    Conn<S>: NewerThan,
{
    serve::<S>(|store, to| {
        let fails = r#""resource":"a","version":2,"fails_once":true"#;
        change(store, to, "1", fails);
        assert_eq!(effects(store, "Yes 2"), 1);
        assert_eq!(effects(store, "%"), 1);
    });
}

fn a_resource_without_a_name_is_refused<S: Store>()
where
    Conn<S>: NewerThan,
{
    serve::<S>(|store, to| {
        change(store, to, "1", r#""resource":"","version":2"#);
        let long = format!(r#""resource":"{}","version":2"#, "ä".repeat(128));
        change(store, to, "2", &long);
        let dead = "select count(*) from webhook.inbox where state = 'dead'";
        assert_eq!(block_on(store.number(dead)), 2);
        assert_eq!(effects(store, "%"), 0);
    });
}

/// Whoever asks second waits for the first, and hears whether it was applied.
#[test]
fn two_at_once_are_one_after_the_other() {
    block_on(async {
        let store = Postgres::fresh().await;
        let ledger = store.ledger().await;
        ledger.prepare(Registration::default()).await.unwrap();
        for (first_commits, answer) in [(true, Newer::No), (false, Newer::Yes)] {
            let resource = format!("{first_commits}");
            let mut one = PgConnection::connect(&store.url()).await.unwrap();
            let mut two = PgConnection::connect(&store.url()).await.unwrap();
            let mut first = one.begin().await.unwrap();
            let newer = first.newer_than_last(&resource, 2).await.unwrap();
            assert_eq!(newer, Newer::Yes);
            let second = actix_web::rt::spawn(async move {
                let mut tx = two.begin().await.unwrap();
                let newer = tx.newer_than_last(&resource, 1).await.unwrap();
                tx.commit().await.unwrap();
                newer
            });
            let waits = "select count(*) from pg_stat_activity
                where wait_event_type = 'Lock' and datname = current_database()";
            while store.number(waits).await == 0 {
                assert!(!second.is_finished(), "it waits");
                actix_web::rt::time::sleep(Duration::from_millis(10)).await;
            }
            if first_commits {
                first.commit().await.unwrap();
            } else {
                first.rollback().await.unwrap();
            }
            assert_eq!(second.await.unwrap(), answer);
        }
    });
}
