//! A store that is down, slow, read-only, full or of another schema: 503 with `Retry-After`, a line in
//! the log that says why, nothing acknowledged, and recovery in the same process.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::{Seek as _, SeekFrom, Write as _};

use webhook_tests::app::{block_on, eventually};
use webhook_tests::on_both;
use webhook_tests::proxy::{Proxy, Way};
use webhook_tests::stores::{Postgres, Sqlite, Store};
use webhook_tests::victim::Victim;

on_both!(
    a_schema_from_the_future_refuses_to_start,
    a_store_of_another_schema_recovers_when_it_is_back,
);

const VICTIM: &str = env!("CARGO_BIN_EXE_victim");

fn start<S: Store>(store: &S) -> Victim {
    let victim = Victim::start(VICTIM, &store.url(), &[]);
    // With warm pools, as after days of service.
    victim.deliver("before", "note.created");
    eventually("it took effect", || effects(store, "before") == 1);
    victim
}

fn effects<S: Store>(store: &S, id: &str) -> i64 {
    let count = format!("select count(*) from effect where event_id = '{id}'");
    block_on(store.number(&count))
}

fn rows<S: Store>(store: &S, id: &str) -> i64 {
    let count = format!("select count(*) from webhook.inbox where event_id = '{id}'");
    block_on(store.number(&count))
}

/// One of each mode, and more than one try: a fault must not cure itself by a spent connection.
const EVENTS: [(&str, &str); 4] = [
    ("inbox", "note.created"),
    ("inline", "credit.approved"),
    ("inbox", "note.created"),
    ("inline", "credit.approved"),
];

/// While the store is bad.
fn refuses(victim: &mut Victim, why: &str) {
    for (id, event_type) in EVENTS {
        let answer = victim.post(id, event_type);
        assert_eq!(answer.status, 503, "{id}: {}", victim.logged());
        assert!(answer.comes_again, "{id}: no Retry-After");
        assert_eq!(answer.body, "refused\n");
    }
    let says_why = |line: &str| line.contains("not stored") && line.contains(why);
    eventually("the log says why, each time", || {
        let logged = victim.logged();
        logged.lines().filter(|line| says_why(line)).count() == EVENTS.len()
    });
    let logged = victim.logged();
    // The body's member and the secret begin like this.
    assert!(!logged.contains("canary"), "{logged}");
    assert!(victim.is_alive());
}

/// Once it is good again.
fn recovers<S: Store>(store: &S, victim: &mut Victim) {
    for (id, event_type) in EVENTS {
        victim.deliver(id, event_type);
        eventually("it took effect", || effects(store, id) == 1);
    }
    eventually("nothing is stuck", || {
        block_on(store.number("select count(*) from webhook.inbox where state <> 'completed'")) == 0
    });
    assert_eq!(block_on(store.number("select count(*) from effect")), 3);
    assert!(victim.is_alive());
}

fn nothing_was_kept<S: Store>(store: &S) {
    for (id, _) in EVENTS {
        assert_eq!((rows(store, id), effects(store, id)), (0, 0), "{id}");
    }
}

#[test]
fn a_server_that_is_down_is_waited_for() {
    let store = block_on(Postgres::fresh());
    let proxy = Proxy::to(&store.url());
    let mut victim = Victim::start(VICTIM, &proxy.url, &[]);
    victim.deliver("before", "note.created");
    eventually("it took effect", || effects(&store, "before") == 1);
    proxy.set(Way::Closed);
    refuses(&mut victim, "the ledger is unavailable: ");
    nothing_was_kept(&store);
    proxy.set(Way::Open);
    recovers(&store, &mut victim);
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    let store = block_on(Postgres::fresh());
    let proxy = Proxy::to(&store.url());
    let mut victim = Victim::start(VICTIM, &proxy.url, &[]);
    victim.deliver("before", "note.created");
    eventually("it took effect", || effects(&store, "before") == 1);
    proxy.set(Way::Silent);
    refuses(&mut victim, "in time");
    proxy.set(Way::Open);
    recovers(&store, &mut victim);
}

/// What PostgreSQL says when a write fails so, from whichever statement of ours writes first.
fn fails_with(code: &str) -> String {
    format!(
        "create function fail() returns trigger language plpgsql as
            $$ begin raise exception 'canary of the server' using errcode = '{code}'; end $$;
        create trigger fail before insert or update on webhook.claim
            for each statement execute function fail();
        create trigger fail before insert or update on webhook.inbox
            for each statement execute function fail()"
    )
}

const WORKS_AGAIN: &str = "drop function fail() cascade";

fn postgres_that_fails_with(code: &str, why: &str) {
    let store = block_on(Postgres::fresh());
    let mut victim = start(&store);
    block_on(store.execute(&fails_with(code)));
    refuses(&mut victim, why);
    nothing_was_kept(&store);
    block_on(store.execute(WORKS_AGAIN));
    recovers(&store, &mut victim);
}

#[test]
fn a_full_server_is_told_from_others() {
    postgres_that_fails_with("53100", "the store is full (code 53100)");
}

/// As after a fail-over, when the name still leads to the old primary.
#[test]
fn a_read_only_server_is_told_from_others() {
    postgres_that_fails_with("25006", "the store is read-only (code 25006)");
}

/// After a fail-over the sessions that were open lead to a standby, and only new ones to its successor.
#[test]
fn a_session_that_leads_to_a_standby_is_left() {
    let store = block_on(Postgres::fresh());
    let mut victim = start(&store);
    block_on(store.execute(
        "create table open as select pid from pg_stat_activity where datname = current_database();
        create function fail() returns trigger language plpgsql as $$ begin
            if pg_backend_pid() in (select pid from public.open) then
                raise exception 'read-only' using errcode = '25006';
            end if;
            return null;
        end $$;
        create trigger fail before insert or update on webhook.claim
            for each statement execute function fail();
        create trigger fail before insert or update on webhook.inbox
            for each statement execute function fail()",
    ));
    assert_eq!(victim.post("inbox", "note.created").status, 503);
    recovers(&store, &mut victim);
}

#[test]
fn a_server_whose_table_is_locked_is_contended() {
    let store = block_on(Postgres::fresh());
    let mut victim = start(&store);
    block_on(async {
        let lock = "begin; lock table webhook.claim in access exclusive mode";
        let held = store.hold(lock).await;
        refuses(&mut victim, "another transaction is in the way");
        drop(held);
    });
    recovers(&store, &mut victim);
}

#[test]
fn a_slow_server_is_not_waited_for() {
    let store = block_on(Postgres::fresh());
    let mut victim = start(&store);
    block_on(store.execute(
        "create function fail() returns trigger language plpgsql as
            $$ begin perform pg_sleep(4); return null; end $$;
        create trigger fail before insert on webhook.claim
            for each statement execute function fail()",
    ));
    refuses(&mut victim, "in time");
    block_on(store.execute(WORKS_AGAIN));
    recovers(&store, &mut victim);
}

/// Writes are refused by SQLite itself, as on a file system mounted read-only: byte 18 of the header is
/// the version of the format that a writer must know, <https://www.sqlite.org/fileformat2.html>.
#[test]
fn a_read_only_file_is_told_from_others() {
    let store = block_on(Sqlite::fresh());
    let mut victim = start(&store);
    write_version(&store, 3);
    refuses(&mut victim, "the store is read-only (code 8)");
    nothing_was_kept(&store);
    write_version(&store, 2);
    recovers(&store, &mut victim);
}

fn write_version(store: &Sqlite, version: u8) {
    // The page must stand in the file, and everybody must read it again.
    let busy = block_on(store.number("pragma wal_checkpoint(truncate)"));
    assert_eq!(busy, 0, "somebody is writing");
    let mut file = std::fs::File::options()
        .write(true)
        .open(store.path())
        .unwrap();
    file.seek(SeekFrom::Start(18)).unwrap();
    file.write_all(&[version]).unwrap();
    file.sync_all().unwrap();
}

#[test]
fn a_file_that_cannot_grow_is_told_from_others() {
    let store = block_on(Sqlite::fresh());
    let mut victim = start(&store);
    victim.tell("quota 4096");
    eventually("the quota is set", || victim.said().contains("quota set"));
    refuses(&mut victim, "the store's disk fails");
    victim.tell("quota none");
    recovers(&store, &mut victim);
}

#[test]
fn a_file_that_another_process_writes_to_is_not_waited_for() {
    let store = block_on(Sqlite::fresh());
    let mut victim = start(&store);
    block_on(async {
        let held = store.hold("begin immediate").await;
        refuses(&mut victim, "in time");
        drop(held);
    });
    recovers(&store, &mut victim);
}

#[test]
fn a_file_that_cannot_be_opened_is_told_at_start() {
    let url = "sqlite:///no/such/folder/app.db";
    let logged = Victim::try_start(VICTIM, url, &[]).unwrap_err();
    assert!(logged.contains("the file cannot be opened"), "{logged}");
}

fn a_schema_from_the_future_refuses_to_start<S: Store>() {
    let store = block_on(S::fresh());
    start(&store).kill();
    block_on(store.execute("update webhook.schema_version set min_reader = 99"));
    let logged = Victim::try_start(VICTIM, &store.url(), &[]).unwrap_err();
    assert!(logged.contains("asks for a library that reads version 99"));
    assert!(logged.contains("deploy a newer one"), "{logged}");
    block_on(store.execute("update webhook.schema_version set min_reader = 1"));
    let mut victim = Victim::start(VICTIM, &store.url(), &[]);
    recovers(&store, &mut victim);
}

/// An old backup is restored under a process that runs, and then the right one.
fn a_store_of_another_schema_recovers_when_it_is_back<S: Store>() {
    let store = block_on(S::fresh());
    let mut victim = start(&store);
    block_on(store.execute("alter table webhook.inbox rename column headers to titles"));
    refuses(&mut victim, "the schema is not the one this library made");
    nothing_was_kept(&store);
    block_on(store.execute("alter table webhook.inbox rename column titles to headers"));
    recovers(&store, &mut victim);
}
