use webhook_core::{ClaimScope, Identity, InvalidEvent, NewEvent, Verifier};
use webhook_github::GitHub;

fn claim(
    verifier: &Verifier,
    identity: Identity,
    scope: &ClaimScope,
) -> Result<NewEvent, InvalidEvent> {
    NewEvent::new(verifier, identity, &GitHub, scope)
}

fn main() {
    let _ = claim;
}
