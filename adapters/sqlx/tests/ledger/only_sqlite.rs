//! What only SQLite can get wrong.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Row, SqliteConnection};
use tokio::task::JoinSet;
use webhook_core::ledger::{Committed, Completion, Ledger, LedgerFault, LedgerTx, Registration};
use webhook_core::{Claim, State};
use webhook_sqlx::SqliteLedger;
use webhook_testkit::ledger::steps::{
    begun, claim, complete, in_state, leased, limits, prepared, take, want,
};
use webhook_testkit::ledger::{Post, Store};

use crate::store::{Sql, Sqlite, set_due};

on_sqlite! {
    a2_swallowed_sql_error_is_a_failed_attempt
    a2_a_failed_statement_undoes_itself_alone
    a8_session_state_does_not_cross_events
    a10_a_deferred_constraint_is_a_failed_attempt
    a12_another_process_that_writes_is_contention
    b1_claims_go_on_while_a_handler_has_not_begun
    b1_claims_queue_while_a_handler_writes
    b1_a_claim_waits_for_one_handler_at_most
    b1_a_handler_cannot_write_for_ever
    b1_a_handler_that_reads_first_can_write
    b1_a_lease_outlives_its_transaction
    b1_ledgers_of_one_process_share_a_queue
    b2_a_database_in_memory_is_refused
    b2_every_connection_is_durable
    b3_another_process_that_writes_is_waited_for
    paths_and_urls_name_files
    looking_in_vain_takes_no_lock
}

async fn text(conn: &mut SqliteConnection, sql: &'static str) -> String {
    let row = sqlx::raw_sql(sql).fetch_one(conn).await.unwrap();
    row.try_get_unchecked(0).unwrap()
}

/// The error itself rolled the transaction back; what follows would commit alone.
async fn a2_swallowed_sql_error_is_a_failed_attempt(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<Sqlite>(&ledger, lease).await;
    let _ = Sqlite::run(tx.conn(), "insert or rollback into effect values (null)").await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Escaped);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );
}

async fn a2_a_failed_statement_undoes_itself_alone(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<Sqlite>(&ledger, lease).await;
    let _ = Sqlite::run(tx.conn(), "insert into effect values (null)").await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Completed).await
        ),
        (1, 1)
    );
}

async fn a8_session_state_does_not_cross_events(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<Sqlite>(&ledger, lease).await;
    let spoil = "create temp table effect (event text); pragma busy_timeout = 1;
        pragma recursive_triggers = on; pragma case_sensitive_like = on";
    Sqlite::run(tx.conn(), spoil).await.unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);

    let lease = leased(&ledger, Post::new("2").strict()).await;
    let mut tx = begun::<Sqlite>(&ledger, lease).await;
    Sqlite::run(
        tx.conn(),
        "commit; pragma foreign_keys = off; pragma synchronous = off; begin",
    )
    .await
    .unwrap();
    tx.rollback().await;

    let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
    for (what, is) in [
        ("select count(*) from temp.sqlite_schema", "0"),
        ("pragma busy_timeout", "5000"),
        ("pragma recursive_triggers", "0"),
        ("pragma foreign_keys", "1"),
        ("pragma synchronous", "2"),
    ] {
        assert_eq!(text(tx.conn(), what).await, is, "{what}");
    }
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

async fn a10_a_deferred_constraint_is_a_failed_attempt(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    store
        .execute(
            "create table parent (id integer primary key);
             create table child (parent integer references parent (id) deferrable initially deferred)",
        )
        .await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut tx = begun::<Sqlite>(&ledger, lease).await;
    Sqlite::run(tx.conn(), "insert into child values (7)")
        .await
        .unwrap();
    assert_eq!(complete(tx).await.unwrap(), Committed::Aborted);
    assert_eq!(
        (
            store.effects().await,
            in_state(&ledger, State::Processing).await
        ),
        (0, 1)
    );
    let tx = begun::<Sqlite>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

async fn a12_another_process_that_writes_is_contention(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut other = store.connect().await;
    Sqlite::run(&mut other, "begin immediate").await.unwrap();
    let refused = ledger
        .complete(lease, Completion::default())
        .await
        .unwrap_err();
    assert!(refused.is_contention(), "{refused:?}");
    Sqlite::run(&mut other, "rollback").await.unwrap();
    assert!(ledger.complete(lease, Completion::default()).await.unwrap());
    let busy = Sqlite::run(&mut other, "begin immediate; begin")
        .await
        .unwrap_err();
    assert!(!ledger.is_to_blame(&busy));
}

/// X17. A lazy handler sleeps before it begins; an eager one must not.
async fn b1_claims_go_on_while_a_handler_has_not_begun(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("slow").strict()).await;
    for n in 0..20 {
        let event = Post::new(&n.to_string()).event_type("other").strict();
        assert_eq!(claim(&ledger, event).await, Claim::Stored);
    }
    assert_eq!(
        ledger
            .renew(vec![lease], Duration::from_secs(9))
            .await
            .unwrap(),
        [lease]
    );
    let tx = begun::<Sqlite>(&ledger, lease).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

async fn b1_claims_queue_while_a_handler_writes(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("slow").strict()).await;
    let waiting = leased(&ledger, Post::new("waiting").strict()).await;
    let tx = begun::<Sqlite>(&ledger, lease).await;
    let mut claims = JoinSet::new();
    for n in 0..20 {
        let ledger = ledger.clone();
        claims.spawn(async move { claim(&ledger, Post::new(&n.to_string()).strict()).await });
    }
    let renewed = tokio::spawn({
        let ledger = ledger.clone();
        async move {
            ledger
                .renew(vec![waiting], Duration::from_secs(9))
                .await
                .unwrap()
        }
    });
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert!(claims.try_join_next().is_none() && !renewed.is_finished());
    // Reading waits for nobody.
    assert_eq!(in_state(&ledger, State::Processing).await, 2);
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    for claim in claims.join_all().await {
        assert_eq!(claim, Claim::Stored);
    }
    assert_eq!(renewed.await.unwrap(), [waiting]);
}

async fn b1_a_claim_waits_for_one_handler_at_most(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let mut leases = Vec::new();
    for id in ["a", "b", "c", "d"] {
        leases.push(leased(&ledger, Post::new(id).strict()).await);
    }
    let patient = limits().lock(Duration::from_secs(30));
    let first = ledger.begin(leases[0], patient).await.unwrap().unwrap();
    let mut handlers = JoinSet::new();
    for lease in leases.into_iter().skip(1) {
        let ledger = ledger.clone();
        handlers.spawn(async move { ledger.begin(lease, patient).await.unwrap().unwrap() });
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let claimed = tokio::spawn({
        let ledger = ledger.clone();
        async move { claim(&ledger, Post::new("late").strict()).await }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!claimed.is_finished());
    assert_eq!(complete(first).await.unwrap(), Committed::Committed);
    // Three handlers asked before it; none of them has ended.
    assert_eq!(claimed.await.unwrap(), Claim::Stored);
    while let Some(tx) = handlers.join_next().await {
        assert_eq!(complete(tx.unwrap()).await.unwrap(), Committed::Committed);
    }
}

async fn b1_a_handler_cannot_write_for_ever(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    let mut short = limits();
    short.statement = Duration::from_millis(300);
    let mut tx = ledger.begin(lease, short).await.unwrap().unwrap();
    Sqlite::run(tx.conn(), "insert into effect values ('1')")
        .await
        .unwrap();
    let slow =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let error = Sqlite::run(tx.conn(), slow).await.unwrap_err();
    assert!(ledger.is_to_blame(&error), "{error:?}");
    tx.rollback().await;
    assert_eq!(store.effects().await, 0);
    let waits = limits().lock(Duration::from_millis(100));
    let tx = begun::<Sqlite>(&ledger, lease).await;
    let refused = ledger.begin(lease, waits).await.unwrap_err();
    assert!(refused.is_contention());
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

/// X18: under a deferred `begin` not one of a hundred succeeded.
async fn b1_a_handler_that_reads_first_can_write(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let claims = tokio::spawn({
        let ledger = ledger.clone();
        async move {
            for n in 0.. {
                let event = Post::new(&format!("load-{n}")).event_type("load").strict();
                assert_eq!(claim(&ledger, event).await, Claim::Stored);
            }
        }
    });
    for n in 0..30 {
        let lease = leased(&ledger, Post::new(&n.to_string()).strict()).await;
        let mut tx = ledger.begin(lease, limits()).await.unwrap().unwrap();
        text(tx.conn(), "select count(*) from effect").await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        Sqlite::run(tx.conn(), "insert into effect values ('1')")
            .await
            .unwrap();
        assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    }
    claims.abort();
    assert_eq!(store.effects().await, 30);
}

/// Nobody can renew it while the transaction is open.
async fn b1_a_lease_outlives_its_transaction(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let lease = leased(&ledger, Post::new("1").strict()).await;
    set_due(&*store, lease, 300).await;
    let tx = begun::<Sqlite>(&ledger, lease).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
}

async fn b1_ledgers_of_one_process_share_a_queue(store: Arc<Sqlite>) {
    let link = store.directory.join("link.db");
    let first = prepared(&*store).await;
    std::os::unix::fs::symlink(store.path(), &link).unwrap();
    let others = [
        store.open().await,
        SqliteLedger::open(link.to_str().unwrap()).await.unwrap(),
        SqliteLedger::open(&format!("sqlite://{}", store.path()))
            .await
            .unwrap(),
    ];
    let lease = leased(&first, Post::new("1").strict()).await;
    let tx = begun::<Sqlite>(&first, lease).await;
    let mut claims = JoinSet::new();
    for (n, ledger) in others.into_iter().enumerate() {
        claims
            .spawn(async move { claim(&ledger, Post::new(&format!("other-{n}")).strict()).await });
    }
    // Longer than SQLite itself would wait.
    tokio::time::sleep(Duration::from_millis(5500)).await;
    assert!(claims.try_join_next().is_none());
    assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    for claim in claims.join_all().await {
        assert_eq!(claim, Claim::Stored);
    }
}

async fn b2_a_database_in_memory_is_refused(_: Arc<Sqlite>) {
    for path in [
        ":memory:",
        "",
        "sqlite::memory:",
        "sqlite://:memory:",
        "sqlite:app.db?mode=memory",
        "sqlite://app.db?mode=memory&cache=shared",
        "file::memory:",
        "file:app.db?mode=memory",
        "sqlite:file:app?mode=memory",
        "sqlite:",
        "sqlite://",
        "sqlite://file:app%3Fmode%3Dmemory",
        "sqlite:/app.db?vfs=memdb",
    ] {
        let refused = SqliteLedger::open(path).await.unwrap_err();
        assert!(
            matches!(refused.kind(), LedgerFault::Unfit(_)),
            "{path}: {refused:?}"
        );
    }
}

async fn b2_every_connection_is_durable(store: Arc<Sqlite>) {
    // What somebody else may have left in the file.
    store.execute("pragma journal_mode = delete").await;
    let ledger = prepared(&*store).await;
    for id in ["1", "2", "3"] {
        let lease = leased(&ledger, Post::new(id).strict()).await;
        let mut tx = begun::<Sqlite>(&ledger, lease).await;
        for (pragma, value) in [
            ("pragma journal_mode", "wal"),
            ("pragma synchronous", "2"),
            ("pragma fullfsync", "1"),
            ("pragma foreign_keys", "1"),
            ("pragma busy_timeout", "5000"),
        ] {
            assert_eq!(text(tx.conn(), pragma).await, value, "{pragma}");
        }
        assert_eq!(complete(tx).await.unwrap(), Committed::Committed);
    }
}

async fn b3_another_process_that_writes_is_waited_for(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let mut other = store.connect().await;
    Sqlite::run(&mut other, "begin immediate").await.unwrap();
    let waiting = tokio::spawn({
        let ledger = ledger.clone();
        async move { claim(&ledger, Post::new("1").strict()).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!waiting.is_finished());
    Sqlite::run(&mut other, "commit").await.unwrap();
    assert_eq!(waiting.await.unwrap(), Claim::Stored);
}

async fn paths_and_urls_name_files(store: Arc<Sqlite>) {
    let directory = store.directory.to_str().unwrap();
    for (n, open) in [
        |path: String| path,
        |path| format!("sqlite:{path}"),
        |path| format!("sqlite://{path}"),
        |path| format!("sqlite://{path}?mode=rwc"),
        |path| format!("sqlite://{path}?mode=rw"),
    ]
    .iter()
    .enumerate()
    {
        let path = format!("{directory}/new-{n}.db");
        let ledger = SqliteLedger::open(&open(path.clone())).await.unwrap();
        ledger.prepare(Registration::default()).await.unwrap();
        assert!(std::fs::exists(path).unwrap());
    }
    let nowhere = SqliteLedger::open(&format!("{directory}/missing/app.db"))
        .await
        .unwrap_err();
    assert_eq!(*nowhere.kind(), LedgerFault::Unavailable);
    let malformed = SqliteLedger::open("sqlite://app.db?mode=canary")
        .await
        .unwrap_err();
    assert!(!format!("{malformed:?}").contains("canary"));
}

async fn looking_in_vain_takes_no_lock(store: Arc<Sqlite>) {
    let ledger = prepared(&*store).await;
    let mut other = store.connect().await;
    Sqlite::run(&mut other, "begin immediate").await.unwrap();
    let taken = ledger.take(want()).await.unwrap();
    assert!(taken.events.is_empty());
    Sqlite::run(&mut other, "rollback").await.unwrap();
    assert_eq!(claim(&ledger, Post::new("1").strict()).await, Claim::Stored);
    take(&ledger).await;
}
