//! Sending webhooks.
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
