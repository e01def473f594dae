//! A handler may stand inside a function, and its body may name what is around it.

use webhook_actix::{Handler, HandlerError, webhook};
use webhook_stripe::Stripe;

fn outside() {}

mod inner {
    use super::*;

    #[webhook(provider = Stripe, event = "push", at_least_once)]
    pub async fn on_push() -> Result<(), HandlerError> {
        super::outside();
        self::helper();
        Ok(())
    }

    fn helper() {}
}

fn main() {
    #[webhook(provider = webhook_stripe::Stripe, event = "push", at_least_once)]
    async fn on_push() -> Result<(), HandlerError> {
        Ok(())
    }
    let _: [&dyn Handler<Stripe, ()>; 2] = [&on_push, &inner::on_push];
}
