//! Webhooks on actix-web: wire bytes in, verified events out.
//!
//! The crate applications depend on. It re-exports the core, the engine, `#[webhook]` and `#[derive(Events)]`; providers
//! and ledgers are crates of their own.
//!
//! ```no_run
//! use actix_web::{App, HttpServer};
//! use sqlx::SqliteConnection;
//! use webhook_actix::{Endpoint, Event, EventId, Keys, Webhooks, webhook};
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
//! #[actix_web::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let ledger = SqliteLedger::open("app.db").await?;
//!     let keys = Keys::env("STRIPE_WEBHOOK_SECRET");
//!     let webhooks = Webhooks::builder(ledger)
//!         .endpoint(Endpoint::at("/webhooks/stripe", Stripe::live(), keys).on(on_invoice_paid))
//!         .build()?; // every fault of configuration stops here
//!     webhooks.start().await?;
//!     let app = webhooks.clone();
//!     let server = HttpServer::new(move || App::new().service(app.clone())).bind(("0.0.0.0", 8080))?;
//!     webhooks.serve(server.run()).await?;
//!     Ok(())
//! }
//! ```
//!
//! | to | see |
//! |---|---|
//! | write a handler: its arguments, its errors | [`macro@webhook`] |
//! | take several event types in one | [`macro@Events`] |
//! | choose limits, retention, order | [`Endpoint`] |
//! | mount and rotate keys, one a tenant | [`Keys`], [`KeySource`] |
//! | share a value with handlers | [`Builder::data`], [`Data`] |
//! | retry, set aside or ignore | [`OrElse`], [`Fault`] |
//! | look at dead letters and quarantine | [`Webhooks::operator`] |
//! | send events from a handler | [`outbox`] |

mod service;
mod webhooks;

pub use webhook_core::*;
pub use webhook_derive::{Events, webhook};
pub use webhook_engine::{
    ConfigError, Endpoint, Keys, KeysError, Lookups, OnFailure, Operator, QuarantinePolicy,
    Repeats, Report, StartError, SystemClock, Unlisted, describe_metrics,
};

pub use webhooks::{Builder, Webhooks};

/// What `#[webhook]` expands to. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use webhook_core::*;
}
