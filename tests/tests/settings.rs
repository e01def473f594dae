//! What an endpoint's settings change, seen from outside: over HTTP and in the store.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use sqlx::{PgConnection, SqliteConnection};
use webhook_actix::ledger::Ledger;
use webhook_actix::{
    Clock as _, Data, Delivery, Disposition, Endpoint, EventId, HandlerError, KeyConfig, Keys,
    OnFailure, QuarantinePolicy, SystemClock, Unsigned, Webhooks, webhook,
};
use webhook_github::GitHub;
use webhook_slack::Slack;
use webhook_tests::app::{SECRET, block_on, eventually, run, signed};
use webhook_tests::on_both;
use webhook_tests::stores::{Effects, Store};
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

on_both!(
    an_inline_failure_goes_to_the_inbox_where_that_is_said,
    an_inline_failure_is_refused_where_that_is_said,
    a_long_pause_is_cut_to_the_longest,
    a3_an_inline_handler_that_rolled_back_and_went_on_is_a_dead_letter,
    d11_a_released_delivery_has_an_effect_key_of_its_own,
    quarantine_is_acknowledged_or_refused_as_the_policy_says,
    f15_what_an_endpoint_remembers_is_its_own_setting,
    unsigned_headers_are_kept_as_long_as_the_event,
);

/// What handlers leave for the test.
#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>, Arc<AtomicU32>);

impl Seen {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Whether this is the first call.
    fn is_first(&self) -> bool {
        self.1.fetch_add(1, Ordering::SeqCst) == 0
    }
}

/// Serve what `mount` mounts while `test` runs.
fn serve<S: Store>(
    mount: impl FnOnce(S::Ledger, Seen) -> Webhooks<S::Ledger> + Send + 'static,
    test: impl FnOnce(&S, SocketAddr, &Seen),
) {
    let store = Arc::new(block_on(S::fresh()));
    let seen = Seen::default();
    let (ready, is_ready) = mpsc::channel::<(SocketAddr, ServerHandle)>();
    let thread = std::thread::spawn({
        let (store, seen) = (store.clone(), seen.clone());
        move || {
            actix_web::rt::System::new().block_on(async move {
                let webhooks = mount(store.ledger().await, seen);
                run(webhooks, |address, server| {
                    ready.send((address, server)).unwrap();
                })
                .await;
            });
        }
    });
    let (address, server) = is_ready.recv_timeout(Duration::from_mins(1)).unwrap();
    test(&*store, address, &seen);
    block_on(server.stop(true));
    thread.join().unwrap();
}

fn keys(name: &str) -> Keys {
    Keys::new([KeyConfig::new(format!("{SECRET}-{name}")).id("k1")])
}

/// Post a note to the endpoint of this name; the status of the answer.
fn note(to: SocketAddr, name: &str, id: &str, amount: u32) -> u16 {
    let body = format!(r#"{{"id":"{id}","type":"note.created","amount":{amount}}}"#);
    let headers = signed(
        name,
        &Timestamped,
        body.as_bytes(),
        SystemClock::default().unix_secs(),
    );
    post(to, &format!("/{name}"), &headers, body.as_bytes()).status
}

/// Post an issue of GitHub's; the status of the answer.
fn issue(to: SocketAddr, id: &str) -> u16 {
    let body = br#"{"action":"opened","issue":{}}"#;
    let mut headers = signed("github", &GitHub, body, 0);
    headers.push(("X-GitHub-Delivery".to_owned(), id.to_owned()));
    headers.push(("X-GitHub-Event".to_owned(), "issues".to_owned()));
    post(to, "/github", &headers, body).status
}

fn number<S: Store>(store: &S, sql: &str) -> i64 {
    block_on(store.number(sql))
}

fn effects<S: Store>(store: &S) -> i64 {
    number(store, "select count(*) from effect")
}

fn in_state<S: Store>(store: &S, state: &str) -> i64 {
    number(
        store,
        &format!("select count(*) from webhook.inbox where state = '{state}'"),
    )
}

#[webhook(provider = Timestamped, event = "note.created")]
async fn on_note<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

#[webhook(provider = Timestamped, event = "note.created", inline)]
async fn fails_at_first<C: Effects>(
    id: EventId,
    seen: Data<Seen>,
    db: &mut C,
) -> Result<(), HandlerError> {
    db.record(id.as_str()).await?;
    if seen.is_first() {
        return Err("not yet".into());
    }
    Ok(())
}

#[webhook(provider = GitHub, event = "issues", inline)]
async fn issue_fails_at_first<C: Effects>(
    id: Unsigned<EventId>,
    seen: Data<Seen>,
    db: &mut C,
) -> Result<(), HandlerError> {
    db.record(id.dangerous_trust().as_str()).await?;
    if seen.is_first() {
        return Err("not yet".into());
    }
    Ok(())
}

fn an_inline_failure_goes_to_the_inbox_where_that_is_said<S: Store>() {
    let mount = |ledger, seen| {
        let endpoint = Endpoint::at("/custom", Timestamped, keys("custom"))
            .named("custom")
            .on_inline_failure(OnFailure::Inbox)
            .on(fails_at_first);
        let webhooks = Webhooks::builder(ledger).endpoint(endpoint).data(seen);
        webhooks.build().unwrap()
    };
    serve::<S>(mount, |store, to, _| {
        assert_eq!(note(to, "custom", "1", 1), 200);
        eventually("a worker runs it", || in_state(store, "completed") == 1);
        assert_eq!(effects(store), 1);
    });
}

fn an_inline_failure_is_refused_where_that_is_said<S: Store>() {
    let mount = |ledger, seen| {
        let endpoint = Endpoint::at("/github", GitHub, keys("github"))
            .on_inline_failure(OnFailure::Refuse)
            .on(issue_fails_at_first);
        let webhooks = Webhooks::builder(ledger).endpoint(endpoint).data(seen);
        webhooks.build().unwrap()
    };
    serve::<S>(mount, |store, to, _| {
        let id = "72d3162e-cc78-11e3-81ab-4c9367dc0958";
        assert_eq!(issue(to, id), 503);
        let kept = number(store, "select count(*) from webhook.inbox");
        assert_eq!((kept, effects(store)), (0, 0));
        assert_eq!(issue(to, id), 200);
        assert_eq!(effects(store), 1);
    });
}

#[webhook(provider = Timestamped, event = "note.created")]
async fn asks_for_a_day<C: Effects>(
    id: EventId,
    seen: Data<Seen>,
    db: &mut C,
) -> Result<(), HandlerError> {
    db.record(id.as_str()).await?;
    if seen.is_first() {
        let day = Disposition::RetryAfter(Duration::from_hours(24));
        return Err(HandlerError::public(day, "come back tomorrow"));
    }
    Ok(())
}

fn a_long_pause_is_cut_to_the_longest<S: Store>() {
    let mount = |ledger, seen| {
        let endpoint = Endpoint::at("/custom", Timestamped, keys("custom"))
            .named("custom")
            .backoff(Duration::from_millis(10), Duration::from_millis(300))
            .on(asks_for_a_day);
        let webhooks = Webhooks::builder(ledger).endpoint(endpoint).data(seen);
        webhooks.build().unwrap()
    };
    serve::<S>(mount, |store, to, _| {
        assert_eq!(note(to, "custom", "1", 1), 200);
        eventually("it ran again", || in_state(store, "completed") == 1);
        let failed = "select count(*) from webhook.inbox where failures = 1";
        assert_eq!(number(store, failed), 1);
    });
}

/// A connection on which a handler goes behind the framework's back.
trait Escapes: Effects {
    fn rollback_by_hand(&mut self) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

impl Escapes for PgConnection {
    async fn rollback_by_hand(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("rollback").execute(self).await.map(drop)
    }
}

impl Escapes for SqliteConnection {
    async fn rollback_by_hand(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("rollback").execute(self).await.map(drop)
    }
}

#[webhook(provider = Timestamped, event = "note.created", inline)]
async fn rolls_back_and_goes_on<C: Escapes>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.rollback_by_hand().await?;
    db.record(id.as_str()).await
}

fn a3_an_inline_handler_that_rolled_back_and_went_on_is_a_dead_letter<S>()
where
    S: Store<Ledger: Ledger<Conn: Escapes>>,
{
    let mount = |ledger, _| {
        let endpoint = Endpoint::at("/custom", Timestamped, keys("custom"))
            .named("custom")
            .on(rolls_back_and_goes_on);
        Webhooks::builder(ledger)
            .endpoint(endpoint)
            .build()
            .unwrap()
    };
    serve::<S>(mount, |store, to, _| {
        for _ in 0..3 {
            assert_eq!(note(to, "custom", "1", 1), 200);
        }
        assert_eq!((effects(store), in_state(store, "dead")), (1, 1));
        assert_eq!(number(store, "select count(*) from webhook.inbox"), 1);
    });
}

#[webhook(provider = Timestamped, event = "note.created", at_least_once)]
async fn tells_its_key(
    key: webhook_actix::EffectKey,
    seen: Data<Seen>,
) -> Result<(), HandlerError> {
    seen.note(key.as_str());
    Ok(())
}

fn d11_a_released_delivery_has_an_effect_key_of_its_own<S: Store>() {
    let mount = |ledger, seen| {
        let endpoint = Endpoint::at("/custom", Timestamped, keys("custom"))
            .named("custom")
            .on(tells_its_key);
        let webhooks = Webhooks::builder(ledger).endpoint(endpoint).data(seen);
        webhooks.build().unwrap()
    };
    serve::<S>(mount, |store, to, seen| {
        assert_eq!(note(to, "custom", "1", 1), 200);
        eventually("the first ran", || in_state(store, "completed") == 1);
        assert_eq!(note(to, "custom", "1", 2), 200);
        block_on(async {
            let ledger = store.ledger().await;
            let rows = ledger.quarantined(None, None, 10).await.unwrap();
            let id = rows.first().unwrap().id;
            ledger.release(id, "anna".to_owned()).await.unwrap();
            ledger.close().await;
        });
        eventually("the other ran", || in_state(store, "completed") == 2);
        let keys = seen.all();
        assert_eq!(keys.len(), 2);
        assert_ne!(keys.first(), keys.last());
    });
}

fn quarantine_is_acknowledged_or_refused_as_the_policy_says<S: Store>() {
    let mount = |ledger, _| {
        let endpoint = |name: &str, policy| {
            Endpoint::at(format!("/{name}"), Timestamped, keys(name))
                .named(name)
                .quarantine(policy)
                .on(on_note)
        };
        Webhooks::builder(ledger)
            .endpoint(endpoint("kept", QuarantinePolicy::keep()))
            .endpoint(endpoint("shown", QuarantinePolicy::evidence().refuse()))
            .build()
            .unwrap()
    };
    serve::<S>(mount, |store, to, _| {
        for (name, answer, payloads) in [("kept", 200, 1), ("shown", 409, 0)] {
            assert_eq!(note(to, name, "1", 1), 200);
            for _ in 0..2 {
                assert_eq!(note(to, name, "1", 2), answer, "{name}");
            }
            let rows = format!("webhook.quarantine where endpoint = '{name}' and seen = 2");
            assert_eq!(number(store, &format!("select count(*) from {rows}")), 1);
            let payload = format!("select count(payload) from {rows}");
            assert_eq!(number(store, &payload), payloads, "{name}");
        }
        eventually("the first ones ran", || effects(store) == 2);
    });
}

/// Three endpoints that differ in one setting each, and one that keeps to the defaults.
fn f15_what_an_endpoint_remembers_is_its_own_setting<S: Store>() {
    const HOUR: Duration = Duration::from_hours(1);
    let mount = |ledger, _| {
        let endpoint = |name: &str| {
            Endpoint::at(format!("/{name}"), Timestamped, keys(name))
                .named(name)
                .on(on_note)
        };
        Webhooks::builder(ledger)
            .endpoint(endpoint("default"))
            .endpoint(endpoint("identities").remember_identities_for(HOUR))
            .endpoint(endpoint("payloads").keep_payloads_for(HOUR, HOUR))
            .endpoint(
                endpoint("decisions")
                    .remember_identities_for(HOUR)
                    .remember_decisions_for(HOUR),
            )
            .build()
            .unwrap()
    };
    let names = ["default", "identities", "payloads", "decisions"];
    serve::<S>(mount, |store, to, _| {
        for name in names {
            assert_eq!(note(to, name, "1", 1), 200);
            assert_eq!(note(to, name, "1", 2), 200);
        }
        eventually("all ran", || in_state(store, "completed") == 4);
        block_on(async {
            let ledger = store.ledger().await;
            for row in ledger.quarantined(None, None, 10).await.unwrap() {
                assert!(ledger.discard(row.id, "anna".to_owned()).await.unwrap());
            }
            ledger.close().await;
            store.execute(&two_hours_older::<S>()).await;
        });
        // Whole rows, those with a payload, and decisions.
        let left = |name: &str| {
            let rows = |what: &str, table: &str| {
                let rows = format!("webhook.{table} where endpoint = '{name}'");
                number(store, &format!("select count({what}) from {rows}"))
            };
            [
                rows("*", "inbox"),
                rows("payload", "inbox"),
                rows("*", "quarantine"),
            ]
        };
        eventually("identities are forgotten", || {
            left("identities") == [0, 0, 1]
        });
        eventually("payloads are forgotten", || left("payloads") == [1, 0, 1]);
        eventually("decisions are forgotten", || left("decisions") == [0, 0, 0]);
        assert_eq!(left("default"), [1, 1, 1]);
    });
}

/// Let everything have happened two hours earlier.
fn two_hours_older<S: Store>() -> String {
    let back = match S::NAME {
        "sqlite" => "- 7200000",
        _ => "- interval '2 hours'",
    };
    let moved = |table: &str, columns: &[&str]| {
        let columns = columns
            .iter()
            .map(|column| format!("{column} = {column} {back}"));
        format!(
            "update webhook.{table} set {};",
            columns.collect::<Vec<_>>().join(", ")
        )
    };
    moved("inbox", &["settled_at", "last_seen_at"])
        + &moved("quarantine", &["released_at", "last_seen_at"])
}

#[webhook(provider = Slack, event = "app_mention")]
async fn notes_the_retry<C: Effects>(
    id: EventId,
    delivery: Delivery,
    seen: Data<Seen>,
    db: &mut C,
) -> Result<(), HandlerError> {
    let header = |name| {
        let value = delivery.unsigned_header(name);
        value.map_or("none", Unsigned::dangerous_trust).to_owned()
    };
    seen.note(header("X-Slack-Retry-Num"));
    seen.note(header("X-Other"));
    Ok(db.record(id.as_str()).await?)
}

fn unsigned_headers_are_kept_as_long_as_the_event<S: Store>() {
    let mount = |ledger, seen| {
        let endpoint = Endpoint::at("/slack", Slack, keys("slack")).on(notes_the_retry);
        let webhooks = Webhooks::builder(ledger).endpoint(endpoint).data(seen);
        webhooks.build().unwrap()
    };
    serve::<S>(mount, |store, to, seen| {
        let body = br#"{"type":"event_callback","team_id":"T1","api_app_id":"A1","event_id":"Ev1","event_time":1,"event":{"type":"app_mention"}}"#;
        let mut headers = signed("slack", &Slack, body, SystemClock::default().unix_secs());
        headers.push(("X-Slack-Retry-Num".to_owned(), "2".to_owned()));
        headers.push(("X-Other".to_owned(), "x".to_owned()));
        assert_eq!(post(to, "/slack", &headers, body).status, 200);
        eventually("it ran", || in_state(store, "completed") == 1);
        assert_eq!(seen.all(), ["2", "none"]);
    });
}
