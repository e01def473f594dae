//! SIGKILL of a real process, at each place where a careless design loses or doubles the event.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::Write as _;
use std::sync::Arc;

use webhook_tests::app::{block_on, eventually};
use webhook_tests::on_both;
use webhook_tests::stores::Store;
use webhook_tests::victim::{Victim, fresh};
use webhook_tests::wire::{connect, head};

on_both!(
    killed_after_the_claim_the_event_runs_once_after_restart,
    killed_in_the_handler_the_event_runs_once_after_restart,
    killed_between_effect_and_commit_the_effect_is_there_once,
    killed_inside_an_inline_transaction_nothing_stays_and_the_retry_runs,
    killed_between_commit_and_answer_the_redelivery_is_a_duplicate,
);

fn start<S: Store>(store: &S, plan: &[&str]) -> Victim {
    Victim::start(env!("CARGO_BIN_EXE_victim"), &store.url(), plan)
}

fn effects<S: Store>(store: &S, id: &str) -> i64 {
    block_on(store.number(&format!(
        "select count(*) from effect where event_id = '{id}'"
    )))
}

fn processing<S: Store>(store: &S) -> i64 {
    block_on(store.number("select count(*) from webhook.inbox where state = 'processing'"))
}

fn fresh_store<S: Store>() -> Arc<S> {
    Arc::new(block_on(S::fresh()))
}

fn killed_after_the_claim_the_event_runs_once_after_restart<S: Store>() {
    let store = fresh_store::<S>();
    // Four sleepers occupy every place, so that the fifth is claimed and not yet taken.
    let sleepers = ["s1=before", "s2=before", "s3=before", "s4=before"];
    let victim = start(&*store, &sleepers);
    for id in ["s1", "s2", "s3", "s4"] {
        assert_eq!(victim.post(id, "note.slow").status, 200);
    }
    eventually("the sleepers run", || processing(&*store) == 4);
    assert_eq!(victim.post("claimed", "note.created").status, 200);
    victim.kill();
    assert_eq!(effects(&*store, "claimed"), 0);
    let next = start(&*store, &[]);
    for id in ["claimed", "s1", "s2", "s3", "s4"] {
        eventually("it ran after restart", || effects(&*store, id) == 1);
        let event_type = if id == "claimed" {
            "note.created"
        } else {
            "note.slow"
        };
        assert_eq!(next.post(id, event_type).status, 200);
    }
    let crashed = "select count(*) from webhook.inbox where crashes = 1 and failures = 0";
    assert_eq!(block_on(store.number(crashed)), 4);
}

fn killed_in_the_handler_the_event_runs_once_after_restart<S: Store>() {
    let store = fresh_store::<S>();
    let victim = start(&*store, &["slow=before"]);
    assert_eq!(victim.post("slow", "note.slow").status, 200);
    eventually("it runs", || processing(&*store) == 1);
    victim.kill();
    assert_eq!(effects(&*store, "slow"), 0);
    let next = start(&*store, &[]);
    eventually("it ran after restart", || effects(&*store, "slow") == 1);
    assert_eq!(next.post("slow", "note.slow").status, 200);
    assert_eq!(effects(&*store, "slow"), 1);
}

fn killed_between_effect_and_commit_the_effect_is_there_once<S: Store>() {
    let store = fresh_store::<S>();
    let victim = start(&*store, &["open=after"]);
    assert_eq!(victim.post("open", "note.created").status, 200);
    eventually("it runs", || processing(&*store) == 1);
    // The effect is written and not committed: time for the insert, well inside the transaction's bound.
    std::thread::sleep(std::time::Duration::from_millis(300));
    victim.kill();
    assert_eq!(effects(&*store, "open"), 0);
    let next = start(&*store, &[]);
    eventually("it ran after restart", || effects(&*store, "open") == 1);
    assert_eq!(next.post("open", "note.created").status, 200);
    assert_eq!(effects(&*store, "open"), 1);
}

fn killed_inside_an_inline_transaction_nothing_stays_and_the_retry_runs<S: Store>() {
    let store = fresh_store::<S>();
    let victim = start(&*store, &["inline=after"]);
    let (headers, body) = fresh("inline", "credit.approved");
    let mut request = head("/custom", &headers).into_bytes();
    request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(&body);
    let mut stream = connect(victim.address);
    stream.write_all(&request).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    victim.kill();
    assert_eq!(effects(&*store, "inline"), 0);
    assert_eq!(
        block_on(store.number("select count(*) from webhook.inbox")),
        0
    );
    let next = start(&*store, &[]);
    eventually("the retry runs", || {
        next.post("inline", "credit.approved").status == 200
    });
    assert_eq!(next.post("inline", "credit.approved").status, 200);
    assert_eq!(effects(&*store, "inline"), 1);
}

fn killed_between_commit_and_answer_the_redelivery_is_a_duplicate<S: Store>() {
    let store = fresh_store::<S>();
    let victim = start(&*store, &[]);
    // Nobody reads the answer: for the sender this is the same as a kill before it was written.
    let (headers, body) = fresh("unanswered", "credit.approved");
    let mut request = head("/custom", &headers).into_bytes();
    request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(&body);
    let mut stream = connect(victim.address);
    stream.write_all(&request).unwrap();
    eventually("it is committed", || effects(&*store, "unanswered") == 1);
    victim.kill();
    let next = start(&*store, &[]);
    assert_eq!(next.post("unanswered", "credit.approved").status, 200);
    assert_eq!(effects(&*store, "unanswered"), 1);
}
