//! Hazards that concern the whole of a receiver, and the table of all of them.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use webhook_actix::{Endpoint, Repeats};
use webhook_github::GitHub;
use webhook_tests::app::{NOW, block_on, eventually, signed};
use webhook_tests::on_both;
use webhook_tests::stores::{Postgres, Store};
use webhook_tests::victim::Victim;
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

mod batches;
mod handlers;
mod running;
mod table;

use batches::Batches;
use handlers::{on_block, on_credit, on_item, on_mail, on_note, on_poison, on_push};
use running::{Running, keys};

on_both!(
    d12_a_batch_is_claimed_event_by_event,
    d15_content_whose_first_copy_failed_is_run_under_its_new_id,
    d7_an_endpoint_that_moved_remembers,
    f1_an_effect_outside_the_transaction_comes_again_under_the_same_key,
    f5_handlers_that_block_delay_neither_claims_nor_heartbeats,
    f9_redeliveries_of_a_dead_event_buy_one_attempt_a_quiet_time,
);

/// A worker is stopped in its transaction, after its effect and before its completion: its locks stand.
#[test]
fn a7_a_stalled_transaction_uses_up_no_attempts() {
    let store = block_on(Postgres::fresh());
    block_on(store.execute(
        "create table account (id integer primary key, credits bigint not null);
         insert into account values (7, 0);
         create function credit() returns trigger language plpgsql as $$ begin
             update account set credits = credits + 1 where id = 7;
             return null;
         end $$;
         create trigger credit after insert on effect for each row execute function credit()",
    ));
    let program = env!("CARGO_BIN_EXE_victim");
    let stalled = Victim::start(program, &store.url(), &["held=after"]);
    assert_eq!(stalled.post("held", "note.created").status, 200);
    let waits_in_transaction = "select count(*) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'";
    eventually("its handler holds the account", || {
        block_on(store.number(waits_in_transaction)) == 1
    });
    stalled.signal("STOP");
    let next = Victim::start(program, &store.url(), &[]);
    let credits = || block_on(store.number("select credits from account"));
    eventually("the next one credited it", || credits() == 1);
    // Strangers who need the same account are served as well.
    next.deliver("other", "note.created");
    eventually("the other credited it", || credits() == 2);
    stalled.signal("CONT");
    eventually("nothing is stuck", || {
        block_on(store.number("select count(*) from webhook.inbox where state = 'completed'")) == 2
    });
    assert_eq!(credits(), 2);
    // One crash is what happened. Waiting for a lock is no failure, and no second crash.
    let tries = "select cast(failures * 100 + crashes as bigint) from webhook.inbox where event_id = 'held'";
    assert_eq!(block_on(store.number(tries)), 1);
}

fn d7_an_endpoint_that_moved_remembers<S: Store>() {
    let store = Arc::new(block_on(S::fresh()));
    for path in ["/webhooks/custom", "/v2/custom"] {
        let running = Running::start(&store, |webhooks| {
            webhooks.endpoint(
                Endpoint::at(path, Timestamped, keys("custom"))
                    .named("custom")
                    .on(on_note),
            )
        });
        let body = br#"{"id":"moved","type":"note.created"}"#;
        assert_eq!(running.post(path, "custom", body), 200);
        eventually("it took effect", || effects(&*store, "moved") > 0);
        running.stop();
    }
    assert_eq!(effects(&*store, "moved"), 1);
    assert_eq!(number(&*store, "select count(*) from webhook.inbox"), 1);
}

/// Batches roll: a sender that got no answer for one sends its events again among newer ones.
fn d12_a_batch_is_claimed_event_by_event<S: Store>() {
    let store = Arc::new(block_on(S::fresh()));
    let running = Running::start(&store, |webhooks| {
        webhooks.endpoint(
            Endpoint::at("/custom", Batches, keys("custom"))
                .named("custom")
                .on(on_item),
        )
    });
    let batch = |ids: &[&str]| {
        let items = ids
            .iter()
            .map(|id| serde_json::json!({"id": id, "type": "item"}));
        let items: serde_json::Value = items.collect();
        items.to_string().into_bytes()
    };
    let send = |ids: &[&str]| running.post("/custom", "custom", &batch(ids));
    assert_eq!(send(&["one", "two"]), 200);
    assert_eq!(send(&["two", "three", "three"]), 200);
    for id in ["one", "two", "three"] {
        eventually("it took effect", || effects(&*store, id) > 0);
    }
    // One that is no event refuses its batch: what is acknowledged is acknowledged as a whole.
    assert_eq!(send(&["four", ""]), 400);
    assert_eq!(number(&*store, "select count(*) from webhook.inbox"), 3);
    assert_eq!(number(&*store, "select count(*) from effect"), 3);
}

/// On a provider whose ids are unsigned the content is claimed too. Known content under a new id is a
/// replay if the first copy ran, and a second chance if it did not.
fn d15_content_whose_first_copy_failed_is_run_under_its_new_id<S: Store>() {
    let store = Arc::new(block_on(S::fresh()));
    let running = Running::start(&store, |webhooks| {
        webhooks.endpoint(
            Endpoint::at("/github", GitHub, keys("github"))
                .named("github")
                .repeats(Repeats::Quarantine)
                .max_failures(1)
                .backoff(Duration::from_millis(1), Duration::from_millis(1))
                .on(on_push),
        )
    });
    let body = include_bytes!("../../../providers/github/testdata/payloads/push.json");
    let send = |id: &str| {
        let mut headers = signed("github", &GitHub, body, NOW);
        headers.push(("X-GitHub-Event".to_owned(), "push".to_owned()));
        headers.push(("X-GitHub-Delivery".to_owned(), id.to_owned()));
        post(running.address, "/github", &headers, body).status
    };
    assert_eq!(send("first"), 200);
    eventually("it is dead", || in_state(&*store, "dead") == 1);
    assert_eq!(send("second"), 200);
    eventually("it ran", || in_state(&*store, "completed") == 1);
    assert_eq!(send("third"), 200);
    assert_eq!(number(&*store, "select count(*) from webhook.inbox"), 1);
    assert_eq!(number(&*store, "select count(*) from effect"), 1);
    assert_eq!(
        number(&*store, "select count(*) from webhook.quarantine"),
        1
    );
}

/// The credit commits once. The mail, which no database can take back, is sent by each run, and says
/// each time that it is the same one.
fn f1_an_effect_outside_the_transaction_comes_again_under_the_same_key<S: Store>() {
    let store = Arc::new(block_on(S::fresh()));
    let running = Running::start(&store, |webhooks| {
        webhooks.endpoint(
            Endpoint::at("/custom", Timestamped, keys("custom"))
                .named("custom")
                .backoff(Duration::from_millis(1), Duration::from_millis(1))
                .on(on_mail)
                .on(on_credit),
        )
    });
    let send = |id: &str, event_type: &str| {
        let body = serde_json::json!({"id": id, "type": event_type}).to_string();
        assert_eq!(running.post("/custom", "custom", body.as_bytes()), 200);
    };
    send("mail", "mail.wanted");
    send("credit", "credit.wanted");
    send("other", "mail.wanted");
    eventually("all are done", || in_state(&*store, "completed") == 3);
    assert_eq!(effects(&*store, "credit"), 1);
    let said = running.log.of("mail");
    assert_eq!(said.len(), 2, "it failed once, after the mail was sent");
    assert_eq!(said[0], said[1]);
    let credited = running.log.of("credit");
    assert_eq!(credited.len(), 2);
    assert_eq!(credited[0], credited[1]);
    let other = running.log.of("other");
    let keys: BTreeSet<_> = [&said[0], &credited[0], &other[0]].into();
    assert_eq!(keys.len(), 3, "an event has a key of its own");
}

/// All threads that run handlers are taken, for longer than a lease.
fn f5_handlers_that_block_delay_neither_claims_nor_heartbeats<S: Store>() {
    let store = Arc::new(block_on(S::fresh()));
    let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let running = Running::start(&store, |webhooks| {
        webhooks.endpoint(
            Endpoint::at("/custom", Timestamped, keys("custom"))
                .named("custom")
                .lease(Duration::from_secs(2))
                .inline_deadline(Duration::from_secs(1))
                .concurrency(u32::try_from(threads).unwrap() + 1)
                .on(on_block),
        )
    });
    let ids: Vec<String> = (0..threads)
        .map(|number| format!("block-{number}"))
        .collect();
    let send = |id: &str| {
        let body = serde_json::json!({"id": id, "type": "block"}).to_string();
        assert_eq!(running.post("/custom", "custom", body.as_bytes()), 200);
    };
    for id in &ids {
        send(id);
    }
    eventually("all threads are blocked", || {
        ids.iter().all(|id| running.log.of(id).len() == 1)
    });
    send("meanwhile");
    // Two leases pass.
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(number(&*store, "select count(*) from effect"), 0);
    running.log.unblock();
    eventually("all are done", || {
        usize::try_from(in_state(&*store, "completed")).unwrap() == threads + 1
    });
    for id in &ids {
        assert_eq!((running.log.of(id).len(), effects(&*store, id)), (1, 1));
    }
    let tries = "select cast(sum(failures + crashes) as bigint) from webhook.inbox";
    assert_eq!(number(&*store, tries), 0);
}

fn f9_redeliveries_of_a_dead_event_buy_one_attempt_a_quiet_time<S: Store>() {
    let store = Arc::new(block_on(S::fresh()));
    let hour = Duration::from_hours(1);
    let running = Running::start(&store, |webhooks| {
        webhooks.endpoint(
            Endpoint::at("/custom", Timestamped, keys("custom"))
                .named("custom")
                .max_failures(1)
                .backoff(hour, hour)
                .on(on_poison),
        )
    });
    let send = || running.post("/custom", "custom", br#"{"id":"bad","type":"poison"}"#);
    assert_eq!(send(), 200);
    for runs in 1..=2 {
        eventually("it is dead", || in_state(&*store, "dead") == 1);
        assert_eq!(running.log.of("bad").len(), runs);
        for _ in 0..5 {
            assert_eq!(send(), 200);
        }
        // It waits: a look into the inbox would have found it by now if it were due.
        std::thread::sleep(Duration::from_millis(1200));
        assert_eq!(in_state(&*store, "pending"), 1);
        assert_eq!(running.log.of("bad").len(), runs);
        // An hour later.
        let later = format!("update webhook.inbox set due_at = {}", S::A_MINUTE_AGO);
        block_on(store.execute(&later));
    }
    eventually("it is dead", || in_state(&*store, "dead") == 1);
    assert_eq!(
        number(
            &*store,
            "select cast(failures as bigint) from webhook.inbox"
        ),
        3
    );
}

fn number<S: Store>(store: &S, sql: &str) -> i64 {
    block_on(store.number(sql))
}

fn effects<S: Store>(store: &S, id: &str) -> i64 {
    number(
        store,
        &format!("select count(*) from effect where event_id = '{id}'"),
    )
}

fn in_state<S: Store>(store: &S, state: &str) -> i64 {
    number(
        store,
        &format!("select count(*) from webhook.inbox where state = '{state}'"),
    )
}
