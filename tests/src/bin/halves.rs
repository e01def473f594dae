//! What `cargo xtask torture --outbound` kills: see [`webhook_tests::outbound`].

#[actix_web::main]
async fn main() {
    webhook_tests::outbound::main().await;
}
