use webhook_core::{EventId, Unsigned};

fn trust(id: &Unsigned<EventId>) -> &str {
    id.as_str()
}

fn main() {
    let _ = trust;
}
