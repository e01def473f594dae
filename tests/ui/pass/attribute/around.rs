//! Above and below other attributes, which stay with the function.

use webhook_actix::{Handler, HandlerError, webhook};
use webhook_stripe::Stripe;

#[tracing::instrument]
#[webhook(provider = Stripe, event = "a", at_least_once)]
async fn below() -> Result<(), HandlerError> {
    Ok(())
}

#[webhook(provider = Stripe, event = "a", at_least_once)]
#[tracing::instrument(skip_all)]
async fn above() -> Result<(), HandlerError> {
    Ok(())
}

#[webhook(provider = Stripe, event = "a", at_least_once)]
#[cfg(any())]
async fn absent() -> Result<(), NoSuchType> {
    no_such_function()
}

#[cfg(any())]
#[webhook(provider = Stripe, event = "a", at_least_once)]
async fn absent() -> Result<(), NoSuchType> {
    no_such_function()
}

#[webhook(provider = Stripe, event = "a", at_least_once)]
#[allow(unused_variables, unreachable_code)]
async fn allowed() -> Result<(), HandlerError> {
    let unused = 1;
    return Ok(());
    Ok(())
}

fn main() {
    let _: [&dyn Handler<Stripe, ()>; 3] = [&below, &above, &allowed];
}
