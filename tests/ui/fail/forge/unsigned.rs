use webhook_core::{EventId, Unsigned};

fn forge(id: EventId) -> Unsigned<EventId> {
    Unsigned(id)
}

fn main() {
    let _ = forge;
}
