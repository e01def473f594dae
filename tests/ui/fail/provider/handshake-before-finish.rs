use webhook_core::{Handshake, InvalidEvent, Provider, Verifier};
use webhook_stripe::Stripe;

fn early(stripe: &Stripe, verifier: &Verifier) -> Result<Option<Handshake>, InvalidEvent> {
    stripe.handshake(verifier)
}

fn main() {
    let _ = early;
}
