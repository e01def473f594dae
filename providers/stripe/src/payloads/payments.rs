//! Payments, and what may become of them.

use serde::Deserialize;
use webhook_core::open_enum;

use super::common::{
    Amount, BillingDetails, Currency, Expandable, Metadata, Reference, Shipping, UnixSeconds,
    or_empty,
};
use super::{Customer, List};

/// A payment from beginning to end: `payment_intent.*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PaymentIntent {
    /// `pi_…`
    pub id: String,
    /// Whether real money moves.
    pub livemode: bool,
    /// When it was made.
    pub created: UnixSeconds,
    /// Where it stands.
    pub status: PaymentIntentStatus,
    /// What shall be collected.
    pub amount: Amount,
    /// What was collected.
    pub amount_received: Option<Amount>,
    /// What can still be captured.
    pub amount_capturable: Option<Amount>,
    /// Of which currency.
    pub currency: Currency,
    /// The platform's fee, on Connect.
    pub application_fee_amount: Option<Amount>,
    /// Who pays.
    pub customer: Option<Expandable<Customer>>,
    /// With what.
    pub payment_method: Option<Reference>,
    /// The latest charge it brought about.
    pub latest_charge: Option<Expandable<Charge>>,
    /// The invoice it pays. Absent since 2025-03-31.
    pub invoice: Option<Reference>,
    /// Why the last attempt failed.
    pub last_payment_error: Option<PaymentError>,
    /// When it was canceled.
    pub canceled_at: Option<UnixSeconds>,
    /// Why it was canceled.
    pub cancellation_reason: Option<CancellationReason>,
    /// Your words.
    pub description: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
    /// Where the receipt goes.
    pub receipt_email: Option<String>,
    /// Where the goods go.
    pub shipping: Option<Shipping>,
    /// The connected account it is made for.
    pub on_behalf_of: Option<Reference>,
    /// Your name for payments that belong together.
    pub transfer_group: Option<String>,
}

open_enum! {
    /// Where a payment stands.
    pub enum PaymentIntentStatus {
        /// It was canceled.
        Canceled = "canceled",
        /// The bank works on it.
        Processing = "processing",
        /// The customer must act.
        RequiresAction = "requires_action",
        /// Authorised, to be captured.
        RequiresCapture = "requires_capture",
        /// To be confirmed.
        RequiresConfirmation = "requires_confirmation",
        /// Without a payment method, or the last one failed.
        RequiresPaymentMethod = "requires_payment_method",
        /// Collected.
        Succeeded = "succeeded",
    }
}

open_enum! {
    /// Why a payment was canceled.
    pub enum CancellationReason {
        /// It was given up.
        Abandoned = "abandoned",
        /// By Stripe, with the invoice.
        Automatic = "automatic",
        /// There was another one.
        Duplicate = "duplicate",
        /// It was not captured in time.
        Expired = "expired",
        /// By Stripe, after too many attempts.
        FailedInvoice = "failed_invoice",
        /// It looked like a fraud.
        Fraudulent = "fraudulent",
        /// The customer said so.
        RequestedByCustomer = "requested_by_customer",
        /// With its invoice.
        VoidInvoice = "void_invoice",
    }
}

/// Why a payment failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PaymentError {
    /// The kind of error, for example `card_error`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The error, for example `card_declined`.
    pub code: Option<String>,
    /// The bank's reason, for example `insufficient_funds`.
    pub decline_code: Option<String>,
    /// For people.
    pub message: Option<String>,
}

/// One movement of money: `charge.*`, except disputes and refunds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "Stripe's")]
#[non_exhaustive]
pub struct Charge {
    /// `ch_…` or `py_…`
    pub id: String,
    /// Whether real money moves.
    pub livemode: bool,
    /// When it was made.
    pub created: UnixSeconds,
    /// What became of it.
    pub status: ChargeStatus,
    /// What shall be collected.
    pub amount: Amount,
    /// What was captured.
    pub amount_captured: Option<Amount>,
    /// What was given back, in all refunds.
    pub amount_refunded: Amount,
    /// Of which currency.
    pub currency: Currency,
    /// Whether it succeeded or was authorised.
    pub paid: bool,
    /// Whether it was captured.
    pub captured: bool,
    /// Whether all of it was given back.
    pub refunded: bool,
    /// Whether somebody disputes it.
    #[serde(default)]
    pub disputed: bool,
    /// The platform's fee, on Connect.
    pub application_fee_amount: Option<Amount>,
    /// Who pays.
    pub customer: Option<Expandable<Customer>>,
    /// As given with the payment.
    pub billing_details: Option<BillingDetails>,
    /// The payment it belongs to.
    pub payment_intent: Option<Expandable<PaymentIntent>>,
    /// With what.
    pub payment_method: Option<Reference>,
    /// The invoice it pays. Absent since 2025-03-31.
    pub invoice: Option<Reference>,
    /// The entry in the balance.
    pub balance_transaction: Option<Reference>,
    /// Why it failed, for example `card_declined`.
    pub failure_code: Option<String>,
    /// Why it failed, for people.
    pub failure_message: Option<String>,
    /// How the network and Radar judged it.
    pub outcome: Option<ChargeOutcome>,
    /// Its latest refunds. Absent since 2022-11-15.
    pub refunds: Option<List<Refund>>,
    /// Your words.
    pub description: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
    /// Where the receipt went.
    pub receipt_email: Option<String>,
    /// Where the receipt can be seen.
    pub receipt_url: Option<String>,
    /// Where the goods go.
    pub shipping: Option<Shipping>,
    /// Your name for charges that belong together.
    pub transfer_group: Option<String>,
}

open_enum! {
    /// What became of a charge.
    pub enum ChargeStatus {
        /// It failed.
        Failed = "failed",
        /// Not known yet.
        Pending = "pending",
        /// It succeeded.
        Succeeded = "succeeded",
    }
}

/// How a charge was judged.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ChargeOutcome {
    /// For example `authorized`, `issuer_declined`, `blocked`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// For example `approved_by_network`.
    pub network_status: Option<String>,
    /// For example `insufficient_funds`.
    pub reason: Option<String>,
    /// For example `normal`, `elevated`, `highest`.
    pub risk_level: Option<String>,
    /// For the merchant.
    pub seller_message: Option<String>,
}

/// Money given back: `refund.*` and `charge.refund.updated`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Refund {
    /// `re_…` or `pyr_…`
    pub id: String,
    /// When it was made.
    pub created: UnixSeconds,
    /// What became of it.
    pub status: Option<RefundStatus>,
    /// How much.
    pub amount: Amount,
    /// Of which currency.
    pub currency: Currency,
    /// Why.
    pub reason: Option<RefundReason>,
    /// The charge it undoes, wholly or in part.
    pub charge: Option<Expandable<Charge>>,
    /// The payment it undoes, wholly or in part.
    pub payment_intent: Option<Expandable<PaymentIntent>>,
    /// The entry in the balance.
    pub balance_transaction: Option<Reference>,
    /// Why it failed, for example `lost_or_stolen_card`.
    pub failure_reason: Option<String>,
    /// Your words.
    pub description: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

open_enum! {
    /// What became of a refund.
    pub enum RefundStatus {
        /// It was canceled.
        Canceled = "canceled",
        /// The money came back to you.
        Failed = "failed",
        /// On its way.
        Pending = "pending",
        /// The customer must act.
        RequiresAction = "requires_action",
        /// Done.
        Succeeded = "succeeded",
    }
}

open_enum! {
    /// Why money was given back.
    pub enum RefundReason {
        /// The charge was one too many.
        Duplicate = "duplicate",
        /// An uncaptured charge ran out.
        ExpiredUncapturedCharge = "expired_uncaptured_charge",
        /// The charge was a fraud.
        Fraudulent = "fraudulent",
        /// The customer asked for it.
        RequestedByCustomer = "requested_by_customer",
    }
}

/// A customer asked their bank for the money: `charge.dispute.*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Dispute {
    /// `du_…` or `dp_…`
    pub id: String,
    /// Whether real money is disputed.
    pub livemode: bool,
    /// When it was opened.
    pub created: UnixSeconds,
    /// Where it stands.
    pub status: DisputeStatus,
    /// How much is disputed.
    pub amount: Amount,
    /// Of which currency.
    pub currency: Currency,
    /// The bank's reason, for example `fraudulent`, `product_not_received`.
    pub reason: String,
    /// The charge.
    pub charge: Expandable<Charge>,
    /// The payment.
    pub payment_intent: Option<Expandable<PaymentIntent>>,
    /// Whether the charge can still be given back in full, to end an inquiry.
    #[serde(default)]
    pub is_charge_refundable: bool,
    /// Until when evidence counts.
    pub evidence_details: Option<EvidenceDetails>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

open_enum! {
    /// Where a dispute stands. Those that begin with `warning` are inquiries: no money was taken yet.
    pub enum DisputeStatus {
        /// The customer keeps the money.
        Lost = "lost",
        /// Evidence is asked for.
        NeedsResponse = "needs_response",
        /// It was settled before it began.
        Prevented = "prevented",
        /// The bank looks at the evidence.
        UnderReview = "under_review",
        /// The inquiry is over.
        WarningClosed = "warning_closed",
        /// The inquiry asks for evidence.
        WarningNeedsResponse = "warning_needs_response",
        /// The bank looks at the evidence.
        WarningUnderReview = "warning_under_review",
        /// You keep the money.
        Won = "won",
    }
}

/// The state of the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EvidenceDetails {
    /// Until when it must be there. Absent where the bank takes none.
    pub due_by: Option<UnixSeconds>,
    /// Whether any was saved.
    #[serde(default)]
    pub has_evidence: bool,
    /// Whether that moment has passed.
    #[serde(default)]
    pub past_due: bool,
    /// How often it was handed in.
    #[serde(default)]
    pub submission_count: u64,
}
