//! What only PostgreSQL can get wrong.

use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, Row};
use tokio::task::JoinSet;
use webhook_core::ledger::{Committed, Completion, Ledger, LedgerFault, LedgerTx, Registration};
use webhook_core::{Claim, State};
use webhook_sqlx::{PoolSizes, PostgresLedger};
use webhook_testkit::ledger::steps::{
    begun, claim, complete, granted, in_state, leased, limits, prepared, settled, want,
};
use webhook_testkit::ledger::{Post, Store};

use crate::proxy::Proxy;
use crate::store::{End, Postgres, Sql, set_due};

on_postgres! {
    a2_swallowed_sql_error_is_a_failed_attempt
    a5_limits_of_statements_and_locks_hold
    a5_limits_end_with_their_transaction
    a6_a_stalled_completion_can_be_taken_over
    a6_the_server_watches_over_its_clients
    a8_session_state_does_not_cross_events
    a9_isolation_is_not_inherited
    a10_a_commit_whose_answer_was_lost_is_found
    a10_an_inline_commit_whose_answer_was_lost_is_found
    a10_a_connection_lost_before_the_commit_is_no_commit
    a10_a_connection_lost_in_the_commit_is_no_commit
    a10_a_deferred_constraint_is_a_failed_attempt
    a12_contention_is_a_class_of_its_own
    a12_handlers_contention_is_the_stores
    c6_handlers_cannot_starve_claims
    c6_a_claim_does_not_wait_for_an_inline_transaction_for_ever
    renewal_does_not_wait_for_a_completion
    f10_synchronous_commit_is_not_inherited
    f10_an_unfit_encoding_is_refused
    f13_preparing_a_current_schema_changes_no_table
    an_ordinary_role_suffices
    statements_are_served_by_indexes
    broken_idle_connections_are_replaced
    an_unreachable_server_is_unavailable
    passwords_are_never_shown
}

async fn text(conn: &mut PgConnection, sql: &'static str) -> String {
    let row = sqlx::raw_sql(sql).fetch_one(conn).await.unwrap();
    row.try_get(0).unwrap()
}

/// One connection for handlers, so that each gets what the one before has left.
async fn with_one_handler_connection(store: &Postgres) -> PostgresLedger {
    let mut sizes = PoolSizes::default();
    sizes.handlers = 1;
    let ledger = PostgresLedger::connect_with(&store.url, sizes)
        .await
        .unwrap();
    ledger.prepare(Registration::default()).await.unwrap();
    ledger
}

/// X2: `commit` of an aborted transaction says that all is well.
async fn a2_swallowed_sql_error_is_a_failed_attempt(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<Postgres>(&ledger, lease).await;
    let _ = Postgres::run(tx.conn(), "insert into effect values (null)").await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Aborted);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );

    let event = Post::new("2").strict();
    let (mut tx, _) = granted(ledger.begin_inline(event.clone(), limits()).await.unwrap());
    let _ = Postgres::run(tx.conn(), "insert into effect values (null)").await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Aborted);
    assert_eq!(claim(&ledger, event).await, Claim::Stored);

    // In a savepoint of its own an error may be swallowed.
    let tx = {
        let mut tx = begun::<Postgres>(&ledger, lease).await;
        Postgres::nest(tx.conn(), "insert into effect values (null)", End::Commit)
            .await
            .unwrap_err();
        tx
    };
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 1);
}

async fn a5_limits_of_statements_and_locks_hold(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    store.execute("insert into effect values ('row')").await;
    let mut other = store.connect().await;
    Postgres::run(&mut other, "begin; update effect set event = 'locked'")
        .await
        .unwrap();
    let mut short = limits();
    short.statement = Duration::from_millis(400);
    short.lock = Duration::from_millis(100);
    for (sql, code) in [
        ("select pg_sleep(30)", "57014"),
        ("update effect set event = 'x'", "55P03"),
    ] {
        let mut tx = ledger.begin(lease, short).await.unwrap().unwrap();
        let from = Instant::now();
        let error = Postgres::run(tx.conn(), sql).await.unwrap_err();
        assert!(from.elapsed() < Duration::from_secs(10));
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), code);
        assert!(ledger.is_to_blame(&error));
        tx.rollback().await;
    }
    // A pause between two statements, too: the server closes the connection.
    let mut tx = ledger.begin(lease, short).await.unwrap().unwrap();
    Postgres::run(tx.conn(), "insert into effect values ('1')")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(900)).await;
    let error = complete(tx).await.unwrap_err();
    assert_eq!(*error.kind(), LedgerFault::Unavailable);
    assert_eq!(in_state(&ledger, State::Processing).await, 1);
}

async fn a5_limits_end_with_their_transaction(store: Arc<Postgres>) {
    let ledger = with_one_handler_connection(&store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut short = limits();
    short.statement = Duration::from_millis(100);
    let tx = ledger.begin(lease, short).await.unwrap().unwrap();
    tx.rollback().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    Postgres::run(tx.conn(), "select pg_sleep(0.3)")
        .await
        .unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

/// X14: the worker is stopped between its completion and its commit.
async fn a6_a_stalled_completion_can_be_taken_over(store: Arc<Postgres>) {
    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let lease = leased(&ledgers[0], Post::new("1").strict()).await;
    set_due(&*store, lease, 400).await;
    let mut short = limits();
    short.statement = Duration::from_millis(500);
    let mut tx = ledgers[0].begin(lease, short).await.unwrap().unwrap();
    Postgres::run(tx.conn(), "insert into effect values ('stalled')")
        .await
        .unwrap();
    Postgres::run(tx.conn(), "update webhook.inbox set state = 'completed'")
        .await
        .unwrap();
    let from = Instant::now();
    let next = loop {
        let taken = ledgers[1].take(want()).await.unwrap().events;
        if let Some(next) = taken.into_iter().next() {
            break next;
        }
        assert!(from.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!((next.lease.inbox(), next.crashes), (lease.inbox(), 1));
    complete(tx).await.unwrap_err();
    let tx = begun::<Postgres>(&ledgers[1], next.lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 1);
}

async fn a6_the_server_watches_over_its_clients(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    for (setting, value) in [
        (
            "select setting from pg_settings where name = 'client_connection_check_interval'",
            "500",
        ),
        (
            "select setting from pg_settings where name = 'idle_in_transaction_session_timeout'",
            "5000",
        ),
        (
            "select setting from pg_settings where name = 'statement_timeout'",
            "5000",
        ),
        (
            "select setting from pg_settings where name = 'lock_timeout'",
            "2000",
        ),
        (
            "select reset_val from pg_settings where name = 'tcp_user_timeout'",
            "30000",
        ),
        (
            "select reset_val from pg_settings where name = 'tcp_keepalives_idle'",
            "10",
        ),
    ] {
        assert_eq!(text(tx.conn(), setting).await, value, "{setting}");
    }
}

/// X7, and more of its kind.
async fn a8_session_state_does_not_cross_events(store: Arc<Postgres>) {
    let ledger = with_one_handler_connection(&store).await;
    // Names that would be found first, were ours not qualified.
    store
        .execute(
            "create schema evil;
             create table evil.inbox (id uuid);
             create function evil.clock_timestamp() returns timestamptz language sql
                 as $$ select 'infinity'::timestamptz $$;
             create function evil.current_setting(text, boolean) returns text language sql
                 as $$ select '0' $$;",
        )
        .await;
    let first = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<Postgres>(&ledger, first).await;
    let backend = text(tx.conn(), "select pg_backend_pid()::text").await;
    Postgres::run(
        tx.conn(),
        "create temp table leftover (x int);
         select pg_advisory_lock(42);
         declare leftover cursor with hold for select 1;
         listen leftover;
         set app.tenant = 'acme';
         set synchronous_commit = off;
         set default_transaction_isolation = 'serializable';
         set search_path = evil, pg_catalog;
         set role pg_read_all_data",
    )
    .await
    .unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);

    let second = leased(&ledger, Post::new("2").strict()).await;
    let mut tx = begun::<Postgres>(&ledger, second).await;
    assert_eq!(
        text(tx.conn(), "select pg_backend_pid()::text").await,
        backend
    );
    for (what, is) in [
        ("select current_setting('search_path')", "\"$user\", public"),
        ("select (current_user = session_user)::text", "true"),
        (
            "select coalesce(current_setting('app.tenant', true), '')",
            "",
        ),
        ("select current_setting('synchronous_commit')", "on"),
        (
            "select current_setting('default_transaction_isolation')",
            "read committed",
        ),
        (
            "select current_setting('transaction_isolation')",
            "read committed",
        ),
        (
            "select coalesce(to_regclass('pg_temp.leftover')::text, 'none')",
            "none",
        ),
        (
            "select count(*)::text from pg_cursors where name = 'leftover'",
            "0",
        ),
        ("select count(*)::text from pg_listening_channels()", "0"),
        (
            "select count(*)::text from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
            "0",
        ),
    ] {
        assert_eq!(text(tx.conn(), what).await, is, "{what}");
    }
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(store.effects().await, 2);

    // An attempt that failed is cleaned up after, too.
    let third = leased(&ledger, Post::new("3").strict()).await;
    let mut tx = begun::<Postgres>(&ledger, third).await;
    let spoil = "commit; set search_path = evil; set role pg_read_all_data; begin";
    Postgres::run(tx.conn(), spoil).await.unwrap();
    tx.rollback().await;
    let mut tx = ledger.begin(third, limits()).await.unwrap().unwrap();
    let path = text(tx.conn(), "select current_setting('search_path')").await;
    assert_eq!(path, "\"$user\", public");
}

async fn set_for_role(store: &Postgres, setting: &str) {
    // Above the server's, the database's and the role's own settings; gone with the database.
    let sql = format!(
        "alter role current_user in database {} set {setting}",
        store.name
    );
    store.execute(&sql).await;
}

/// X12: a duplicate that waited must not become a serialization failure.
async fn a9_isolation_is_not_inherited(store: Arc<Postgres>) {
    set_for_role(&store, "default_transaction_isolation = 'repeatable read'").await;
    set_for_role(&store, "default_transaction_read_only = on").await;
    let mut check = store.connect().await;
    let inherited = text(
        &mut check,
        "select current_setting('transaction_isolation')",
    )
    .await;
    assert_eq!(inherited, "repeatable read");
    Postgres::run(&mut check, "set default_transaction_read_only = off")
        .await
        .unwrap();

    let ledgers = [prepared(&*store).await, prepared(&*store).await];
    let event = Post::new("1").loose();
    let (mut tx, _) = granted(
        ledgers[0]
            .begin_inline(event.clone(), limits())
            .await
            .unwrap(),
    );
    let own = text(tx.conn(), "select current_setting('transaction_isolation')").await;
    assert_eq!(own, "read committed");
    let mut waiting = JoinSet::new();
    for inline in [true, false, true, false] {
        let (ledger, event) = (ledgers[1].clone(), event.clone());
        waiting.spawn(async move {
            if inline {
                settled(ledger.begin_inline(event, limits()).await.unwrap())
            } else {
                claim(&ledger, event).await
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    for claim in waiting.join_all().await {
        assert_eq!(claim, Claim::Duplicate { reply: None });
    }
    let mut race = JoinSet::new();
    for ledger in ledgers.iter().cycle().take(30) {
        let ledger = ledger.clone();
        race.spawn(async move { claim(&ledger, Post::new("2").strict()).await });
    }
    let stored = race
        .join_all()
        .await
        .into_iter()
        .filter(|claim| *claim == Claim::Stored);
    assert_eq!(stored.count(), 1);
}

async fn behind_a_proxy(store: &Postgres) -> (Proxy, PostgresLedger) {
    let proxy = Proxy::to(&store.url).await;
    let ledger = PostgresLedger::connect(&proxy.url).await.unwrap();
    ledger.prepare(Registration::default()).await.unwrap();
    (proxy, ledger)
}

async fn a10_a_commit_whose_answer_was_lost_is_found(store: Arc<Postgres>) {
    let (proxy, ledger) = behind_a_proxy(&store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let tx = begun::<Postgres>(&ledger, lease).await;
    proxy.lose_the_next_commit();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Completed).await
        ),
        (1, 1)
    );
}

async fn a10_an_inline_commit_whose_answer_was_lost_is_found(store: Arc<Postgres>) {
    let (proxy, ledger) = behind_a_proxy(&store).await;
    let event = Post::new("1").strict();
    let (tx, _) = granted(ledger.begin_inline(event.clone(), limits()).await.unwrap());
    proxy.lose_the_next_commit();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(
        claim(&ledger, event).await,
        Claim::Duplicate { reply: None }
    );
}

async fn a10_a_connection_lost_before_the_commit_is_no_commit(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<Postgres>(&ledger, lease).await;
    let backend = text(tx.conn(), "select pg_backend_pid()::text").await;
    store
        .number(&format!("select pg_terminate_backend({backend})::int"))
        .await;
    let error = complete(tx).await.unwrap_err();
    assert_eq!(*error.kind(), LedgerFault::Unavailable);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );
    let tx = begun::<Postgres>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

/// Run `sql` in a trigger that fires when the transaction commits.
async fn at_commit(store: &Postgres, sql: &str) {
    let trigger = format!(
        "create function at_commit() returns trigger language plpgsql
             as $$ begin {sql}; return null; end $$;
         create constraint trigger at_commit after insert on effect
             deferrable initially deferred for each row execute function at_commit()"
    );
    store.execute(&trigger).await;
}

async fn a10_a_connection_lost_in_the_commit_is_no_commit(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    at_commit(&store, "perform pg_terminate_backend(pg_backend_pid())").await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let tx = begun::<Postgres>(&ledger, lease).await;
    let error = complete(tx).await.unwrap_err();
    assert_eq!(*error.kind(), LedgerFault::Unavailable);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );
}

async fn a10_a_deferred_constraint_is_a_failed_attempt(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    at_commit(&store, "raise exception 'refused'").await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let tx = begun::<Postgres>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Aborted);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );
}

async fn a12_contention_is_a_class_of_its_own(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut other = store.connect().await;
    Postgres::run(&mut other, "begin; select * from webhook.inbox for update")
        .await
        .unwrap();
    let error = ledger
        .complete(lease, Completion::default())
        .await
        .unwrap_err();
    assert!(error.is_contention(), "{error:?}");
    // In a handler's transaction, too: nothing was committed and the lease still holds.
    let short = limits().lock(Duration::from_millis(100));
    let tx = ledger.begin(lease, short).await.unwrap().unwrap();
    let error = complete(tx).await.unwrap_err();
    assert!(error.is_contention(), "{error:?}");
    Postgres::run(&mut other, "rollback").await.unwrap();
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
}

#[derive(Debug, thiserror::Error)]
enum AppError {
    #[error("crediting failed")]
    Named(#[source] sqlx::Error),
    #[error(transparent)]
    Transparent(sqlx::Error),
}

async fn a12_handlers_contention_is_the_stores(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let mut conn = store.connect().await;
    for (code, blamed) in [
        ("40001", true), // serialization failure
        ("40P01", true), // deadlock
        ("55P03", true), // lock not available
        ("57014", true), // statement timeout
        ("57P01", true), // server shutting down
        ("53300", true), // too many connections
        ("23505", false),
        ("22012", false),
        ("42P01", false),
    ] {
        let sql = format!("do $$ begin raise sqlstate '{code}'; end $$");
        let error = Postgres::run(&mut conn, &sql).await.unwrap_err();
        assert_eq!(ledger.is_to_blame(&error), blamed, "{code}");
        // As applications wrap it.
        let wrapped = AppError::Named(error);
        assert_eq!(ledger.is_to_blame(&wrapped), blamed, "{code}");
        let AppError::Named(error) = wrapped else {
            panic!()
        };
        let wrapped = AppError::Transparent(error);
        assert_eq!(ledger.is_to_blame(&wrapped), blamed, "{code}");
    }
    assert!(ledger.is_to_blame(&sqlx::Error::PoolTimedOut));
    assert!(!ledger.is_to_blame(&sqlx::Error::RowNotFound));
    assert!(!ledger.is_to_blame(&std::fmt::Error));
}

async fn c6_handlers_cannot_starve_claims(store: Arc<Postgres>) {
    let mut sizes = PoolSizes::default();
    sizes.handlers = 2;
    let ledger = PostgresLedger::connect_with(&store.url, sizes)
        .await
        .unwrap();
    ledger.prepare(Registration::default()).await.unwrap();
    let mut held = Vec::new();
    for id in ["1", "2"] {
        let event = Post::new(id).strict();
        held.push(granted(ledger.begin_inline(event, limits()).await.unwrap()));
    }
    let refused = ledger
        .begin_inline(Post::new("3").strict(), limits())
        .await
        .unwrap_err();
    assert_eq!(*refused.kind(), LedgerFault::Unavailable);
    let lease = leased(&ledger, Post::new("4").strict()).await;
    assert_eq!(
        ledger
            .renew(vec![lease], Duration::from_secs(9))
            .await
            .unwrap(),
        [lease]
    );
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
}

/// X9: it is refused, the provider comes again, and others are not held up.
async fn c6_a_claim_does_not_wait_for_an_inline_transaction_for_ever(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let event = Post::new("1").strict();
    let (tx, _) = granted(ledger.begin_inline(event.clone(), limits()).await.unwrap());
    let waiting = tokio::spawn({
        let (ledger, event) = (ledger.clone(), event.clone());
        async move { ledger.claim(vec![event]).await }
    });
    assert_eq!(claim(&ledger, Post::new("2").strict()).await, Claim::Stored);
    assert!(waiting.await.unwrap().unwrap_err().is_contention());
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(
        claim(&ledger, event).await,
        Claim::Duplicate { reply: None }
    );
}

async fn renewal_does_not_wait_for_a_completion(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let a = leased(&ledger, Post::new("a").strict()).await;
    let b = leased(&ledger, Post::new("b").strict()).await;
    let mut other = store.connect().await;
    let lock = "begin; select * from webhook.inbox where event_id = 'a' for update";
    Postgres::run(&mut other, lock).await.unwrap();
    let length = Duration::from_mins(1);
    assert_eq!(ledger.renew(vec![a, b], length).await.unwrap(), [a, b]);
    let renewed =
        "select count(*) from webhook.inbox where due_at > clock_timestamp() + interval '40 s'";
    assert_eq!(store.number(renewed).await, 1);
}

async fn f10_synchronous_commit_is_not_inherited(store: Arc<Postgres>) {
    set_for_role(&store, "synchronous_commit = off").await;
    let mut check = store.connect().await;
    let show = "select current_setting('synchronous_commit')";
    assert_eq!(text(&mut check, show).await, "off");
    let ledger = with_one_handler_connection(&store).await;
    for id in ["1", "2"] {
        let lease = leased(&ledger, Post::new(id).strict()).await;
        let mut tx = begun::<Postgres>(&ledger, lease).await;
        assert_eq!(text(tx.conn(), show).await, "on");
        assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    }
    let pids = "select count(*) from pg_stat_activity where datname = current_database()";
    assert!(store.number(pids).await >= 2);
}

async fn f10_an_unfit_encoding_is_refused(store: Arc<Postgres>) {
    let ascii = Postgres {
        name: format!("{}_ascii", store.name),
        url: store
            .url
            .replace(&store.name, &format!("{}_ascii", store.name)),
    };
    store
        .execute(&format!(
            "create database {} encoding 'SQL_ASCII' locale 'C' template template0",
            ascii.name
        ))
        .await;
    let refused = ascii
        .open()
        .await
        .prepare(Registration::default())
        .await
        .unwrap_err();
    ascii.destroy().await;
    assert!(matches!(refused.kind(), LedgerFault::Unfit(advice) if advice.contains("UTF8")));
}

/// A role that may not create anything can start where everything is there.
async fn f13_preparing_a_current_schema_changes_no_table(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let mut other = store.connect().await;
    let lock = "begin; lock table webhook.schema_version in share mode";
    Postgres::run(&mut other, lock).await.unwrap();
    ledger.prepare(Registration::default()).await.unwrap();
}

async fn an_ordinary_role_suffices(store: Arc<Postgres>) {
    let role = format!("{}_role", store.name);
    store
        .execute(&format!(
            "create role {role} login password 'secret';
             grant create on database {} to {role};
             grant all on effect to {role}",
            store.name
        ))
        .await;
    let options = PgConnectOptions::from_str(&store.url).unwrap();
    let options = options.username(&role).password("secret");
    let ordinary = Postgres {
        url: options.to_url_lossy().to_string(),
        name: store.name.clone(),
    };
    let ledger = prepared(&ordinary).await;
    let lease = leased(&ledger, Post::new("1").loose()).await;
    let tx = begun::<Postgres>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    let (tx, _) = granted(
        ledger
            .begin_inline(Post::new("2").content("2").loose(), limits())
            .await
            .unwrap(),
    );
    tx.rollback().await;
    prepared(&ordinary).await;
    ledger.close().await;
    store
        .execute(&format!("drop owned by {role} cascade; drop role {role}"))
        .await;
    let wrong = store.url.replace(&store.name, "no_such_database");
    let refused = PostgresLedger::connect(&wrong).await.unwrap_err();
    assert!(
        matches!(refused.kind(), LedgerFault::Unfit(_)),
        "{refused:?}"
    );
}

/// Whatever the planner believes of a table that was empty when it first looked.
async fn statements_are_served_by_indexes(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    for table in ["inbox", "claim"] {
        store
            .execute(&format!("vacuum analyze webhook.{table}"))
            .await;
    }
    let scans = "select coalesce(sum(seq_tup_read), 0) from pg_stat_user_tables
        where schemaname = 'webhook' and relname in ('inbox', 'claim')";
    for n in 0..40 {
        let post = Post::new(&n.to_string()).content(n.to_string());
        let lease = leased(&ledger, post.loose()).await;
        assert_eq!(claim(&ledger, post.loose()).await, Claim::InFlight);
        ledger
            .renew(vec![lease], Duration::from_secs(9))
            .await
            .unwrap();
        ledger.hand_back(vec![lease]).await.unwrap();
        let lease = ledger.take(want()).await.unwrap().events.remove(0).lease;
        assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    }
    ledger.close().await;
    // A session reports its reading when it ends.
    let others = "select count(*) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and backend_type = 'client backend'";
    while store.number(others).await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(store.number(scans).await, 0);
}

async fn broken_idle_connections_are_replaced(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    begun::<Postgres>(&ledger, lease).await.rollback().await;
    let terminate = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()";
    assert!(store.number(terminate).await >= 2);
    tokio::time::sleep(Duration::from_millis(1200)).await;
    for id in ["2", "3", "4", "5"] {
        assert_eq!(claim(&ledger, Post::new(id).strict()).await, Claim::Stored);
    }
    let tx = begun::<Postgres>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(ledger.take(want()).await.unwrap().events.len(), 4);
}

async fn an_unreachable_server_is_unavailable(store: Arc<Postgres>) {
    let ledger = prepared(&*store).await;
    store.destroy().await;
    let refused = ledger
        .claim(vec![Post::new("1").strict()])
        .await
        .unwrap_err();
    assert_eq!(*refused.kind(), LedgerFault::Unavailable, "{refused:?}");
    let refused = PostgresLedger::connect("postgres://nobody@127.0.0.1:1/nowhere").await;
    assert_eq!(*refused.unwrap_err().kind(), LedgerFault::Unavailable);
}

async fn passwords_are_never_shown(store: Arc<Postgres>) {
    for url in [
        "postgres://user:canary@127.0.0.1:1/db",
        "postgres://user:canary@127.0.0.1:notaport/db",
        "postgres://user:canary@127.0.0.1/db?sslmode=canary",
        "canary",
    ] {
        let error = PostgresLedger::connect(url).await.unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let said = format!("{error} {error:?} {source:?}");
        assert!(!said.contains("canary"), "{said}");
    }
    let ledger = prepared(&*store).await;
    assert_eq!(format!("{ledger:?}"), "PostgresLedger");
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    assert!(format!("{tx:?}").starts_with("PostgresTx"));
    drop(tx);
}
