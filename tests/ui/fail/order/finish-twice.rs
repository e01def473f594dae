use webhook_core::{Head, Rejection, Verifier};

fn verify(verifier: Verifier, head: &Head<'_>) -> Result<(), Rejection> {
    let _first = verifier.finish(head)?;
    let _second = verifier.finish(head)?;
    Ok(())
}

fn main() {
    let _ = verify;
}
