//! The application's own tables.

use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};

pub(crate) async fn open(file: &str) -> Result<SqlitePool, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .busy_timeout(Duration::from_secs(5));
    let pool = SqlitePoolOptions::new()
        .max_connections(4)
        .connect_with(options)
        .await?;
    sqlx::raw_sql(TABLES).execute(&pool).await?;
    Ok(pool)
}

const TABLES: &str = "
create table if not exists shop (
    name   text primary key,
    secret text not null
) strict;

create table if not exists subscription (
    shop       text    not null references shop,
    id         text    not null,
    customer   text    not null,
    status     text    not null,
    price      text,
    paid_until integer,
    primary key (shop, id)
) strict;

-- Money is in minor units of its currency.
create table if not exists payment (
    shop         text    not null references shop,
    invoice      text    not null,
    subscription text,
    currency     text    not null,
    amount       integer not null,
    primary key (shop, invoice)
) strict;

create table if not exists dunning (
    shop    text    not null references shop,
    invoice text    not null,
    attempt integer not null,
    primary key (shop, invoice, attempt)
) strict;
";
