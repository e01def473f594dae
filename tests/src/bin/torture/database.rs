//! The database, seen from outside.

use std::fs;
use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use tokio::runtime::Runtime;

/// A database of its own with an `effect` table.
#[derive(Debug)]
pub(crate) struct Database {
    runtime: Runtime,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Postgres { server: String, name: String },
    Sqlite(PathBuf),
}

impl Database {
    pub(crate) fn create(store: &str, evidence: &Path, seed: u64) -> Self {
        let place = if store == "postgres" {
            Place::Postgres {
                server: std::env::var("TEST_DATABASE_URL")
                    .expect("TEST_DATABASE_URL is not set: use `cargo xtask torture`"),
                name: format!("torture_{seed}"),
            }
        } else {
            Place::Sqlite(evidence.join("torture.db"))
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let database = Self { runtime, place };
        let id = match &database.place {
            Place::Postgres { name, .. } => {
                database.admin(&format!("drop database if exists {name} with (force)"));
                database.admin(&format!("create database {name}"));
                "bigint generated always as identity"
            }
            Place::Sqlite(file) => {
                let _ = fs::remove_file(file);
                fs::File::create(file).unwrap();
                "integer"
            }
        };
        database
            .execute(&format!(
                "create table effect (id {id} primary key, event_id text not null)"
            ))
            .unwrap();
        database
    }

    /// For receivers.
    pub(crate) fn url(&self) -> String {
        match &self.place {
            Place::Postgres { server, name } => {
                // Input: postgres://user:word@host:port/name?options
                let (base, query) = server.split_once('?').unwrap_or((server, ""));
                let (base, _) = base.rsplit_once('/').expect("the URL names a database");
                format!("{base}/{name}?{query}")
            }
            Place::Sqlite(file) => format!("sqlite://{}", file.display()),
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.place, Place::Postgres { .. })
    }

    /// How many events a second it can be asked to take, with handlers that dawdle.
    pub(crate) fn pace(&self) -> u32 {
        if self.is_postgres() { 60 } else { 12 }
    }

    /// Hold up completions and commits of some events, so that chaos can happen in between.
    pub(crate) fn slow_down_settling(&self) {
        if self.is_postgres() {
            self.execute(SLOW_SETTLING).unwrap();
        }
    }

    /// The first column of each row, a text. `webhook.` names are translated.
    pub(crate) fn texts(&self, sql: &str) -> Result<Vec<String>, sqlx::Error> {
        self.runtime.block_on(async {
            match &self.place {
                Place::Postgres { .. } => {
                    let mut conn = PgConnection::connect(&self.url()).await?;
                    sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
                        .fetch_all(&mut conn)
                        .await
                }
                Place::Sqlite(_) => {
                    let mut conn = SqliteConnection::connect(&self.url()).await?;
                    sqlx::query_scalar(AssertSqlSafe(sql.replace("webhook.", "webhook_")))
                        .fetch_all(&mut conn)
                        .await
                }
            }
        })
    }

    pub(crate) fn execute(&self, sql: &str) -> Result<(), sqlx::Error> {
        self.runtime.block_on(async {
            let sql = AssertSqlSafe(sql.to_owned());
            if self.is_postgres() {
                let mut conn = PgConnection::connect(&self.url()).await?;
                sqlx::raw_sql(sql).execute(&mut conn).await.map(drop)
            } else {
                let mut conn = SqliteConnection::connect(&self.url()).await?;
                sqlx::raw_sql(sql).execute(&mut conn).await.map(drop)
            }
        })
    }

    fn admin(&self, sql: &str) {
        if let Place::Postgres { server, .. } = &self.place {
            self.runtime.block_on(async {
                let mut admin = PgConnection::connect(server).await.unwrap();
                sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
                    .execute(&mut admin)
                    .await
                    .unwrap();
            });
        }
    }

    /// Leave what is in `tables` in `evidence`. `SQLite`'s file is there already.
    pub(crate) fn keep(&self, evidence: &Path, tables: &[&str]) {
        if !self.is_postgres() {
            return;
        }
        for table in tables {
            let rows = self.texts(&format!("select row_to_json(t)::text from {table} t"));
            fs::write(
                evidence.join(format!("{table}.jsonl")),
                rows.unwrap().join("\n"),
            )
            .unwrap();
        }
        // Only the throw-away cluster logs there.
        if let Ok(log) = self.texts(SERVER_LOG) {
            fs::write(evidence.join("server.log"), log.concat()).unwrap();
        }
    }

    pub(crate) fn delete(&self) {
        if let Place::Postgres { name, .. } = &self.place {
            self.admin(&format!("drop database if exists {name} with (force)"));
        }
    }
}

const SLOW_SETTLING: &str = "
create function public.dawdle() returns trigger language plpgsql as $$
begin
    perform pg_catalog.pg_sleep(0.2);
    return null;
end $$;
create trigger slow_completion after update on webhook.inbox
    for each row when (new.state = 'completed' and pg_catalog.hashtext(new.event_id) % 9 = 0)
    execute function public.dawdle();
create constraint trigger slow_commit after insert on public.effect deferrable initially deferred
    for each row when (pg_catalog.hashtext(new.event_id) % 9 = 1)
    execute function public.dawdle();";

const SERVER_LOG: &str = "select pg_catalog.pg_read_file(pg_catalog.current_setting('data_directory') || '/../server.log')";
