//! `on_push::call` is the function itself, for unit tests.

use webhook_actix::{Disposition, HandlerError, webhook};
use webhook_stripe::Stripe;

struct Counter(u32);

mod handlers {
    use super::*;

    #[webhook(provider = Stripe, event = "push")]
    pub(super) async fn on_push(db: &mut Counter) -> Result<(), HandlerError> {
        db.0 += 1;
        match db.0 {
            1 => Ok(()),
            _ => Err(HandlerError::public(Disposition::Retry, "again")),
        }
    }
}

fn main() {
    let mut db = Counter(0);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        assert!(handlers::on_push::call(&mut db).await.is_ok());
        assert!(handlers::on_push::call(&mut db).await.is_err());
    });
    assert_eq!(db.0, 2);
}
