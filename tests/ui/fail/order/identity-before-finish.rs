use webhook_core::{Identities, InvalidEvent, Judged, Provider};
use webhook_github::GitHub;

fn peek(judged: &Judged<'_>) -> Result<Identities, InvalidEvent> {
    GitHub.identities(judged)
}

fn main() {
    let _ = peek;
}
