//! The victim by another name, under which a test builds it as everybody else would: without fault points.

#[actix_web::main]
async fn main() {
    webhook_tests::process::main().await;
}
