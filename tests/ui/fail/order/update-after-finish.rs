use webhook_core::{Head, Rejection, Verifier};

fn verify(mut verifier: Verifier, head: &Head<'_>) -> Result<(), Rejection> {
    let _verified = verifier.finish(head)?;
    verifier.update(Default::default())
}

fn main() {
    let _ = verify;
}
