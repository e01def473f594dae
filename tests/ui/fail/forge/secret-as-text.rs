use webhook_core::Secret;

fn show(secret: &Secret) -> String {
    secret.to_string()
}

fn main() {
    let _ = show;
}
