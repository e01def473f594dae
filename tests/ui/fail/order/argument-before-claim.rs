use webhook_core::{Event, FromClaimed, HandlerError, Verified};
use webhook_stripe::Stripe;

fn decode(verified: &Verified<'_>) -> Result<Event<String>, HandlerError> {
    <Event<String> as FromClaimed<Stripe>>::from_claimed(verified)
}

fn main() {
    let _ = decode;
}
