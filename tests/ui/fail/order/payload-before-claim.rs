use webhook_core::{HandlerError, Payload, Verified};
use webhook_stripe::Stripe;

fn decode(verified: &Verified<'_>) -> Result<String, HandlerError> {
    <String as Payload<Stripe>>::decode(verified)
}

fn main() {
    let _ = decode;
}
