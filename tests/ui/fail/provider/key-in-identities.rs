use webhook_core::{Identities, InvalidEvent, Verified};

fn identities(verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
    derive(verified.key().secret())
}

fn derive(_key: &[u8]) -> Result<Identities, InvalidEvent> {
    Err(InvalidEvent::Body)
}

fn main() {
    let _ = identities;
}
