//! One endpoint as an HTTP adapter sees it.

use std::fmt;

use bytes::Bytes;
use futures_util::Stream;
use webhook_core::ledger::Ledger;
use webhook_core::{Head, Malformed};

use crate::deliver::{Delivered, deliver};
use crate::shared::Site;

/// An endpoint for an HTTP adapter, which routes requests to it and writes its answers.
pub struct EndpointHandle<L: Ledger>(Site<L>);

impl<L: Ledger> EndpointHandle<L> {
    pub(crate) fn new(site: Site<L>) -> Self {
        Self(site)
    }

    /// Its path, perhaps with a `{tenant}` parameter.
    pub fn path(&self) -> &str {
        &self.0.served.built.path
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.served.built.name
    }

    /// Whether its provider sends challenges as GETs. Route POST, and GET where this is true; refuse other methods.
    pub fn answers_get(&self) -> bool {
        self.0.built().provider.spec().is_greeted()
    }

    /// Serve a POST, or a GET where the endpoint [answers it](Self::answers_get): the whole way from the head to the answer.
    ///
    /// `head` is what [`Head::new`] made of the request: a refused one is answered like every other. `tenant` is the path's
    /// parameter, decoded. `body` yields the bytes as they were sent: below any decompressor, and without a limit of its
    /// own, for bounds on size, time and memory are kept here.
    ///
    /// What was begun goes on if the returned future is dropped: a client that hangs up loses nothing.
    pub async fn deliver<B, E>(
        &self,
        head: Result<Head<'_>, Malformed>,
        tenant: Option<&str>,
        body: B,
    ) -> Delivered<B>
    where
        B: Stream<Item = Result<Bytes, E>> + Unpin,
    {
        deliver(&self.0, head, tenant, body).await
    }
}

impl<L: Ledger> Clone for EndpointHandle<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L: Ledger> fmt::Debug for EndpointHandle<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EndpointHandle").field(&self.name()).finish()
    }
}
