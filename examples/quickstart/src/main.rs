//! Receive Stripe, GitHub, Slack and custom webhooks, once each.
//!
//! `cargo run -p quickstart` and paste one of the `curl` lines it prints.

mod config;
mod effects;
mod handlers;
mod pages;
mod samples;

use std::time::Duration;

use actix_web::{App, HttpServer, web};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use webhook_actix::ledger::Ledger;
use webhook_actix::{Endpoint, Repeats, Webhooks};
use webhook_github::GitHub;
use webhook_slack::Slack;
use webhook_sqlx::{PostgresLedger, SqliteLedger};
use webhook_stripe::Stripe;
use webhook_timestamped::Timestamped;

use crate::config::{Config, EndpointKeys};
use crate::effects::{Database, Effects};

type AnyError = Box<dyn std::error::Error>;

/// Bounds of histograms of time, in seconds.
const SECONDS: [f64; 9] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 300.0];
/// How soon a killed process's events run again.
const LEASE: Duration = Duration::from_secs(8);

#[actix_web::main]
async fn main() -> Result<(), AnyError> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()))
        .with_span_events(FmtSpan::CLOSE)
        .init();
    let metrics = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .install_recorder()?;
    webhook_actix::describe_metrics();
    // The recorder buffers what nobody scrapes.
    let recorder = metrics.clone();
    actix_web::rt::spawn(async move {
        loop {
            actix_web::rt::time::sleep(Duration::from_secs(5)).await;
            recorder.run_upkeep();
        }
    });
    let config = Config::from_env()?;
    let database = Database::open(&config.database_url).await?;
    let pages = pages::State {
        database: database.clone(),
        metrics,
    };
    match database {
        Database::Postgres(_) => {
            serve(
                PostgresLedger::connect(&config.database_url).await?,
                config,
                pages,
            )
            .await
        }
        Database::Sqlite(_) => {
            serve(
                SqliteLedger::open(&config.database_url).await?,
                config,
                pages,
            )
            .await
        }
    }
}

/// The same application on either database: `C` is the ledger's connection.
async fn serve<L>(ledger: L, config: Config, pages: pages::State) -> Result<(), AnyError>
where
    L: Ledger,
    L::Conn: Effects,
{
    let webhooks = mount(ledger, &config.keys)?;
    let app = webhooks.clone();
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::new(pages.clone()))
            .configure(pages::routes)
            .service(app.clone())
    })
    .bind(&config.bind)?;
    webhooks.start().await?;
    for address in server.addrs() {
        println!("listening on http://{address}");
        samples::print(&address, &config.keys)?;
    }
    webhooks.serve(server.run()).await?;
    Ok(())
}

fn mount<L>(ledger: L, keys: &EndpointKeys) -> Result<Webhooks<L>, AnyError>
where
    L: Ledger,
    L::Conn: Effects,
{
    // Both modes and every account are let in here; a shop would say `Stripe::live()`.
    let stripe = Stripe::any_mode().any_account();
    let webhooks = Webhooks::builder(ledger)
        .endpoint(
            Endpoint::at("/webhooks/stripe", stripe, keys.stripe.keys.clone())
                .lease(LEASE)
                .on(handlers::on_stripe),
        )
        .endpoint(
            Endpoint::at("/webhooks/github", GitHub, keys.github.keys.clone())
                .lease(LEASE)
                .repeats(Repeats::Quarantine)
                .on(handlers::on_github),
        )
        .endpoint(
            Endpoint::at("/webhooks/slack", Slack, keys.slack.keys.clone())
                .lease(LEASE)
                .on(handlers::on_slack),
        )
        .endpoint(
            Endpoint::at("/webhooks/custom", Timestamped, keys.custom.keys.clone())
                .named("custom")
                .lease(LEASE)
                .on(handlers::on_note)
                .on(handlers::on_credit)
                .on(handlers::on_demo_slow),
        )
        .build()?;
    Ok(webhooks)
}
