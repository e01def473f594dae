//! Handlers without their provider's type, so that one engine runs those of all.

use std::sync::Arc;

use webhook_core::{BoxFuture, Claimed, Handler, HandlerError, HandlerSpec, Lend, Provider, Reply};

/// A handler without its provider type.
pub(crate) trait Erased<C>: Send + Sync {
    fn spec(&self) -> &'static HandlerSpec;
    fn call<'a>(
        &'a self,
        claimed: &'a Claimed,
        db: &'a mut dyn Lend<C>,
    ) -> BoxFuture<'a, Result<Reply, HandlerError>>;
}

pub(crate) struct Erase<P, C>(pub(crate) Arc<dyn Handler<P, C>>);

impl<P: Provider, C: Send + 'static> Erased<C> for Erase<P, C> {
    fn spec(&self) -> &'static HandlerSpec {
        self.0.spec()
    }

    fn call<'a>(
        &'a self,
        claimed: &'a Claimed,
        db: &'a mut dyn Lend<C>,
    ) -> BoxFuture<'a, Result<Reply, HandlerError>> {
        self.0.call(claimed, db)
    }
}
