use webhook_core::{Freshness, Verifier};

fn forge(stale: Verifier) -> Verifier {
    Verifier {
        freshness: Freshness::Fresh,
        ..stale
    }
}

fn main() {
    let _ = forge;
}
