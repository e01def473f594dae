//! axum and `webhook-axum`, as the crate's page shows it: an endpoint for Stripe and one for Standard Webhooks.
//!
//! `PORT` and `DATABASE` say where; `STRIPE_SECRET` and `STANDARD_SECRET` are the keys.

use std::env;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{SqliteConnection, SqlitePool};
use tokio::net::TcpListener;
use webhook_axum::{Endpoint, EventId, Keys, Webhooks, webhook};
use webhook_sqlx::SqliteLedger;
use webhook_standard::Standard;
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "payment_intent.succeeded")]
async fn on_paid(id: EventId, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    record(id.as_str(), db).await
}

#[webhook(provider = Standard, event = "contact.created")]
async fn on_contact(id: EventId, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    record(id.as_str(), db).await
}

async fn record(id: &str, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let insert = sqlx::query("insert into effect (event_id) values (?1)");
    insert.bind(id).execute(db).await.map(drop)
}

async fn count(
    State(pool): State<SqlitePool>,
    Path(id): Path<String>,
) -> Result<String, StatusCode> {
    let count = sqlx::query_scalar("select count(*) from effect where event_id = ?1");
    let count: Result<i64, _> = count.bind(id).fetch_one(&pool).await;
    match count {
        Ok(count) => Ok(format!("{{\"count\":{count}}}")),
        Err(_) => Err(StatusCode::SERVICE_UNAVAILABLE),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (port, database) = (env::var("PORT")?, env::var("DATABASE")?);
    let ledger = SqliteLedger::open(&database).await?;
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&database)).await?;
    let create = sqlx::query("create table if not exists effect (event_id text not null)");
    create.execute(&pool).await?;
    let stripe = Stripe::any_mode().any_account();
    let webhooks = Webhooks::builder(ledger)
        .endpoint(Endpoint::at("/stripe", stripe, Keys::env("STRIPE_SECRET")).on(on_paid))
        .endpoint(
            Endpoint::at("/standard", Standard::new(), Keys::env("STANDARD_SECRET")).on(on_contact),
        )
        .build()?;
    webhooks.start().await?;
    let app = Router::new()
        .route("/effects/{id}", get(count))
        .with_state(pool)
        .merge(webhook_axum::router(&webhooks));
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    let server = axum::serve(listener, app)
        .with_graceful_shutdown(async { _ = tokio::signal::ctrl_c().await });
    webhooks.serve(server).await?;
    Ok(())
}
