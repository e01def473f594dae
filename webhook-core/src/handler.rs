//! What runs once per event.

use crate::claimed::Claimed;
use crate::data::{DataMap, MissingData};
use crate::fault::HandlerError;
use crate::future::BoxFuture;
use crate::handler_spec::HandlerSpec;
use crate::lend::Lend;
use crate::provider::Provider;
use crate::reply::Reply;

/// A handler of a provider's events on a ledger whose connections are `Conn`.
///
/// `#[webhook]` writes the implementation; stateful handlers may write it by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle `{P}` webhooks on this ledger (its connection is `{Conn}`)",
    label = "not a handler here",
    note = "handlers carry `#[webhook(provider = .., event = \"..\")]`; the provider must be the endpoint's and a connection argument the ledger's"
)]
pub trait Handler<P: Provider, Conn: Send>: Send + Sync + 'static {
    /// Name, event types, mode.
    fn spec(&self) -> &'static HandlerSpec;

    /// Check at build time that everything the handler wants is there.
    ///
    /// # Errors
    ///
    /// The first thing that is missing.
    fn require(&self, data: &DataMap) -> Result<(), MissingData>;

    /// Run once. Only the engine can make a [`Claimed`].
    fn call<'a>(
        &'a self,
        claimed: &'a Claimed,
        db: &'a mut dyn Lend<Conn>,
    ) -> BoxFuture<'a, Result<Reply, HandlerError>>;
}
