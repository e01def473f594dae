//! The process that tests kill: see [`webhook_tests::process`].

#[actix_web::main]
async fn main() {
    webhook_tests::process::main().await;
}
