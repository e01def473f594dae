//! Where the keys of a delivery come from.

use std::fmt::Debug;
use std::sync::Arc;

use crate::future::BoxFuture;
use crate::keyring::Keyring;

/// What may choose a keyring: never anything but this, and never the body.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct KeyQuery<'q> {
    /// The tenant that the endpoint's path or declared header names.
    pub tenant: Option<&'q str>,
}

/// Why there is no keyring.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// The source cannot be reached. Answered 503: the provider shall come again.
    #[error("key source is unavailable")]
    Unavailable,
    /// There is no such tenant. Answered with the one generic refusal.
    #[error("no keys for this tenant")]
    Unknown,
}

/// A source of keyrings, for example one per tenant.
///
/// Called before authentication: implementations bound their work and cache their answers.
pub trait KeySource: Debug + Send + Sync + 'static {
    /// The keyring for `query`.
    ///
    /// # Errors
    ///
    /// [`KeyFault`].
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>>;
}

impl<'q> KeyQuery<'q> {
    /// A query for `tenant`, or for the endpoint's only keyring.
    pub fn new(tenant: Option<&'q str>) -> Self {
        Self { tenant }
    }
}
