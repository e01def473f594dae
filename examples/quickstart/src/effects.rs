//! The example's own table: one row for each event that a handler has dealt with.

use serde::Serialize;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{PgConnection, PgPool, Row, SqliteConnection, SqlitePool};

/// What handlers do on a connection, whichever database it belongs to.
pub(crate) trait Effects: Send + 'static {
    /// Insert one row.
    fn record(
        &mut self,
        endpoint: &str,
        event_id: &str,
        event_type: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// The application's own connections, for its pages.
#[derive(Clone)]
pub(crate) enum Database {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// A row as shown.
#[derive(Serialize)]
pub(crate) struct Effect {
    endpoint: String,
    event_id: String,
    event_type: String,
    at: String,
}

impl Effects for PgConnection {
    async fn record(&mut self, endpoint: &str, id: &str, kind: &str) -> Result<(), sqlx::Error> {
        sqlx::query("insert into effect (endpoint, event_id, event_type) values ($1, $2, $3)")
            .bind(endpoint)
            .bind(id)
            .bind(kind)
            .execute(self)
            .await
            .map(drop)
    }
}

impl Effects for SqliteConnection {
    async fn record(&mut self, endpoint: &str, id: &str, kind: &str) -> Result<(), sqlx::Error> {
        sqlx::query("insert into effect (endpoint, event_id, event_type) values (?1, ?2, ?3)")
            .bind(endpoint)
            .bind(id)
            .bind(kind)
            .execute(self)
            .await
            .map(drop)
    }
}

impl Database {
    /// Connect and create the table.
    pub(crate) async fn open(url: &str) -> Result<Self, sqlx::Error> {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let pool = PgPool::connect(url).await?;
            // Two processes may start at once, and `if not exists` alone does not settle that.
            let mut tx = pool.begin().await?;
            sqlx::query("select pg_advisory_xact_lock(hashtext('quickstart effect table'))")
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "create table if not exists effect (
                    id bigint generated always as identity primary key,
                    endpoint text not null,
                    event_id text not null,
                    event_type text not null,
                    at timestamptz not null default clock_timestamp()
                )",
            )
            .execute(&mut *tx)
            .await?;
            tx.commit().await?;
            return Ok(Self::Postgres(pool));
        }
        let options = url
            .parse::<SqliteConnectOptions>()?
            .create_if_missing(true)
            .journal_mode(sqlx::sqlite::SqliteJournalMode::Wal)
            .busy_timeout(std::time::Duration::from_secs(5));
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options)
            .await?;
        sqlx::query(
            "create table if not exists effect (
                id integer primary key,
                endpoint text not null,
                event_id text not null,
                event_type text not null,
                at text not null default (strftime('%Y-%m-%dT%H:%M:%fZ'))
            )",
        )
        .execute(&pool)
        .await?;
        Ok(Self::Sqlite(pool))
    }

    /// How often an event took effect.
    pub(crate) async fn count(&self, endpoint: &str, event_id: &str) -> Result<i64, sqlx::Error> {
        match self {
            Self::Postgres(pool) => {
                sqlx::query_scalar(
                    "select count(*) from effect where endpoint = $1 and event_id = $2",
                )
                .bind(endpoint)
                .bind(event_id)
                .fetch_one(pool)
                .await
            }
            Self::Sqlite(pool) => {
                sqlx::query_scalar(
                    "select count(*) from effect where endpoint = ?1 and event_id = ?2",
                )
                .bind(endpoint)
                .bind(event_id)
                .fetch_one(pool)
                .await
            }
        }
    }

    /// The latest rows, newest first.
    pub(crate) async fn recent(&self) -> Result<Vec<Effect>, sqlx::Error> {
        match self {
            Self::Postgres(pool) => {
                let rows = sqlx::query(
                    "select endpoint, event_id, event_type,
                        to_char(at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') as at
                     from effect order by id desc limit 50",
                )
                .fetch_all(pool)
                .await?;
                rows.iter().map(effect).collect()
            }
            Self::Sqlite(pool) => {
                let rows = sqlx::query(
                    "select endpoint, event_id, event_type, at from effect order by id desc limit 50",
                )
                .fetch_all(pool)
                .await?;
                rows.iter().map(effect).collect()
            }
        }
    }
}

fn effect<'r, R: Row>(row: &'r R) -> Result<Effect, sqlx::Error>
where
    &'static str: sqlx::ColumnIndex<R>,
    String: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
{
    Ok(Effect {
        endpoint: row.try_get("endpoint")?,
        event_id: row.try_get("event_id")?,
        event_type: row.try_get("event_type")?,
        at: row.try_get("at")?,
    })
}
