//! Stripe subscriptions of many shops into one schema, with one secret for each shop.
//!
//! `cargo run -p billing`, and paste the `curl` lines it prints.

mod handlers;
mod pages;
mod samples;
mod schema;
mod shops;

use std::env;

use actix_web::{App, HttpServer, web};
use tracing_subscriber::EnvFilter;
use webhook_actix::{Endpoint, Keys, Webhooks};
use webhook_sqlx::SqliteLedger;
use webhook_stripe::Stripe;

type AnyError = Box<dyn std::error::Error>;

#[actix_web::main]
async fn main() -> Result<(), AnyError> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()))
        .init();
    let file = env::var("DATABASE").unwrap_or_else(|_| "billing.db".to_owned());
    let bind = env::var("BIND").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let ledger = SqliteLedger::open(&file).await?;
    let pool = schema::open(&file).await?;
    shops::seed(&pool).await?;
    // Samples are made in test mode; a real service says `Stripe::live()`.
    let stripe = Stripe::test();
    let keys = Keys::source(shops::Secrets(pool.clone()));
    let webhooks = Webhooks::builder(ledger)
        .endpoint(
            Endpoint::at("/webhooks/stripe/{tenant}", stripe, keys)
                .named("stripe")
                .on(handlers::on_billing),
        )
        .build()?;
    let (app, pages) = (webhooks.clone(), pool.clone());
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::new(pages.clone()))
            .configure(pages::routes)
            .service(app.clone())
    })
    .bind(&bind)?;
    webhooks.start().await?;
    for address in server.addrs() {
        println!("listening on http://{address}");
        samples::print(&address)?;
    }
    webhooks.serve(server.run()).await?;
    pool.close().await;
    Ok(())
}
