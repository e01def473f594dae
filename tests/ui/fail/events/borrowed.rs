use webhook_actix::{Event, Events, HandlerError, webhook};
use webhook_stripe::Stripe;

#[allow(dead_code)]
#[derive(Events)]
enum Billing<'a> {
    #[event = "invoice.paid"]
    Paid(&'a str),
}

#[webhook(provider = Stripe, at_least_once)]
async fn on_billing(_event: Event<Billing<'static>>) -> Result<(), HandlerError> {
    Ok(())
}

fn main() {}
