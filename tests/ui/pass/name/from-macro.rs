//! Handlers written by an application's own macro.

use sqlx::SqliteConnection;
use webhook_actix::{Event, Handler, HandlerError, Tx, webhook};
use webhook_stripe::Stripe;

macro_rules! handlers {
    ($($name:ident: $event:literal as $payload:ty),*; $provider:path, $connection:ty) => {
        $(
            #[webhook(provider = $provider, event = $event)]
            async fn $name(
                event: Event<$payload>,
                db: &mut $connection,
            ) -> Result<(), HandlerError> {
                let _ = (event, db);
                Ok(())
            }
        )*
    };
}

macro_rules! lazy {
    ($name:ident, $provider:ty, $tx:ty) => {
        #[webhook(provider = $provider, events("a", "b"), inline)]
        async fn $name(tx: $tx) -> Result<(), HandlerError> {
            drop(tx);
            Ok(())
        }
    };
}

handlers!(on_a: "a" as u64, on_b: "b" as Vec<String>; webhook_stripe::Stripe, SqliteConnection);
lazy!(on_both, Stripe, Tx<'_, SqliteConnection>);

fn main() {
    let handlers: [&dyn Handler<Stripe, SqliteConnection>; 3] = [&on_a, &on_b, &on_both];
    assert_eq!(
        handlers.map(|handler| handler.spec().name),
        ["on_a", "on_b", "on_both"]
    );
}
