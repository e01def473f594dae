//! Webhooks on actix-web: wire bytes in, verified events out.

pub use webhook_core::*;
pub use webhook_derive::webhook;

/// What `#[webhook]` expands to. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use webhook_core::*;
}
