use webhook_core::{Claimed, FromClaimed, HandlerError};
use webhook_stripe::Stripe;

struct Early(Vec<u8>);

impl FromClaimed<Stripe> for Early {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        Ok(Self(claimed.leased.event.payload.to_vec()))
    }
}

fn main() {
    let Early(_) = Early(Vec::new());
}
