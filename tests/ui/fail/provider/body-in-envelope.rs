use webhook_core::{Envelope, Head, Malformed};

fn envelope<'r>(head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
    parse(head.body())
}

fn parse<'r>(_body: &[u8]) -> Result<Envelope<'r>, Malformed> {
    Err(Malformed::Timestamp)
}

fn main() {
    let _ = envelope;
}
