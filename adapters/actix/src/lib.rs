//! Webhooks on actix-web: wire bytes in, verified events out.
//!
//! The crate applications depend on. It re-exports the core, the engine, `#[webhook]` and `#[derive(Events)]`; providers
//! and ledgers are crates of their own.

mod deliver;
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
