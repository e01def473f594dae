use webhook_core::Verifier;

fn peek(verifier: &Verifier) -> usize {
    verifier.body().len()
}

fn main() {
    let _ = peek;
}
