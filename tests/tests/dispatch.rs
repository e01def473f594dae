//! One effect: races, failing handlers, hang-ups, shutdown, a store that goes away.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::Write as _;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use webhook_actix::State;
use webhook_actix::ledger::{Ledger as _, Release, Replay, Replayable, Search};
use webhook_github::GitHub;
use webhook_tests::app::{Act, App, NOW, Tuning, block_on, custom, eventually, signed};
use webhook_tests::on_both;
use webhook_tests::stores::{Postgres, Store};
use webhook_tests::wire::{connect, head, post};

on_both!(
    two_identical_deliveries_have_one_effect,
    fifty_identical_deliveries_have_one_effect,
    two_processes_worth_of_engines_have_one_effect,
    a_failing_handler_runs_again_and_leaves_one_effect,
    a_panicking_handler_is_a_failed_attempt_and_no_dead_worker,
    attempts_used_up_are_a_dead_letter_that_a_redelivery_revives,
    a_hopeless_event_is_a_dead_letter_at_once,
    an_ignored_event_is_completed_without_effect,
    an_undecodable_payload_is_a_dead_letter_and_not_a_bad_signature,
    an_inline_failure_rolls_back_and_the_retry_runs,
    f7_an_inline_failure_of_a_provider_that_never_retries_goes_to_the_inbox,
    a5_an_inline_deadline_answers_503_and_frees_the_event,
    an_inline_duplicate_gets_the_stored_reply,
    a_client_that_hangs_up_loses_nothing,
    b1_slow_work_before_the_transaction_blocks_nobody,
    b1_claims_wait_while_a_handler_holds_the_writer,
    f6_shutdown_finishes_what_runs_in_time_and_hands_back_the_rest,
    a_handler_longer_than_its_lease_is_renewed_and_runs_once,
    a3_a_handler_that_commits_by_itself_is_a_dead_letter_and_runs_once,
    an_inline_lease_that_was_lost_is_not_acknowledged,
    d11_a_released_delivery_runs_once_and_a_discarded_one_never,
    a_dead_event_is_replayed_by_an_operator,
    a_handler_that_hangs_is_a_failed_attempt_and_frees_its_place,
);

fn start<S: Store>(tuning: Tuning) -> (Arc<S>, App) {
    let store = Arc::new(block_on(S::fresh()));
    let app = App::start(&store, tuning);
    (store, app)
}

fn effects<S: Store>(store: &S, id: &str) -> i64 {
    block_on(store.number(&format!(
        "select count(*) from effect where event_id = '{id}'"
    )))
}

fn in_state<S: Store>(store: &S, state: &str) -> i64 {
    block_on(store.number(&format!(
        "select count(*) from webhook.inbox where state = '{state}'"
    )))
}

/// Send copies of one delivery at the same instant, to these applications in turn.
fn at_once(apps: &[&App], copies: usize, id: &str, event_type: &str) -> Vec<u16> {
    let (headers, body) = custom(id, event_type);
    let barrier = Arc::new(Barrier::new(copies));
    let senders: Vec<_> = (0..copies)
        .map(|copy| {
            let (headers, body, barrier) = (headers.clone(), body.clone(), barrier.clone());
            let address = apps[copy % apps.len()].address;
            std::thread::spawn(move || {
                barrier.wait();
                post(address, "/custom", &headers, &body).status
            })
        })
        .collect();
    senders
        .into_iter()
        .map(|sender| sender.join().unwrap())
        .collect()
}

fn race<S: Store>(copies: usize) {
    let (store, app) = start::<S>(Tuning::default());
    for (id, event_type) in [("inbox", "note.created"), ("inline", "credit.approved")] {
        let answers = at_once(&[&app], copies, id, event_type);
        assert!(
            answers.iter().all(|status| *status == 200),
            "{id}: {answers:?}"
        );
        eventually("the effect is there", || effects(&*store, id) == 1);
        assert_eq!(app.script.runs(id), 1);
    }
    eventually("both are completed", || in_state(&*store, "completed") == 2);
    app.stop();
    assert_eq!(
        (effects(&*store, "inbox"), effects(&*store, "inline")),
        (1, 1)
    );
}

fn two_identical_deliveries_have_one_effect<S: Store>() {
    race::<S>(2);
}

fn fifty_identical_deliveries_have_one_effect<S: Store>() {
    race::<S>(50);
}

/// Two engines with pools of their own; `examples/quickstart` does it with two processes.
fn two_processes_worth_of_engines_have_one_effect<S: Store>() {
    let (store, one) = start::<S>(Tuning::default());
    let two = App::start(&store, Tuning::default());
    for (id, event_type) in [("inbox", "note.created"), ("inline", "credit.approved")] {
        let answers = at_once(&[&one, &two], 50, id, event_type);
        assert!(
            answers.iter().all(|status| *status == 200),
            "{id}: {answers:?}"
        );
        eventually("the effect is there", || effects(&*store, id) == 1);
        assert_eq!(one.script.runs(id) + two.script.runs(id), 1);
    }
    one.stop();
    two.stop();
    assert_eq!(
        (effects(&*store, "inbox"), effects(&*store, "inline")),
        (1, 1)
    );
}

fn a_failing_handler_runs_again_and_leaves_one_effect<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    app.script.plan("fails", [Act::Fail, Act::Fail]);
    let (headers, body) = custom("fails", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("the third attempt took effect", || {
        effects(&*store, "fails") == 1
    });
    app.stop();
    assert_eq!(app_runs(&*store), (2, 0));
}

/// Failures and crashes on record.
fn app_runs<S: Store>(store: &S) -> (i64, i64) {
    block_on(async {
        (
            store
                .number("select cast(sum(failures) as bigint) from webhook.inbox")
                .await,
            store
                .number("select cast(sum(crashes) as bigint) from webhook.inbox")
                .await,
        )
    })
}

fn a_panicking_handler_is_a_failed_attempt_and_no_dead_worker<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    app.script.plan("panics", [Act::Panic]);
    for id in ["panics", "another"] {
        let (headers, body) = custom(id, "note.created");
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
        eventually("it took effect", || effects(&*store, id) == 1);
    }
    app.stop();
    assert_eq!(app_runs(&*store), (1, 0));
}

fn attempts_used_up_are_a_dead_letter_that_a_redelivery_revives<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    app.script.plan("dies", [Act::Fail; 3]);
    let (headers, body) = custom("dies", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("it is dead", || in_state(&*store, "dead") == 1);
    assert_eq!((app.script.runs("dies"), effects(&*store, "dies")), (3, 0));
    // Class and public words only: never the error's text.
    let told = "select count(*) from webhook.inbox
        where last_error is not null and last_error not like '%canary%'";
    assert_eq!(block_on(store.number(told)), 1);
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("it ran after all", || effects(&*store, "dies") == 1);
    app.stop();
    assert_eq!(in_state(&*store, "completed"), 1);
}

fn a_hopeless_event_is_a_dead_letter_at_once<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    for (id, event_type) in [("inbox", "note.created"), ("inline", "credit.approved")] {
        app.script.plan(id, [Act::DeadLetter; 2]);
        let (headers, body) = custom(id, event_type);
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    }
    eventually("both are dead", || in_state(&*store, "dead") == 2);
    app.stop();
    assert_eq!(
        (effects(&*store, "inbox"), effects(&*store, "inline")),
        (0, 0)
    );
}

fn an_ignored_event_is_completed_without_effect<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    for (id, event_type) in [("inbox", "note.created"), ("inline", "credit.approved")] {
        app.script.plan(id, [Act::Ignore]);
        let (headers, body) = custom(id, event_type);
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    }
    eventually("both are completed", || in_state(&*store, "completed") == 2);
    app.stop();
    assert_eq!(
        (effects(&*store, "inbox"), effects(&*store, "inline")),
        (0, 0)
    );
}

fn an_undecodable_payload_is_a_dead_letter_and_not_a_bad_signature<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let (headers, body) = custom("undecodable", "note.strict");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("it is dead", || in_state(&*store, "dead") == 1);
    app.stop();
    let kept = "select count(*) from webhook.inbox where payload is not null and last_error like '%decode%'";
    assert_eq!(block_on(store.number(kept)), 1);
}

fn an_inline_failure_rolls_back_and_the_retry_runs<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    for act in [Act::Fail, Act::Panic] {
        let id = format!("{act:?}").to_lowercase();
        app.script.plan(&id, [act]);
        let (headers, body) = custom(&id, "credit.approved");
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 503);
        assert_eq!(effects(&*store, &id), 0);
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
        assert_eq!(effects(&*store, &id), 1);
        assert_eq!(app.script.runs(&id), 2);
    }
    app.stop();
    assert_eq!(in_state(&*store, "completed"), 2);
}

fn f7_an_inline_failure_of_a_provider_that_never_retries_goes_to_the_inbox<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let body = include_bytes!("../../providers/github/testdata/payloads/issues.opened.json");
    let mut headers = signed("github", &GitHub, body, NOW);
    headers.push(("X-GitHub-Delivery".to_owned(), "i-1".to_owned()));
    headers.push(("X-GitHub-Event".to_owned(), "issues".to_owned()));
    app.script.plan("i-1", [Act::Fail]);
    assert_eq!(post(app.address, "/github", &headers, body).status, 200);
    eventually("a worker ran it", || effects(&*store, "i-1") == 1);
    assert_eq!(app.script.runs("i-1"), 2);
    app.stop();
}

fn a5_an_inline_deadline_answers_503_and_frees_the_event<S: Store>() {
    let (store, app) = start::<S>(Tuning {
        inline_deadline: Duration::from_millis(500),
        ..Tuning::default()
    });
    app.script
        .plan("late", [Act::SleepAfter(Duration::from_mins(1))]);
    let (headers, body) = custom("late", "credit.approved");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 503);
    assert_eq!(effects(&*store, "late"), 0);
    eventually("the retry is not kept waiting", || {
        post(app.address, "/custom", &headers, &body).status == 200
    });
    app.stop();
    assert_eq!(effects(&*store, "late"), 1);
}

fn an_inline_duplicate_gets_the_stored_reply<S: Store>() {
    let (_store, app) = start::<S>(Tuning::default());
    let (headers, body) = custom("replied", "credit.approved");
    for _ in 0..2 {
        let answer = post(app.address, "/custom", &headers, &body);
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"credited":"replied"}"#)
        );
        assert!(
            answer
                .headers
                .iter()
                .any(|line| line == "content-type: application/json")
        );
    }
    assert_eq!(app.script.runs("replied"), 1);
    app.stop();
}

fn a_client_that_hangs_up_loses_nothing<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    for (id, event_type) in [("inbox", "note.created"), ("inline", "credit.approved")] {
        app.script
            .plan(id, [Act::SleepBefore(Duration::from_millis(300))]);
        let (headers, body) = custom(id, event_type);
        let mut request = head("/custom", &headers).into_bytes();
        request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        request.extend_from_slice(&body);
        let mut stream = connect(app.address);
        stream.write_all(&request).unwrap();
        // Long enough to be read, too short to be answered.
        eventually("the handler runs", || app.script.runs(id) == 1);
        drop(stream);
        eventually("it took effect", || effects(&*store, id) == 1);
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    }
    app.stop();
    assert_eq!(
        (effects(&*store, "inbox"), effects(&*store, "inline")),
        (1, 1)
    );
}

fn b1_slow_work_before_the_transaction_blocks_nobody<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    app.script
        .plan("slow", [Act::SleepBefore(Duration::from_secs(2))]);
    let (headers, body) = custom("slow", "note.slow");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("it runs", || app.script.runs("slow") == 1);
    for id in ["a", "b"] {
        let (headers, body) = custom(id, "note.created");
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
        eventually("another took effect meanwhile", || {
            effects(&*store, id) == 1
        });
    }
    assert_eq!(effects(&*store, "slow"), 0);
    eventually("it took effect", || effects(&*store, "slow") == 1);
    app.stop();
}

fn b1_claims_wait_while_a_handler_holds_the_writer<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    app.script
        .plan("holds", [Act::SleepAfter(Duration::from_secs(2))]);
    let (headers, body) = custom("holds", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("it runs", || app.script.runs("holds") == 1);
    let answers: Vec<_> = (0..10)
        .map(|copy| {
            let (headers, body) = custom(&format!("waits-{copy}"), "note.created");
            let address = app.address;
            std::thread::spawn(move || post(address, "/custom", &headers, &body).status)
        })
        .collect();
    for answer in answers {
        assert_eq!(answer.join().unwrap(), 200);
    }
    eventually("all took effect", || {
        block_on(store.number("select count(*) from effect")) == 11
    });
    app.stop();
    assert_eq!(app_runs(&*store), (0, 0));
}

fn f6_shutdown_finishes_what_runs_in_time_and_hands_back_the_rest<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    app.script
        .plan("short", [Act::SleepBefore(Duration::from_secs(2))]);
    app.script
        .plan("long", [Act::SleepBefore(Duration::from_mins(10))]);
    for id in ["short", "long"] {
        let (headers, body) = custom(id, "note.slow");
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
        eventually("it runs", || app.script.runs(id) == 1);
    }
    app.stop();
    assert_eq!(
        (effects(&*store, "short"), effects(&*store, "long")),
        (1, 0)
    );
    assert_eq!(
        (in_state(&*store, "completed"), in_state(&*store, "pending")),
        (1, 1)
    );
    assert_eq!(app_runs(&*store), (0, 0));
    let next = App::start(&store, Tuning::default());
    eventually("another process ran it at once", || {
        effects(&*store, "long") == 1
    });
    next.stop();
}

fn a_handler_longer_than_its_lease_is_renewed_and_runs_once<S: Store>() {
    let (store, app) = start::<S>(Tuning {
        lease: Duration::from_secs(1),
        inline_deadline: Duration::from_millis(700),
        ..Tuning::default()
    });
    app.script
        .plan("renewed", [Act::SleepBefore(Duration::from_secs(4))]);
    let (headers, body) = custom("renewed", "note.slow");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("it took effect", || effects(&*store, "renewed") == 1);
    app.stop();
    assert_eq!(app_runs(&*store), (0, 0));
}

fn a3_a_handler_that_commits_by_itself_is_a_dead_letter_and_runs_once<S: Store>() {
    let (store, app) = start::<S>(Tuning {
        lease: Duration::from_secs(1),
        inline_deadline: Duration::from_millis(700),
        ..Tuning::default()
    });
    let acts = [Act::Commit, Act::CommitAndFail, Act::CommitAndPanic];
    for (id, event_type) in [("inbox", "note.created"), ("inline", "credit.approved")] {
        for act in acts {
            let id = format!("{id}-{act:?}");
            app.script.plan(&id, [act]);
            let (headers, body) = custom(&id, event_type);
            assert_eq!(
                post(app.address, "/custom", &headers, &body).status,
                200,
                "{id}"
            );
        }
    }
    eventually("all are dead", || in_state(&*store, "dead") == 6);
    // Longer than the lease: nobody may take them over.
    std::thread::sleep(Duration::from_millis(1500));
    for id in ["inbox", "inline"] {
        for act in acts {
            let id = format!("{id}-{act:?}");
            assert_eq!(
                (effects(&*store, &id), app.script.runs(&id)),
                (1, 1),
                "{id}"
            );
        }
    }
    // Not even if it comes again.
    let (headers, body) = custom("inbox-Commit", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    app.stop();
    assert_eq!(in_state(&*store, "dead"), 6);
}

/// A handler that blocks its thread past lease and deadline: nothing was kept.
fn an_inline_lease_that_was_lost_is_not_acknowledged<S: Store>() {
    let (store, app) = start::<S>(Tuning {
        lease: Duration::from_secs(1),
        inline_deadline: Duration::from_millis(700),
        ..Tuning::default()
    });
    app.script
        .plan("blocked", [Act::Block(Duration::from_millis(1500))]);
    let (headers, body) = custom("blocked", "credit.approved");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 503);
    assert_eq!(effects(&*store, "blocked"), 0);
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    assert_eq!(effects(&*store, "blocked"), 1);
    app.stop();
}

fn d11_a_released_delivery_runs_once_and_a_discarded_one_never<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let push = include_bytes!("../../providers/github/testdata/payloads/push.json");
    let send = |id: &str, body: &[u8]| {
        let mut headers = signed("github", &GitHub, body, NOW);
        headers.push(("X-GitHub-Delivery".to_owned(), id.to_owned()));
        headers.push(("X-GitHub-Event".to_owned(), "push".to_owned()));
        assert_eq!(post(app.address, "/github", &headers, body).status, 200);
    };
    let other: Vec<u8> = [&push[..], b"\n"].concat();
    for (body, first, replay) in [(&push[..], "p-1", "p-2"), (&other, "o-1", "o-2")] {
        send(first, body);
        eventually("it took effect", || effects(&*store, first) == 1);
        send(replay, body);
    }
    let (released, discarded) = block_on(async {
        let ledger = store.ledger().await;
        let kept = ledger.quarantined(None, None, 10).await.unwrap();
        let [one, two] = &kept[..] else {
            panic!("{kept:?}")
        };
        let released = ledger.release(one.id, "ann".to_owned()).await.unwrap();
        assert!(matches!(released, Release::Released(_)), "{released:?}");
        let again = ledger.release(one.id, "bob".to_owned()).await.unwrap();
        assert_eq!(again, Release::Settled);
        assert!(ledger.discard(two.id, "ann".to_owned()).await.unwrap());
        assert_eq!(
            ledger.release(two.id, "bob".to_owned()).await.unwrap(),
            Release::Settled
        );
        assert!(ledger.quarantined(None, None, 10).await.unwrap().is_empty());
        ledger.close().await;
        (one.event_id.clone(), two.event_id.clone())
    });
    eventually("the released one took effect", || {
        effects(&*store, &released) == 1
    });
    app.stop();
    assert_eq!(
        (effects(&*store, &released), effects(&*store, &discarded)),
        (1, 0)
    );
}

fn a_dead_event_is_replayed_by_an_operator<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    app.script.plan("dies", [Act::DeadLetter]);
    let (headers, body) = custom("dies", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    eventually("it is dead", || in_state(&*store, "dead") == 1);
    block_on(async {
        let ledger = store.ledger().await;
        let search = Search::default().state(State::Dead).limit(10);
        let found = ledger.find(search).await.unwrap();
        let [dead] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((dead.event_id.as_str(), dead.failures), ("dies", 1));
        let replayed = ledger
            .replay(dead.inbox, "ann".to_owned(), Replayable::Unfinished)
            .await
            .unwrap();
        assert_eq!(replayed, Replay::Waiting);
        ledger.close().await;
    });
    eventually("it took effect", || effects(&*store, "dies") == 1);
    app.stop();
}

fn a_handler_that_hangs_is_a_failed_attempt_and_frees_its_place<S: Store>() {
    let (store, app) = start::<S>(Tuning {
        max_attempt: Duration::from_secs(1),
        ..Tuning::default()
    });
    // As many as there are places.
    let hung = ["h1", "h2", "h3", "h4"];
    for id in hung {
        app.script
            .plan(id, [Act::SleepBefore(Duration::from_hours(1))]);
        let (headers, body) = custom(id, "note.slow");
        assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    }
    let (headers, body) = custom("behind", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    for id in ["behind", "h1", "h2", "h3", "h4"] {
        eventually("it took effect", || effects(&*store, id) == 1);
    }
    app.stop();
    assert_eq!(app_runs(&*store), (4, 0));
}

/// 503 with Retry-After while the database is away, and nothing lost once it is back.
#[test]
fn a_store_that_is_away_is_503_and_comes_back() {
    let (store, app) = start::<Postgres>(Tuning::default());
    let name = store.url();
    let name = name
        .rsplit('/')
        .next()
        .unwrap()
        .trim_end_matches('?')
        .to_owned();
    let away = format!(
        "alter database {name} allow_connections false;
         select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}' and pid <> pg_backend_pid()"
    );
    block_on(store.admin(&away));
    let (headers, body) = custom("away", "note.created");
    let (inline_headers, inline_body) = custom("away-inline", "credit.approved");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 503);
    assert_eq!(
        post(app.address, "/custom", &inline_headers, &inline_body).status,
        503
    );
    block_on(store.admin(&format!("alter database {name} allow_connections true")));
    eventually("it is taken again", || {
        post(app.address, "/custom", &headers, &body).status == 200
    });
    eventually("inline too", || {
        post(app.address, "/custom", &inline_headers, &inline_body).status == 200
    });
    eventually("it took effect", || effects(&*store, "away") == 1);
    app.stop();
    assert_eq!(
        (effects(&*store, "away"), effects(&*store, "away-inline")),
        (1, 1)
    );
}
