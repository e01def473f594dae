use std::error::Error;
use std::fmt;
use std::time::Duration;

use webhook_actix::{Disposition, Fault, Handler, HandlerError, OrElse as _, Reply, webhook};
use webhook_stripe::Stripe;

#[derive(Debug)]
struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("declined")
    }
}

impl Error for Declined {}

/// What `anyhow::Result` is.
type Any<T, E = Box<dyn Error + Send + Sync>> = Result<T, E>;

async fn work() -> Result<(), Declined> {
    Err(Declined)
}

#[webhook(provider = Stripe, event = "a", at_least_once)]
async fn own() -> Result<(), Declined> {
    work().await
}

#[webhook(provider = Stripe, event = "b", at_least_once)]
async fn any() -> Any<()> {
    work().await?;
    Err("as text")?
}

#[webhook(provider = Stripe, event = "c", at_least_once)]
async fn text() -> Result<(), String> {
    Ok(())
}

#[webhook(provider = Stripe, event = "d", at_least_once)]
async fn disposed() -> Result<(), HandlerError> {
    work().await?;
    work().await.or_dead_letter()?;
    work().await.or_ignore()?;
    work().await.or_retry_after(Duration::from_secs(60))?;
    Err(HandlerError::public(Disposition::Ignore, "nothing to do"))
}

#[webhook(provider = Stripe, event = "e", at_least_once)]
async fn unnamed() -> Result<impl Into<Reply>, Declined> {
    work().await
}

/// Says by itself what shall become of the event.
#[derive(Debug)]
struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("gone")
    }
}

impl Error for Gone {}

impl Fault for Gone {
    fn disposition(&self) -> Disposition {
        Disposition::Ignore
    }
}

#[webhook(provider = Stripe, event = "f", at_least_once)]
async fn says() -> Result<(), Gone> {
    Err(Gone)
}

fn main() {
    let _: [&dyn Handler<Stripe, ()>; 6] = [&own, &any, &text, &disposed, &unnamed, &says];
}
