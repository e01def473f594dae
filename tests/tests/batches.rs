//! Events that a process took ahead of its handlers: they run in batches, and never wait for long.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use webhook_tests::app::{Act, App, Tuning, block_on, custom, eventually};
use webhook_tests::on_both;
use webhook_tests::stores::Store;
use webhook_tests::wire::post;

on_both!(
    a_backlog_runs_once_each,
    f6_what_waits_at_a_shutdown_is_handed_back_uncounted,
    what_waits_behind_a_handler_that_hangs_runs_elsewhere,
);

fn start<S: Store>() -> (Arc<S>, App) {
    let store = Arc::new(block_on(S::fresh()));
    let app = App::start(&store, Tuning::default());
    (store, app)
}

fn number<S: Store>(store: &S, sql: &str) -> i64 {
    block_on(store.number(sql))
}

fn pending<S: Store>(store: &S) -> i64 {
    number(
        store,
        "select count(*) from webhook.inbox where state = 'pending'",
    )
}

fn completed<S: Store>(store: &S) -> i64 {
    number(
        store,
        "select count(*) from webhook.inbox where state = 'completed'",
    )
}

fn send(app: &App, id: &str, event_type: &str) {
    let (headers, body) = custom(id, event_type);
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
}

/// Store events while nobody takes them, so that they are all due at once.
fn pile_up<S: Store>(store: &S, app: &App, ids: impl Iterator<Item = String>) {
    let ids: Vec<String> = ids.collect();
    let count = i64::try_from(ids.len()).unwrap();
    let before = completed(store);
    for id in ids {
        send(app, &id, "note.created");
    }
    eventually("they have run", || completed(store) == before + count);
}

/// Let handlers of `app` be seen to be fast: only then is anything taken ahead of them.
fn warm_up<S: Store>(store: &S, app: &App) {
    pile_up(store, app, (0..30).map(|n| format!("warm-{n}")));
}

fn a_backlog_runs_once_each<S: Store>() {
    let (store, app) = start::<S>();
    warm_up(&*store, &app);
    // Everything again, and all of it due at the same instant.
    let again = "update webhook.inbox
        set state = 'pending', settled_at = null, due_at = received_at";
    for round in 1..=5 {
        block_on(store.execute(again));
        eventually("all of them ran again", || completed(&*store) == 30);
        for n in 0..30 {
            let id = format!("warm-{n}");
            assert_eq!(app.script.runs(&id), round + 1, "{id}");
        }
    }
    let counted = "select sum(failures + crashes + contended) from webhook.inbox";
    assert_eq!(number(&*store, counted), 0);
    app.stop();
}

/// As many events as there are places hang, before their transactions, and the others wait behind them.
fn hang<S: Store>(store: &S, app: &App, behind: usize) {
    warm_up(store, app);
    let hung = ["h1", "h2", "h3", "h4"];
    for id in hung {
        let hour = Duration::from_hours(1);
        app.script.plan(id, [Act::SleepBefore(hour)]);
        send(app, id, "note.slow");
    }
    eventually("they hang", || {
        hung.iter().all(|id| app.script.runs(id) == 1)
    });
    for n in 0..behind {
        send(app, &format!("behind-{n}"), "note.created");
    }
}

fn what_waits_behind_a_handler_that_hangs_runs_elsewhere<S: Store>() {
    let (store, app) = start::<S>();
    hang(&*store, &app, 20);
    // Nobody but another process can run them now.
    let other = App::start(&store, Tuning::default());
    eventually("the other process has run them", || {
        (0..20).all(|n| other.script.runs(&format!("behind-{n}")) == 1)
    });
    eventually("they are completed", || completed(&*store) == 50);
    let counted = "select sum(failures + crashes) from webhook.inbox";
    assert_eq!(number(&*store, counted), 0);
    other.stop();
    drop(app);
}

fn f6_what_waits_at_a_shutdown_is_handed_back_uncounted<S: Store>() {
    let (store, app) = start::<S>();
    hang(&*store, &app, 20);
    let began = Instant::now();
    app.stop();
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(pending(&*store), 24);
    let counted = "select sum(failures + crashes + contended) from webhook.inbox";
    assert_eq!(number(&*store, counted), 0);
}
