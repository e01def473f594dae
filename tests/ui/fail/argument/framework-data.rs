use actix_web::web;
use webhook_actix::{HandlerError, webhook};
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push", at_least_once)]
async fn on_push(_mailer: web::Data<u64>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
