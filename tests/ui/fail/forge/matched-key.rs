use webhook_core::{KeyFingerprint, MatchedKey};

fn forge(fingerprint: KeyFingerprint) -> MatchedKey {
    MatchedKey {
        id: None,
        fingerprint,
    }
}

fn main() {
    let _ = forge;
}
