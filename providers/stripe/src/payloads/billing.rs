//! Invoices, subscriptions, and the prices in them.

use serde::Deserialize;
use webhook_core::open_enum;

use super::Customer;
use super::common::{
    Address, Amount, Currency, Expandable, List, Metadata, Reference, UnixSeconds, or_empty,
};

/// A bill: `invoice.*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Invoice {
    /// `in_…`. Absent in `invoice.upcoming`, which announces an invoice that is not made yet.
    pub id: Option<String>,
    /// Whether real money moves.
    pub livemode: bool,
    /// When it was made.
    pub created: UnixSeconds,
    /// Where it stands.
    pub status: Option<InvoiceStatus>,
    /// Of which currency all amounts are.
    pub currency: Currency,
    /// What is due now, after balance and credit.
    pub amount_due: Amount,
    /// What was paid.
    pub amount_paid: Amount,
    /// What is left to pay.
    pub amount_remaining: Amount,
    /// The lines' sum, before discounts and exclusive taxes.
    pub subtotal: Amount,
    /// After discounts and taxes.
    pub total: Amount,
    /// After discounts, without taxes.
    pub total_excluding_tax: Option<Amount>,
    /// Who pays.
    pub customer: Option<Expandable<Customer>>,
    /// Their address at the time.
    pub customer_address: Option<Address>,
    /// Their email address at the time.
    pub customer_email: Option<String>,
    /// Their name at the time.
    pub customer_name: Option<String>,
    /// The number printed on it.
    pub number: Option<String>,
    /// Why it was made.
    pub billing_reason: Option<BillingReason>,
    /// How it is paid.
    pub collection_method: Option<CollectionMethod>,
    /// How often a payment was tried.
    #[serde(default)]
    pub attempt_count: u64,
    /// When the next payment is tried.
    pub next_payment_attempt: Option<UnixSeconds>,
    /// Until when it is to be paid.
    pub due_date: Option<UnixSeconds>,
    /// The beginning of the time that usage was billed for.
    pub period_start: Option<UnixSeconds>,
    /// The end of that time. A line's own period is what a subscription was paid for.
    pub period_end: Option<UnixSeconds>,
    /// When it was finalised, paid, voided, given up.
    pub status_transitions: Option<StatusTransitions>,
    /// The first lines. [`List::has_more`] tells whether there are others.
    pub lines: Option<List<InvoiceLine>>,
    /// Where the customer sees and pays it.
    pub hosted_invoice_url: Option<String>,
    /// The same as PDF.
    pub invoice_pdf: Option<String>,
    /// Your words.
    pub description: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
    /// The payment. Absent since 2025-03-31.
    pub payment_intent: Option<Reference>,
    /// The charge. Absent since 2025-03-31.
    pub charge: Option<Reference>,
    #[serde(rename = "subscription")]
    subscription_before_2025: Option<Reference>,
    parent: Option<InvoiceParent>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct InvoiceParent {
    subscription_details: Option<SubscriptionDetails>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct SubscriptionDetails {
    subscription: Option<Reference>,
}

impl Invoice {
    /// The id of the subscription it bills, wherever the API version puts it.
    pub fn subscription(&self) -> Option<&str> {
        let details = self
            .parent
            .as_ref()
            .and_then(|parent| parent.subscription_details.as_ref());
        details
            .and_then(|details| details.subscription.as_ref())
            .or(self.subscription_before_2025.as_ref())
            .map(Reference::id)
    }
}

open_enum! {
    /// Where an invoice stands.
    pub enum InvoiceStatus {
        /// It can still be changed.
        Draft = "draft",
        /// Final, and to be paid.
        Open = "open",
        /// Paid.
        Paid = "paid",
        /// Nobody expects it to be paid.
        Uncollectible = "uncollectible",
        /// Taken back.
        Void = "void",
    }
}

open_enum! {
    /// Why an invoice was made.
    pub enum BillingReason {
        /// Pending items, by themselves.
        AutomaticPendingInvoiceItem = "automatic_pending_invoice_item_invoice",
        /// By hand.
        Manual = "manual",
        /// A quote was accepted.
        QuoteAccept = "quote_accept",
        /// A subscription, before 2018-05-21.
        Subscription = "subscription",
        /// A subscription began.
        SubscriptionCreate = "subscription_create",
        /// A new period of a subscription began.
        SubscriptionCycle = "subscription_cycle",
        /// Usage reached a threshold.
        SubscriptionThreshold = "subscription_threshold",
        /// A subscription was changed.
        SubscriptionUpdate = "subscription_update",
        /// Only announced.
        Upcoming = "upcoming",
    }
}

open_enum! {
    /// How an invoice is paid.
    pub enum CollectionMethod {
        /// With the payment method on file.
        ChargeAutomatically = "charge_automatically",
        /// By the customer, on request.
        SendInvoice = "send_invoice",
    }
}

/// When an invoice changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct StatusTransitions {
    /// It could no longer be changed.
    pub finalized_at: Option<UnixSeconds>,
    /// It was given up.
    pub marked_uncollectible_at: Option<UnixSeconds>,
    /// It was paid.
    pub paid_at: Option<UnixSeconds>,
    /// It was taken back.
    pub voided_at: Option<UnixSeconds>,
}

/// A line of an invoice.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct InvoiceLine {
    /// `il_…`
    pub id: String,
    /// What it adds to the subtotal. Negative for credit.
    pub amount: Amount,
    /// Of which currency.
    pub currency: Currency,
    /// The words on it.
    pub description: Option<String>,
    /// How many.
    pub quantity: Option<u64>,
    /// The time it is for.
    pub period: Option<Period>,
    /// Names and values of the invoice item or the subscription.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
    #[serde(rename = "price")]
    price_before_2025: Option<Reference>,
    pricing: Option<LinePricing>,
    #[serde(rename = "subscription")]
    subscription_before_2025: Option<Reference>,
    parent: Option<LineParent>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct LinePricing {
    price_details: Option<PriceDetails>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct PriceDetails {
    price: Option<Reference>,
    product: Option<Reference>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct LineParent {
    subscription_item_details: Option<SubscriptionDetails>,
}

impl InvoiceLine {
    /// The id of its price, wherever the API version puts it.
    pub fn price(&self) -> Option<&str> {
        let price = self
            .price_details()
            .and_then(|details| details.price.as_ref());
        price.or(self.price_before_2025.as_ref()).map(Reference::id)
    }

    /// The id of its product. Known since 2025-03-31.
    pub fn product(&self) -> Option<&str> {
        let product = self.price_details()?.product.as_ref()?;
        Some(product.id())
    }

    /// The id of its subscription, wherever the API version puts it.
    pub fn subscription(&self) -> Option<&str> {
        let parent = self.parent.as_ref();
        let details = parent.and_then(|parent| parent.subscription_item_details.as_ref());
        details
            .and_then(|details| details.subscription.as_ref())
            .or(self.subscription_before_2025.as_ref())
            .map(Reference::id)
    }

    fn price_details(&self) -> Option<&PriceDetails> {
        self.pricing.as_ref()?.price_details.as_ref()
    }
}

/// From one moment to another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Period {
    /// Its beginning.
    pub start: UnixSeconds,
    /// Its end.
    pub end: UnixSeconds,
}

/// A customer pays again and again: `customer.subscription.*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Subscription {
    /// `sub_…`
    pub id: String,
    /// Whether real money moves.
    pub livemode: bool,
    /// When it was made.
    pub created: UnixSeconds,
    /// Where it stands.
    pub status: SubscriptionStatus,
    /// Who pays.
    pub customer: Expandable<Customer>,
    /// Of which currency. Absent before 2021.
    pub currency: Option<Currency>,
    /// What is paid for.
    pub items: List<SubscriptionItem>,
    /// How it is paid.
    pub collection_method: Option<CollectionMethod>,
    /// Whether it ends with the period.
    #[serde(default)]
    pub cancel_at_period_end: bool,
    /// When it will end.
    pub cancel_at: Option<UnixSeconds>,
    /// When somebody decided to end it.
    pub canceled_at: Option<UnixSeconds>,
    /// When it ended.
    pub ended_at: Option<UnixSeconds>,
    /// When it began.
    pub start_date: Option<UnixSeconds>,
    /// When the trial began.
    pub trial_start: Option<UnixSeconds>,
    /// When the trial ends.
    pub trial_end: Option<UnixSeconds>,
    /// The latest invoice.
    pub latest_invoice: Option<Reference>,
    /// With what it is paid, if not with the customer's default.
    pub default_payment_method: Option<Reference>,
    /// Your words.
    pub description: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
    #[serde(rename = "current_period_end")]
    period_end_before_2025: Option<UnixSeconds>,
}

impl Subscription {
    /// Until when it is paid, wherever the API version puts it: the earliest end of its items' periods.
    pub fn current_period_end(&self) -> Option<UnixSeconds> {
        let items = self.items.data.iter();
        let ends = items.filter_map(|item| item.current_period_end);
        self.period_end_before_2025.or(ends.min())
    }
}

open_enum! {
    /// Where a subscription stands.
    pub enum SubscriptionStatus {
        /// Paid.
        Active = "active",
        /// Over.
        Canceled = "canceled",
        /// The first payment has not succeeded yet.
        Incomplete = "incomplete",
        /// It did not succeed within a day. Over.
        IncompleteExpired = "incomplete_expired",
        /// A payment failed and is tried again.
        PastDue = "past_due",
        /// The trial ended without a payment method.
        Paused = "paused",
        /// Free for the time being.
        Trialing = "trialing",
        /// Payments failed and are not tried again.
        Unpaid = "unpaid",
    }
}

/// One price of a subscription.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionItem {
    /// `si_…`
    pub id: String,
    /// What it costs.
    pub price: Option<Price>,
    /// How many. Absent where usage is metered.
    pub quantity: Option<u64>,
    /// When its period began. Absent before 2025-03-31.
    pub current_period_start: Option<UnixSeconds>,
    /// When its period ends. Absent before 2025-03-31.
    pub current_period_end: Option<UnixSeconds>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

/// What a product costs: `price.*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// `price_…`, or the id of an older plan.
    pub id: String,
    /// Whether it can be used.
    pub active: Option<bool>,
    /// Of which currency.
    pub currency: Option<Currency>,
    /// For one. Absent in tiers, and where it is a fraction of the smallest unit.
    pub unit_amount: Option<Amount>,
    /// The same as a decimal number, with up to twelve places.
    pub unit_amount_decimal: Option<String>,
    /// What it is the price of.
    pub product: Option<Expandable<Product>>,
    /// How often, where it recurs.
    pub recurring: Option<Recurring>,
    /// Your own name to find it by.
    pub lookup_key: Option<String>,
    /// Your words, hidden from customers.
    pub nickname: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

/// How often a price recurs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Recurring {
    /// The number of intervals from one payment to the next.
    pub interval_count: u64,
    /// The interval.
    pub interval: Interval,
}

open_enum! {
    /// A stretch of the calendar.
    pub enum Interval {
        /// A day.
        Day = "day",
        /// A week.
        Week = "week",
        /// A month.
        Month = "month",
        /// A year.
        Year = "year",
    }
}

/// What is sold: `product.*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Product {
    /// `prod_…`, or your own.
    pub id: String,
    /// Whether it is sold.
    pub active: Option<bool>,
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The price it has by default.
    pub default_price: Option<Reference>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}
