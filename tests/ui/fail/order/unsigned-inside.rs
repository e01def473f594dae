use webhook_core::{EventId, Unsigned};

fn trust(id: Unsigned<EventId>) -> EventId {
    id.0
}

fn main() {
    let _ = trust;
}
