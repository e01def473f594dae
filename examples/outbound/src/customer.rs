//! The customer: receives what the shop sends, and counts each order once.

use actix_web::dev::Server;
use actix_web::{App, HttpResponse, HttpServer, web};
use serde::Deserialize;
use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};
use webhook_actix::{Endpoint, Event, KeyConfig, Keys, Webhooks, webhook};
use webhook_sqlx::SqliteLedger;
use webhook_standard::Standard;

use crate::AnyError;
use crate::config::Config;

#[derive(Debug, Deserialize)]
pub(crate) struct Paid {
    order: String,
    amount: i64,
}

/// The shop delivers at least once. This runs once.
#[webhook(provider = Standard, event = "order.paid")]
pub(crate) async fn on_order_paid(
    event: Event<Paid>,
    db: &mut SqliteConnection,
) -> Result<(), sqlx::Error> {
    sqlx::query("insert into received (number, amount) values (?1, ?2)")
        .bind(&event.order)
        .bind(event.amount)
        .execute(db)
        .await
        .map(drop)
}

/// A customer that listens.
pub(crate) struct Running {
    webhooks: Webhooks<SqliteLedger>,
    server: Server,
}

pub(crate) async fn start(config: &Config) -> Result<Running, AnyError> {
    let ledger = SqliteLedger::open(&config.customer_database).await?;
    let pool = SqlitePool::connect(&format!("sqlite://{}", config.customer_database)).await?;
    // No key but the row's own: an order that comes twice would be seen twice.
    sqlx::query(
        "create table if not exists received (number text not null, amount integer not null)",
    )
    .execute(&pool)
    .await?;
    let standard = Standard::new();
    let keys = Keys::new([KeyConfig::new(config.secret.0.as_str())]);
    let webhooks = Webhooks::builder(ledger)
        .endpoint(Endpoint::at("/webhooks/shop", standard, keys).on(on_order_paid))
        .build()?;
    let app = webhooks.clone();
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::new(pool.clone()))
            .route("/received", web::get().to(received))
            .service(app.clone())
    })
    .bind(&config.customer_bind)?;
    webhooks.start().await?;
    for address in server.addrs() {
        println!("customer listening on http://{address}");
    }
    Ok(Running {
        webhooks,
        server: server.run(),
    })
}

impl Running {
    pub(crate) async fn serve(self) -> Result<(), AnyError> {
        self.webhooks.serve(self.server).await?;
        Ok(())
    }
}

/// How often each order was received.
async fn received(pool: web::Data<SqlitePool>) -> actix_web::Result<HttpResponse> {
    let orders: Vec<(String, i64)> =
        sqlx::query_as("select number, count(*) from received group by number order by number")
            .fetch_all(&**pool)
            .await
            .map_err(|_| {
                actix_web::error::ErrorServiceUnavailable("the database is not there\n")
            })?;
    let orders: serde_json::Map<String, serde_json::Value> = orders
        .into_iter()
        .map(|(number, count)| (number, json!(count)))
        .collect();
    Ok(HttpResponse::Ok().json(orders))
}
