//! S1 and S2: claims on SQLite, each durable when it is answered.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::params;
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use tokio::runtime::Runtime;
use webhook_actix::ledger::{Ledger as _, Registration};
use webhook_actix::{Claim, NewEvent};
use webhook_benches::{Effort, Report};
use webhook_sqlx::SqliteLedger;

use crate::claims::SMALL;
use crate::contest::{Contender, contest};
use crate::events::Events;
use crate::timings::{Timings, crowd};

pub(crate) fn rows(report: &Report, effort: Effort, runtime: &Runtime) {
    report.row("S1", || {
        let bouts = contest(effort, [ours(runtime), each(runtime)]);
        bouts.ratio(|[ours, each]| ours.rate() / each.rate())
    });
    report.row("S2", || {
        let bouts = contest(effort, [ours(runtime), raw()]);
        bouts.ratio(|[ours, raw]| ours.rate() / raw.rate())
    });
}

fn ours(runtime: &Runtime) -> Contender<'_> {
    let mut events = Events::of(SMALL);
    Contender::new(move |count| {
        let events = events.first(count);
        let directory = Directory::new();
        runtime.block_on(async {
            let ledger = SqliteLedger::open(&directory.file()).await.expect("a file");
            let prepared = ledger.prepare(Registration::default()).await;
            prepared.expect("a schema");
            let claiming = ledger.clone();
            let timings = crowd(events, CALLERS, move |event| {
                let ledger = claiming.clone();
                async move {
                    let claims = ledger.claim(vec![event]).await.expect("a claim");
                    assert_eq!(claims, [Claim::Stored]);
                }
            });
            let timings = timings.await;
            ledger.close().await;
            timings
        })
    })
}

/// A statement an event. More connections only wait for each other's lock.
fn each(runtime: &Runtime) -> Contender<'_> {
    let mut events = Events::of(SMALL);
    Contender::new(move |count| {
        let events = events.first(count);
        let directory = Directory::new();
        runtime.block_on(async {
            let options = SqliteConnectOptions::new()
                .filename(directory.file())
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full);
            let pool = SqlitePoolOptions::new()
                .max_connections(1)
                .test_before_acquire(false)
                .connect_with(options);
            let pool: SqlitePool = pool.await.expect("a file");
            sqlx::raw_sql(SCHEMA)
                .execute(&pool)
                .await
                .expect("a schema");
            let inserting = pool.clone();
            let timings = crowd(events, CALLERS, move |event: NewEvent| {
                let pool = inserting.clone();
                async move {
                    let insert = sqlx::query(INSERT)
                        .bind(event.id().as_str())
                        .bind(event.event_type().as_str())
                        .bind(&event.payload()[..]);
                    insert.execute(&pool).await.expect("an insert");
                }
            });
            let timings = timings.await;
            pool.close().await;
            timings
        })
    })
}

/// The limit: one thread, 200 rows a transaction, nobody waits for anything.
fn raw() -> Contender<'static> {
    let mut events = Events::of(SMALL);
    Contender::new(move |count| {
        let events = events.first(count);
        let directory = Directory::new();
        let mut conn = rusqlite::Connection::open(directory.file()).expect("a file");
        let pragmas = "pragma journal_mode = wal; pragma synchronous = full";
        conn.execute_batch(pragmas).expect("pragmas");
        conn.execute_batch(SCHEMA).expect("a schema");
        Timings::of_many(count, insert_all(&mut conn, &events))
    })
}

fn insert_all(conn: &mut rusqlite::Connection, events: &[NewEvent]) -> Duration {
    let began = Instant::now();
    for batch in events.chunks(200) {
        let tx = conn.transaction().expect("a transaction");
        {
            let mut insert = tx.prepare_cached(INSERT).expect("a statement");
            for event in batch {
                let (id, event_type) = (event.id().as_str(), event.event_type().as_str());
                let row = params![id, event_type, &event.payload()[..]];
                insert.execute(row).expect("an insert");
            }
        }
        tx.commit().expect("a commit");
    }
    began.elapsed()
}

/// A folder for one file and what SQLite keeps beside it.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let name = format!("webhook-bench-{}", uuid::Uuid::now_v7().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a folder");
        Self(path)
    }

    fn file(&self) -> String {
        self.0.join("app.db").display().to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SCHEMA: &str = "
create table by_hand (
    id         text    primary key,
    event_type text    not null,
    state      text    not null default 'pending',
    due_at     integer not null default (unixepoch()),
    payload    blob    not null
) without rowid;
create index by_hand_due on by_hand (due_at) where state = 'pending'";

const INSERT: &str = "
insert into by_hand (id, event_type, payload) values (?1, ?2, ?3) on conflict do nothing";

const CALLERS: usize = 64;
