//! The transaction of one attempt, lent to its handler.

use std::fmt;

use crate::future::BoxFuture;

/// Opens the transaction of one attempt, once, and lends its connection.
pub trait Lend<Conn>: Send {
    /// The connection; the first call begins the transaction.
    fn begin(&mut self) -> BoxFuture<'_, Result<&mut Conn, BeginError>>;
}

/// The attempt's transaction could not be opened. The attempt is over, whatever the handler returns,
/// and is not counted against the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the transaction of this attempt could not be opened")]
#[expect(
    clippy::exhaustive_structs,
    reason = "the engine knows more, the handler need not"
)]
pub struct BeginError;

/// The attempt's transaction, not yet begun.
///
/// For handlers with slow work before their effect: no transaction, lock or connection is held until
/// [`Tx::begin`]. On SQLite this is what keeps the writer free.
pub struct Tx<'t, C> {
    lend: &'t mut dyn Lend<C>,
}

impl<'t, C> Tx<'t, C> {
    #[doc(hidden)]
    pub fn new(lend: &'t mut dyn Lend<C>) -> Self {
        Self { lend }
    }

    /// Begin the transaction, or return to it. What is done on the connection commits with the
    /// event's completion, or not at all.
    ///
    /// # Errors
    ///
    /// [`BeginError`] if the store is busy or gone, or the lease is lost.
    pub async fn begin(&mut self) -> Result<&mut C, BeginError> {
        self.lend.begin().await
    }
}

impl<C> fmt::Debug for Tx<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tx(..)")
    }
}
