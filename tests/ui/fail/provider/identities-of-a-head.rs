use webhook_core::{Head, Identities, InvalidEvent, Provider};
use webhook_stripe::Stripe;

fn early(stripe: &Stripe, head: &Head<'_>) -> Result<Identities, InvalidEvent> {
    Provider::identities(stripe, head)
}

fn main() {
    let _ = early;
}
