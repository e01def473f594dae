//! The author's names are the author's, whatever the attribute needs.

#![allow(dead_code, non_camel_case_types)]
#![no_implicit_prelude]

use ::webhook_actix::{EventId, Handler, HandlerError, webhook};
use ::webhook_stripe::Stripe;

struct Box;
struct C;
struct Claimed;
struct Option;
struct Ok;
struct Send;
struct Some;
struct Tx;
struct claimed;
struct data;
struct lend;
mod core {}
mod std {}
mod webhook_actix {}

#[webhook(provider = Stripe, event = "push", at_least_once)]
async fn event(event: EventId) -> ::std::result::Result<(), HandlerError> {
    ::std::mem::drop(event);
    ::std::result::Result::Ok(())
}

#[webhook(provider = Stripe, event = "push", at_least_once)]
async fn r#type(id: EventId) -> ::std::result::Result<(), HandlerError> {
    ::std::mem::drop(id);
    ::std::result::Result::Ok(())
}

fn main() {
    let handler: &dyn Handler<Stripe, C> = &event;
    ::std::assert_eq!(handler.spec().name, "event");
    let handler: &dyn Handler<Stripe, C> = &r#type;
    ::std::assert_eq!(handler.spec().name, "type");
}
