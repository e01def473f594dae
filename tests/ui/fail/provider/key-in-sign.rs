use webhook_core::{Keyring, Signing};

fn sign<'s>(with: &Signing<'s>) -> &'s Keyring {
    with.keys
}

fn main() {
    let _ = sign;
}
