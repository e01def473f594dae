//! Who pays, who is paid, and what is paid out.

use serde::Deserialize;
use webhook_core::open_enum;

use super::common::{
    Address, Amount, Currency, Metadata, Reference, Shipping, UnixSeconds, or_empty,
};

/// Who pays: `customer.created`, `customer.updated`, `customer.deleted`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Customer {
    /// `cus_…`, or your own.
    pub id: String,
    /// Whether it is gone. Nothing but the id is there then.
    #[serde(default)]
    pub deleted: bool,
    /// Whether it can move real money.
    pub livemode: Option<bool>,
    /// When it was made.
    pub created: Option<UnixSeconds>,
    /// Email address.
    pub email: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// Telephone number.
    pub phone: Option<String>,
    /// Address.
    pub address: Option<Address>,
    /// Where goods go.
    pub shipping: Option<Shipping>,
    /// Of the next invoices; negative if they owe less.
    pub balance: Option<Amount>,
    /// Of which currency they are billed.
    pub currency: Option<Currency>,
    /// Whether their latest invoice is overdue or its payment failed.
    pub delinquent: Option<bool>,
    /// Your words.
    pub description: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

/// Who is paid: `account.updated`, on Connect.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Account {
    /// `acct_…`
    pub id: String,
    /// When it was made.
    pub created: Option<UnixSeconds>,
    /// `standard`, `express`, `custom` or `none`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Two-letter country code.
    pub country: Option<String>,
    /// The currency it has by default.
    pub default_currency: Option<Currency>,
    /// Email address.
    pub email: Option<String>,
    /// Whether it can be paid.
    #[serde(default)]
    pub charges_enabled: bool,
    /// Whether it can be paid out.
    #[serde(default)]
    pub payouts_enabled: bool,
    /// Whether it said what there is to say.
    #[serde(default)]
    pub details_submitted: bool,
    /// What it must still say.
    pub requirements: Option<Requirements>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

/// What an account must still say, as names of fields.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Requirements {
    /// Until when the current ones must be met.
    pub current_deadline: Option<UnixSeconds>,
    /// To be met by then.
    #[serde(default, deserialize_with = "or_empty")]
    pub currently_due: Vec<String>,
    /// To be met in the end.
    #[serde(default, deserialize_with = "or_empty")]
    pub eventually_due: Vec<String>,
    /// Not met in time.
    #[serde(default, deserialize_with = "or_empty")]
    pub past_due: Vec<String>,
    /// Why it is disabled, for example `requirements.past_due`.
    pub disabled_reason: Option<String>,
}

/// Money on its way to a bank: `payout.*`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Payout {
    /// `po_…`
    pub id: String,
    /// Whether real money moves.
    pub livemode: bool,
    /// When it was made.
    pub created: UnixSeconds,
    /// Where it stands.
    pub status: PayoutStatus,
    /// How much. Negative where money is fetched from the bank.
    pub amount: Amount,
    /// Of which currency.
    pub currency: Currency,
    /// When it should arrive.
    pub arrival_date: UnixSeconds,
    /// Whether it goes by a schedule.
    #[serde(default)]
    pub automatic: bool,
    /// `standard` or `instant`.
    pub method: Option<String>,
    /// Where it goes.
    pub destination: Option<Reference>,
    /// The entry in the balance.
    pub balance_transaction: Option<Reference>,
    /// Why it failed, for example `account_closed`.
    pub failure_code: Option<String>,
    /// Why it failed, for people.
    pub failure_message: Option<String>,
    /// Your words.
    pub description: Option<String>,
    /// Your own names and values.
    #[serde(default, deserialize_with = "or_empty")]
    pub metadata: Metadata,
}

open_enum! {
    /// Where a payout stands.
    pub enum PayoutStatus {
        /// It was canceled.
        Canceled = "canceled",
        /// The money came back. It may still turn to this from `paid`, for some days.
        Failed = "failed",
        /// The bank has it.
        InTransit = "in_transit",
        /// It should have arrived.
        Paid = "paid",
        /// Not handed to the bank yet.
        Pending = "pending",
    }
}
