use webhook_core::Claimed;

fn trust(claimed: &Claimed) -> &str {
    claimed.event_type()
}

fn main() {
    let _ = trust;
}
