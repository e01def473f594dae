//! Sending webhooks: events out of an outbox, signed, to URLs that customers registered, until they answer 2xx.
//!
//! ```no_run
//! use webhook_core::outbox::{Event, Filter, Outbox as _};
//! use webhook_dispatch::guard::GuardedClient;
//! use webhook_dispatch::{Dispatcher, NewEndpoint, Vault, VaultKey};
//! use webhook_sqlx::SqliteOutbox;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let outbox = SqliteOutbox::open("app.db").await?;
//! let vault = Vault::new([VaultKey::from_base64("2026", &std::env::var("VAULT_KEY")?)?])?;
//! let client = GuardedClient::builder().build()?; // https, public addresses
//! let dispatcher = Dispatcher::builder(outbox.clone(), vault, client).build()?;
//! dispatcher.start().await?;
//!
//! let new = NewEndpoint::new("acme", "https://acme.example/hooks", Filter::new(["invoice.*"])?);
//! let (id, secret) = dispatcher.endpoints().register(new).await?;
//! println!("{id}: {}", secret.reveal()); // to acme, once
//!
//! let pool = sqlx::SqlitePool::connect("sqlite://app.db").await?;
//! let mut tx = pool.begin_with("begin immediate").await?;
//! outbox.enqueue(&mut tx, Event::new("acme", "invoice.paid", r#"{"type":"invoice.paid"}"#)?).await?;
//! tx.commit().await?; // sent if, and only if, this commits
//! # Ok(())
//! # }
//! ```
//!
//! [`guard`] is an HTTP client for addresses that strangers choose, usable alone.

pub mod guard;

mod attempt;
mod clock;
mod dispatcher;
mod endpoints;
mod engine;
mod fair;
mod prepared;
mod rate;
mod schedule;
mod scheme;
mod telemetry;
mod vault;
mod view;

pub use dispatcher::{Dispatcher, DispatcherBuilder, SetupError};
pub use endpoints::{EndpointError, Endpoints, NewEndpoint, NewSecret};
pub use schedule::{InvalidSchedule, Schedule};
pub use scheme::{STANDARD, Scheme, Schemes};
pub use vault::{Unsealable, Vault, VaultError, VaultKey};
pub use view::{CustomerAttempt, CustomerOutcome};
