//! Webhooks on axum: wire bytes in, verified events out.
//!
//! The same engine, handlers and macros as `webhook-actix`, for applications on axum. It re-exports the core, the engine,
//! `#[webhook]` and `#[derive(Events)]`; providers and ledgers are crates of their own.
//!
//! ```no_run
//! use axum::Router;
//! use sqlx::SqliteConnection;
//! use tokio::net::TcpListener;
//! use webhook_axum::{Endpoint, Event, EventId, Keys, Webhooks, webhook};
//! use webhook_sqlx::SqliteLedger;
//! use webhook_stripe::{Stripe, payloads::Invoice};
//!
//! /// Runs once for each event. The row commits together with the event's completion, or neither does.
//! #[webhook(provider = Stripe, event = "invoice.paid")]
//! async fn on_invoice_paid(
//!     invoice: Event<Invoice>,
//!     id: EventId,
//!     db: &mut SqliteConnection,
//! ) -> Result<(), sqlx::Error> {
//!     sqlx::query("insert into credit (event, cents) values (?1, ?2)")
//!         .bind(id.as_str())
//!         .bind(invoice.amount_paid.minor_units())
//!         .execute(db) // `&mut *db` where it is needed again
//!         .await?;
//!     Ok(())
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let ledger = SqliteLedger::open("app.db").await?;
//!     let keys = Keys::env("STRIPE_WEBHOOK_SECRET");
//!     let webhooks = Webhooks::builder(ledger)
//!         .endpoint(Endpoint::at("/webhooks/stripe", Stripe::live(), keys).on(on_invoice_paid))
//!         .build()?; // every fault of configuration stops here
//!     webhooks.start().await?;
//!     let app = Router::new().merge(webhook_axum::router(&webhooks));
//!     let server = axum::serve(TcpListener::bind("0.0.0.0:8080").await?, app)
//!         .with_graceful_shutdown(async { _ = tokio::signal::ctrl_c().await });
//!     webhooks.serve(server).await?;
//!     Ok(())
//! }
//! ```

mod router;

pub use webhook_core::*;
pub use webhook_derive::{EventsOnAxum as Events, webhook_on_axum as webhook};
pub use webhook_engine::{
    Builder, ConfigError, Endpoint, Keys, KeysError, Lookups, OnFailure, Operator,
    QuarantinePolicy, Repeats, Report, StartError, SystemClock, Unlisted, Webhooks,
    describe_metrics,
};

pub use router::router;

/// What `#[webhook]` expands to. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use webhook_core::*;
}
