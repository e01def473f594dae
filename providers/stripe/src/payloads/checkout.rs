//! Checkout.

use serde::Deserialize;
use webhook_core::open_enum;

use super::common::{
    Address, Amount, Currency, Expandable, Metadata, Reference, UnixSeconds, or_empty,
};
use super::{Customer, PaymentIntent, Subscription};

/// A customer at the till: `checkout.session.*`.
///
/// `checkout.session.completed` does not mean paid: see [`CheckoutSession::payment_status`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CheckoutSession {
    /// `cs_…`
    pub id: String,
    /// Whether real money moves.
    pub livemode: bool,
    /// When it was made. Absent before 2022.
    pub created: Option<UnixSeconds>,
    /// When it ends by itself. Absent before 2021.
    pub expires_at: Option<UnixSeconds>,
    /// What it is for.
    pub mode: CheckoutMode,
    /// Where it stands. Absent before 2021.
    pub status: Option<CheckoutStatus>,
    /// Whether the money is there.
    pub payment_status: CheckoutPaymentStatus,
    /// Before discounts and taxes.
    pub amount_subtotal: Option<Amount>,
    /// What was or shall be paid.
    pub amount_total: Option<Amount>,
    /// Of which currency.
    pub currency: Option<Currency>,
    /// What the total is made of.
    pub total_details: Option<TotalDetails>,
    /// Your own id of a customer, cart or the like.
    pub client_reference_id: Option<String>,
    /// Who pays.
    pub customer: Option<Expandable<Customer>>,
    /// As the customer gave them.
    pub customer_details: Option<CustomerDetails>,
    /// As you gave it.
    pub customer_email: Option<String>,
    /// The payment, in mode `payment`.
    pub payment_intent: Option<Expandable<PaymentIntent>>,
    /// The subscription, in mode `subscription`.
    pub subscription: Option<Expandable<Subscription>>,
    /// The set-up, in mode `setup`.
    pub setup_intent: Option<Reference>,
    /// The invoice, if one was made.
    pub invoice: Option<Reference>,
    /// The payment link it came from.
    pub payment_link: Option<Reference>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

open_enum! {
    /// What a session is for.
    pub enum CheckoutMode {
        /// To pay once.
        Payment = "payment",
        /// To keep a payment method.
        Setup = "setup",
        /// To subscribe.
        Subscription = "subscription",
    }
}

open_enum! {
    /// Where a session stands.
    pub enum CheckoutStatus {
        /// The customer is done. A payment may still be under way.
        Complete = "complete",
        /// It ended by itself.
        Expired = "expired",
        /// The customer is not done.
        Open = "open",
    }
}

open_enum! {
    /// Whether the money is there.
    pub enum CheckoutPaymentStatus {
        /// Nothing is to be paid, or not yet.
        NoPaymentRequired = "no_payment_required",
        /// It is.
        Paid = "paid",
        /// It is not, or not yet: `checkout.session.async_payment_succeeded` may follow.
        Unpaid = "unpaid",
    }
}

/// The customer, by their own words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct CustomerDetails {
    /// Address.
    pub address: Option<Address>,
    /// Email address.
    pub email: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Telephone number.
    pub phone: Option<String>,
}

/// What a total is made of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TotalDetails {
    /// All discounts.
    pub amount_discount: Amount,
    /// All shipping. Absent in older API versions.
    pub amount_shipping: Option<Amount>,
    /// All taxes.
    pub amount_tax: Amount,
}
