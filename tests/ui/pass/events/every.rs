//! Everything a variant may be.

use serde::Deserialize;
use webhook_actix::{
    Event, EventType, Events, Handler, HandlerError, Invalid, RawEvent, Unsigned, Valid, Validate,
    webhook,
};
use webhook_github::GitHub;
use webhook_stripe::Stripe;

#[derive(Deserialize)]
struct Invoice {
    paid: bool,
}

impl Validate for Invoice {
    fn validate(&self) -> Result<(), Invalid> {
        if self.paid {
            return Ok(());
        }
        Err(Invalid("not paid"))
    }
}

/// Docs, and attributes of others.
#[derive(Debug, Clone, Events)]
enum Empty {
    #[doc(hidden)]
    #[event = "ping"]
    Ping,
}

#[derive(Events)]
enum Billing {
    #[event = "invoice.paid"]
    Paid(Valid<Invoice>),
    #[events("invoice.sent", "invoice.voided")]
    Boxed(Box<Invoice>),
    #[cfg(any())]
    #[event = "invoice.paid"]
    Never(Missing),
    #[event = "charge.refunded"]
    Refunded(r#type::Charge),
    #[event(other)]
    Other(EventType, RawEvent),
}

mod r#type {
    #[derive(serde::Deserialize)]
    pub(crate) struct Charge;
}

/// Of any provider, with names of its own for whatever it likes.
#[derive(Events)]
enum Change {
    #[event(other)]
    Other {
        r#type: Unsigned<EventType>,
        json: RawEvent,
    },
}

/// A payload of one type.
#[derive(Deserialize)]
struct Push;

impl Events for Push {
    const TYPES: &'static [&'static str] = &["push"];
}

#[webhook(provider = Stripe)]
async fn on_billing(event: Event<Billing>, db: &mut u8) -> Result<(), HandlerError> {
    *db = match event.into_inner() {
        Billing::Paid(invoice) => invoice.paid.into(),
        Billing::Boxed(invoice) => invoice.paid.into(),
        Billing::Refunded(r#type::Charge) => 2,
        Billing::Other(event_type, json) => {
            drop((event_type, json));
            3
        }
    };
    Ok(())
}

/// Fewer than it could take.
#[webhook(provider = Stripe, event = "invoice.paid", at_least_once)]
async fn on_paid(event: Event<Billing>) -> Result<(), HandlerError> {
    drop(event);
    Ok(())
}

#[webhook(provider = GitHub, at_least_once)]
async fn on_change(event: Event<Change>) -> Result<(), HandlerError> {
    let Change::Other { r#type, json } = event.into_inner();
    drop((r#type, json));
    Ok(())
}

#[webhook(provider = GitHub, at_least_once)]
async fn on_push(event: Event<Push>) -> Result<(), HandlerError> {
    let Push = event.into_inner();
    Ok(())
}

fn main() {
    let billing: &dyn Handler<Stripe, u8> = &on_billing;
    assert_eq!(billing.spec().events.len(), 4);
    assert!(billing.spec().others);
    let paid: &dyn Handler<Stripe, u8> = &on_paid;
    assert_eq!(paid.spec().events, ["invoice.paid"]);
    assert!(!paid.spec().others);
    let change: &dyn Handler<GitHub, u8> = &on_change;
    assert!(change.spec().events.is_empty() && change.spec().others);
    let push: &dyn Handler<GitHub, u8> = &on_push;
    assert_eq!(push.spec().events, ["push"]);
    let Empty::Ping = Empty::Ping;
}
