//! What the attribute writes brings no warning into a strict crate, nor hides the author's own.

#![deny(warnings)]
#![deny(
    future_incompatible,
    let_underscore,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    single_use_lifetimes,
    trivial_casts,
    unit_bindings,
    unreachable_pub,
    unused,
    unused_lifetimes,
    unused_qualifications,
    unused_results
)]
#![forbid(unsafe_code)]

use sqlx::SqliteConnection;
use webhook_actix::{
    Data, Event, EventId, FromClaimed, Handler, HandlerError, Provider, Tx, webhook,
};
use webhook_stripe::Stripe;

#[derive(serde::Deserialize)]
struct Private;

trait Effects: Send {}

impl Effects for SqliteConnection {}

/// Visible, with types that are not.
#[webhook(provider = Stripe, event = "a")]
pub async fn visible(
    event: Event<Private>,
    id: EventId,
    db: &mut SqliteConnection,
) -> Result<(), HandlerError> {
    drop(event);
    drop((id, db));
    Ok(())
}

/// Visible, with a bound that is not.
#[webhook(provider = Stripe, event = "b")]
pub async fn generic<C: Effects>(tx: Tx<'_, C>) -> Result<(), HandlerError> {
    drop(tx);
    Ok(())
}

#[webhook(provider = Stripe, event = "c", at_least_once)]
pub(crate) async fn many(
    _a: Data<u8>,
    _b: Data<u16>,
    _c: Data<u32>,
    _d: Data<u64>,
    _e: Data<i8>,
    _f: Data<i16>,
    _g: Data<i32>,
    _h: Data<i64>,
) -> Result<(), HandlerError> {
    Ok(())
}

#[webhook(provider = Stripe, event = "d", at_least_once)]
#[deprecated = "for a reason"]
async fn old() -> Result<(), HandlerError> {
    Ok(())
}

#[webhook(provider = Stripe, event = "e", at_least_once)]
#[allow(dead_code)]
async fn unmounted() -> Result<(), HandlerError> {
    Ok(())
}

fn imported<P: Provider, T: FromClaimed<P>>() {}

fn main() {
    imported::<Stripe, EventId>();
    let _handlers: [&dyn Handler<Stripe, SqliteConnection>; 4] = [
        &visible,
        &generic,
        &many,
        #[allow(deprecated)]
        &old,
    ];
}
