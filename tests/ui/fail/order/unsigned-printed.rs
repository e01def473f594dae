use webhook_core::{EventId, Unsigned};

fn trust(id: &Unsigned<EventId>) -> String {
    id.to_string()
}

fn main() {
    let _ = trust;
}
