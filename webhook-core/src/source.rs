//! Where the keys of a delivery come from.

use std::fmt::Debug;
use std::sync::Arc;

use crate::future::BoxFuture;
use crate::keyring::Keyring;

/// What may choose a keyring: nothing but this.
#[non_exhaustive]
#[derive(Debug, Clone, Copy)]
pub struct KeyQuery<'q> {
    /// The tenant that the endpoint's path or declared header names: 1 to 255 bytes without control
    /// characters, and otherwise whatever a stranger wrote.
    pub tenant: Option<&'q str>,
    /// The URL at which a certificate stands that the sender says verifies it, where its scheme has such: 1 to 255 bytes
    /// without control characters, and otherwise whatever a stranger wrote. Whoever fetches it must know the host. Then there is no
    /// tenant.
    pub certificate: Option<&'q str>,
}

/// Why there is no keyring.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// The source cannot be reached, or what it holds cannot be used. Answered 503: the provider shall come
    /// again.
    #[error("key source is unavailable")]
    Unavailable,
    /// There is no such tenant. Answered with the one generic refusal.
    #[error("no keys for this tenant")]
    Unknown,
}

/// A source of keyrings, for example one per tenant.
///
/// Asked before authentication, but rarely: the engine remembers answers for a while, asks once for all
/// requests that wait for one tenant, and gives up after a second. An implementation asks its store and need
/// not cache. The keyring's [principal](Keyring::principal) is the tenant of all it verifies; without one it is the
/// name in the query. Two tenants must not have one secret.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Arc;
///
/// use webhook_core::{
///     BoxFuture, KeyConfig, KeyFault, KeyQuery, KeySource, Keyring, SecretFormat,
/// };
///
/// #[derive(Debug)]
/// struct Tenants(HashMap<String, String>);
///
/// impl KeySource for Tenants {
///     fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
///         Box::pin(async move {
///             let tenant = query.tenant.ok_or(KeyFault::Unknown)?;
///             let secret = self.0.get(tenant).ok_or(KeyFault::Unknown)?;
///             let format = SecretFormat::Text { prefix: "" }; // the provider's `spec().secret()`
///             // A secret that cannot be used is our fault: not "unknown", which refuses for good.
///             let ring = Keyring::build(format, [KeyConfig::new(secret.as_str())])
///                 .map_err(|_| KeyFault::Unavailable)?;
///             Ok(Arc::new(ring))
///         })
///     }
/// }
/// ```
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
        Self {
            tenant,
            certificate: None,
        }
    }

    /// A query for the certificate at this URL.
    pub fn certificate(url: &'q str) -> Self {
        Self {
            tenant: None,
            certificate: Some(url),
        }
    }
}
