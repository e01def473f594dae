//! What `Event<T>` decodes: Stripe's objects, as far as handlers commonly read them.
//!
//! ```
//! use webhook_stripe::payloads::{Invoice, InvoiceStatus};
//!
//! // #[webhook(provider = Stripe, event = "invoice.paid")]
//! // async fn on_invoice_paid(invoice: Event<Invoice>, ..) -> Result<(), HandlerError>
//! # fn main() -> Result<(), serde_json::Error> {
//! let invoice: Invoice = serde_json::from_str(r#"{
//!     "id": "in_1", "livemode": true, "created": 1750000000, "currency": "eur", "customer": "cus_1", "status": "paid",
//!     "amount_due": 2000, "amount_paid": 2000, "amount_remaining": 0, "subtotal": 2000, "total": 2000,
//!     "a_member_of_next_year": {}
//! }"#)?;
//! assert_eq!(invoice.status, Some(InvoiceStatus::Paid));
//! assert_eq!(invoice.total.minor_units(), 2000);
//! # Ok(())
//! # }
//! ```
//!
//! # What may change without breaking them
//!
//! An endpoint's API version decides the shape of its events, and Stripe adds to every shape at any time. So
//!
//! - unknown members are skipped, and unknown texts of an enum are kept in its `Other`;
//! - money is [`Amount`], an integer, and never absent where Stripe always sends it: an event without its amount is
//!   set aside, it does not run with zero;
//! - what some API version leaves out is an `Option` or empty, and what moved is found by a method:
//!   [`Invoice::subscription`], [`InvoiceLine::price`], [`Subscription::current_period_end`];
//! - what may come as an id or as the object is [`Expandable`], or [`Reference`] where only the id is of interest.
//!
//! What is not here is in [`RawEvent`](webhook_core::RawEvent), which a handler can take beside `Event<T>`; as
//! [`Snapshot`] it also gives the members around the object, `previous_attributes` among them. Any other type that
//! implements [`serde::Deserialize`] can stand in place of these, those of the crate `async-stripe-shared` included.
//!
//! Source: <https://docs.stripe.com/api>, versions 2019-02-19 to 2025-05-28.

mod accounts;
mod billing;
mod checkout;
mod common;
mod events;
mod payments;

pub use accounts::{Account, Customer, Payout, PayoutStatus, Requirements};
pub use billing::{
    BillingReason, CollectionMethod, Interval, Invoice, InvoiceLine, InvoiceStatus, Period, Price,
    Product, Recurring, StatusTransitions, Subscription, SubscriptionItem, SubscriptionStatus,
};
pub use checkout::{
    CheckoutMode, CheckoutPaymentStatus, CheckoutSession, CheckoutStatus, CustomerDetails,
    TotalDetails,
};
pub use common::{
    Address, Amount, BillingDetails, Currency, Expandable, List, Metadata, Reference, Shipping,
    UnixSeconds,
};
pub use events::{RelatedObject, Request, Snapshot, SnapshotData, Thin};
pub use payments::{
    CancellationReason, Charge, ChargeOutcome, ChargeStatus, Dispute, DisputeStatus,
    EvidenceDetails, PaymentError, PaymentIntent, PaymentIntentStatus, Refund, RefundReason,
    RefundStatus,
};
