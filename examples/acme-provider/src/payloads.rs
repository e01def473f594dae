//! What `Event<T>` decodes: common payloads, as far as handlers read them.
//!
//! Unknown members are skipped, and unknown texts of an enum are kept in its `Other`.

use serde::Deserialize;
use webhook_core::{Events, open_enum};

/// Somebody paid.
///
/// Event `order.paid`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OrderPaid {
    /// The order.
    pub order: String,
    /// How much, in the smallest unit of the currency.
    pub amount: i64,
    /// Of which currency.
    pub currency: String,
    /// With what.
    pub method: Option<Method>,
}

impl Events for OrderPaid {
    const TYPES: &'static [&'static str] = &["order.paid"];
}

open_enum! {
    /// With what somebody paid.
    pub enum Method {
        Card = "card",
        Transfer = "transfer",
    }
}
