use webhook_core::Event;

fn forge(payload: String) -> Event<String> {
    Event(payload)
}

fn main() {
    let _ = forge;
}
