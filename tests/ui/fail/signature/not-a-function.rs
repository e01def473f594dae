use webhook_actix::webhook;
use webhook_stripe::Stripe;

#[webhook(provider = Stripe, event = "push")]
struct OnPush;

fn main() {
    let _ = (OnPush, Stripe::live());
}
