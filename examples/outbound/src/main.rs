//! A shop that tells its customers of paid orders, and a customer that listens.
//!
//! `cargo run -p outbound` runs both in one process and prints what to try; `-- shop` and
//! `-- customer` run them apart.

mod config;
mod customer;
mod endpoints;
mod orders;
mod page;
mod shop;

use tracing_subscriber::EnvFilter;

use crate::config::Config;

type AnyError = Box<dyn std::error::Error>;

#[actix_web::main]
async fn main() -> Result<(), AnyError> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()))
        .init();
    let config = Config::from_env()?;
    match std::env::args().nth(1).as_deref() {
        None => {
            let customer = customer::start(&config).await?;
            let shop = shop::start(&config).await?;
            shop.introduce(&config).await?;
            shop.print();
            tokio::try_join!(shop.serve(), customer.serve())?;
            Ok(())
        }
        Some("customer") => customer::start(&config).await?.serve().await,
        Some("shop") => {
            let shop = shop::start(&config).await?;
            shop.introduce(&config).await?;
            shop.print();
            shop.serve().await
        }
        Some(other) => Err(format!("`{other}` is neither `shop` nor `customer`").into()),
    }
}
