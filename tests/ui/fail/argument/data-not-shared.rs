use std::cell::RefCell;

use webhook_actix::{Data, HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push", at_least_once)]
async fn on_push(_seen: Data<RefCell<u64>>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
