use webhook_core::Valid;

fn forge(payload: String) -> Valid<String> {
    Valid(payload)
}

fn main() {
    let _ = forge;
}
