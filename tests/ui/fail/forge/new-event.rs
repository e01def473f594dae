use webhook_core::{EventId, NewEvent};

fn forge(other: NewEvent, id: EventId) -> NewEvent {
    NewEvent { id, ..other }
}

fn main() {
    let _ = forge;
}
