//! Keys from certificates at URLs that senders name: an allow-list, a guarded fetch, and nothing else.
//!
//! Amazon SNS and PayPal sign with RSA and say in each request at which URL the certificate stands. That URL is the sender's word,
//! whoever the sender is. [`Certificates`] asks a function of the provider's whether it is one of that provider's before
//! anything else happens; then it is fetched by the client that `webhook-dispatch` sends with: https alone, public addresses
//! alone, no redirect, 5 s and a few kilobytes at most.
//!
//! ```no_run
//! use webhook_certificates::Certificates;
//!
//! // `webhook_sns::Sns::is_certificate_url`, `webhook_paypal::PayPal::is_certificate_url`
//! fn is_ours(url: &str) -> bool {
//!     url == "https://certificates.acme.example/2026.pem"
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let certificates = Certificates::allowed(is_ours)?;
//! // Keys::source(certificates)
//! # let _ = certificates;
//! # Ok(())
//! # }
//! ```
//!
//! What is known is kept by the endpoint, as of every [`KeySource`]: for how long, how many, and how long one is waited for is said by
//! `Lookups`. A certificate comes from another continent: wait for more than the second that is usual.
//!
//! The server's own certificate vouches for the one that it serves, at a host that the function knows. That one's chain and
//! dates are not looked at: who controls the host controls both.

mod pem;

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use webhook_core::{BoxFuture, KeyConfig, KeyFault, KeyQuery, KeySource, Keyring, SecretFormat};
use webhook_dispatch::guard::{GuardedClient, GuardedRequest, SetupError, Target};

/// A source of keys: the certificates at URLs that a function knows.
pub struct Certificates {
    client: GuardedClient,
    is_allowed: fn(&str) -> bool,
}

impl Certificates {
    /// Fetch what `is_allowed` knows with a client of its own, which goes to public addresses alone.
    ///
    /// The function is the whole of the allow-list: it must judge scheme, host and path.
    ///
    /// # Errors
    ///
    /// If no client can be made on this machine.
    pub fn allowed(is_allowed: fn(&str) -> bool) -> Result<Self, SetupError> {
        Ok(Self::with_client(
            GuardedClient::builder().build()?,
            is_allowed,
        ))
    }

    /// The same with this client, and its policy.
    pub fn with_client(client: GuardedClient, is_allowed: fn(&str) -> bool) -> Self {
        Self { client, is_allowed }
    }

    async fn fetch(&self, query: KeyQuery<'_>) -> Result<Arc<Keyring>, KeyFault> {
        let url = query.certificate.filter(|url| (self.is_allowed)(url));
        let url = url.ok_or(KeyFault::Unknown)?;
        let target = Target::parse(url).map_err(|_| KeyFault::Unknown)?;
        let answer = self
            .client
            .send(&GuardedRequest::get(target), HeaderMap::new)
            .await
            .map_err(|_| KeyFault::Unavailable)?;
        // Whatever a trusted host says of a certificate that was there, deliveries are not refused for good by it.
        if answer.status != StatusCode::OK {
            return Err(KeyFault::Unavailable);
        }
        // The first is the sender's; those above it may follow, and may be cut off.
        let certificate = pem::first_certificate(&answer.body).ok_or(KeyFault::Unavailable)?;
        let keys = Keyring::build(SecretFormat::RsaSpki, [KeyConfig::new(certificate)]);
        Ok(Arc::new(keys.map_err(|_| KeyFault::Unavailable)?))
    }
}

impl KeySource for Certificates {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
        Box::pin(self.fetch(query))
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").finish_non_exhaustive()
    }
}
