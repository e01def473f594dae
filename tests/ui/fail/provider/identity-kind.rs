use webhook_core::IdentityKind;

#[derive(Debug)]
struct Trusted;

impl IdentityKind for Trusted {
    const SIGNED: bool = true;
}

fn main() {
    let _ = Trusted;
}
