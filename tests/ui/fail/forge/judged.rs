use webhook_core::{Envelope, Freshness, Judged};

fn forge(envelope: Envelope<'_>) -> Judged<'_> {
    Judged {
        envelope,
        freshness: Freshness::Fresh,
    }
}

fn main() {
    let _ = forge;
}
