//! The engine between an HTTP adapter and a ledger: gates, claims, inline dispatch and workers.
//!
//! Knows no HTTP framework and no SQL. An adapter builds a `Head`, hands it with the body to
//! [`EndpointHandle::deliver`], and writes the answer; everything that must survive the request's future happens on
//! the engine's own threads or the ledger's.

mod attempt;
mod backoff;
mod budget;
mod built;
mod clock;
mod config;
mod deliver;
mod dequeue;
mod endpoint;
mod erased;
mod gate;
mod handle;
mod handlers;
mod held;
mod inline;
mod keys;
mod loops;
mod operator;
mod pace;
mod policy;
mod pruner;
mod receive;
mod response;
mod retention;
mod runtime;
mod settled;
mod shared;
mod telemetry;
mod webhooks;
mod worker;

pub use clock::SystemClock;
pub use config::{ConfigError, StartError};
pub use deliver::Delivered;
pub use endpoint::Endpoint;
pub use handle::EndpointHandle;
pub use keys::{Keys, KeysError, Lookups};
pub use operator::{Operator, Report};
pub use policy::{OnFailure, QuarantinePolicy, Repeats, Unlisted};
pub use response::Response;
pub use telemetry::describe_metrics;
pub use webhooks::{Builder, Webhooks};
