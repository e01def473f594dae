use sqlx::SqliteConnection;
use webhook_actix::{BoxFuture, Handler, HandlerError, Lend, NewEvent, Reply};
use webhook_stripe::Stripe;

fn run<'a, H: Handler<Stripe, SqliteConnection>>(
    handler: &'a H,
    event: &'a NewEvent,
    db: &'a mut dyn Lend<SqliteConnection>,
) -> BoxFuture<'a, Result<Reply, HandlerError>> {
    handler.call(event, db)
}

fn main() {}
