//! Endpoints as applications manage them: checked when they are saved, secrets shown once.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderName, HeaderValue};
use webhook_core::bounds::MAX_KEYS;
use webhook_core::ledger::LedgerError;
use webhook_core::outbox::{
    Endpoint, EndpointId, EndpointState, Event, EventId, Filter, Health, InvalidEndpoint,
    InvalidEvent, Limits, Outbox, Put, SecretState,
};
use webhook_core::{Clock, KeyConfig, Keyring, KeyringError};
use zeroize::Zeroizing;

use crate::guard::{GuardedClient, GuardedRequest, Refused, SendError, Target, TargetFault};
use crate::scheme::{STANDARD, Schemes};
use crate::vault::{Unsealable, Vault};

/// The endpoints of an outbox. Cheap to clone.
///
/// Every change is compared and set: of two at once one is made on top of the other.
#[derive(Debug, Clone)]
pub struct Endpoints<O> {
    outbox: O,
    vault: Vault,
    client: GuardedClient,
    schemes: Schemes,
    clock: Arc<dyn Clock>,
}

/// An endpoint to be registered. `Debug` shows neither URL, headers nor secret.
#[derive(Clone)]
#[must_use]
pub struct NewEndpoint {
    tenant: String,
    url: String,
    filter: Filter,
    scheme: String,
    headers: Vec<(String, String)>,
    limits: Limits,
    is_ordered: bool,
    secret: Option<Zeroizing<String>>,
}

/// A signing secret, to be shown to its owner once. Prints as `NewSecret(..)`; zeroised when dropped.
#[derive(Clone)]
pub struct NewSecret {
    key_id: String,
    text: Zeroizing<String>,
}

/// Why an endpoint is not saved. For operators: to a tenant, what the policy refuses, what has no
/// address and what times out must look alike.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// It was changed by others again and again.
    #[error("the endpoint was changed by others at the same time")]
    Contended,
    /// A header cannot be sent, or is the signature's own.
    #[error("header {0} cannot be set")]
    Header(usize),
    /// Limits or tenant are out of bounds.
    #[error(transparent)]
    Invalid(#[from] InvalidEndpoint),
    /// The secret is not one of its scheme's.
    #[error("the secret cannot be used")]
    Keys(#[from] KeyringError),
    /// It would be left without a secret that signs.
    #[error("the endpoint would have no secret left that signs")]
    LastSecret,
    /// It is paused or disabled.
    #[error("the endpoint is not enabled")]
    NotEnabled,
    /// The policy forbids its URL.
    #[error("the policy refuses the URL")]
    Refused(#[from] Refused),
    /// The event cannot be sent.
    #[error(transparent)]
    Event(#[from] InvalidEvent),
    /// There is no such scheme.
    #[error("no signature scheme has that name")]
    Scheme,
    /// A secret does not open.
    #[error(transparent)]
    Sealed(#[from] Unsealable),
    /// The store's.
    #[error("the endpoint could not be stored")]
    Store(#[from] LedgerError),
    /// As many secrets sign as can.
    #[error("{MAX_KEYS} secrets sign already: retire one")]
    TooManySecrets,
    /// There is no such endpoint, or it has no such key.
    #[error("no such endpoint or key")]
    Unknown,
    /// Its host cannot be resolved.
    #[error("the URL's host cannot be resolved")]
    Unresolved(#[source] SendError),
    /// Its URL is none that a request can be made of.
    #[error("the URL cannot be used")]
    Url(#[from] TargetFault),
}

impl NewEndpoint {
    /// An endpoint of `tenant` at `url`, for events that match `filter`; signed by Standard Webhooks.
    pub fn new(tenant: impl Into<String>, url: impl Into<String>, filter: Filter) -> Self {
        Self {
            tenant: tenant.into(),
            url: url.into(),
            filter,
            scheme: STANDARD.to_owned(),
            headers: Vec::new(),
            limits: Limits::default(),
            is_ordered: false,
            secret: None,
        }
    }

    /// Sign by this scheme. See [`Schemes`].
    pub fn scheme(mut self, name: impl Into<String>) -> Self {
        self.scheme = name.into();
        self
    }

    /// Send this header along. Refused are those of the connection, of the signature, and
    /// `content-type`. Headers are stored as they are: no place for secrets.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// How much it takes at once.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Attempt deliveries of one order key one at a time, in order: one that fails holds up those behind it
    /// until it arrives or is dead.
    pub fn ordered(mut self) -> Self {
        self.is_ordered = true;
        self
    }

    /// Sign with this secret, which its owner has already, instead of a new one.
    pub fn secret(mut self, text: impl Into<String>) -> Self {
        self.secret = Some(Zeroizing::new(text.into()));
        self
    }
}

impl NewSecret {
    /// Its public id.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The secret. Show it to its owner; it is never shown again.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    fn generate() -> Self {
        let bytes = Zeroizing::new(rand::random::<[u8; 32]>());
        Self::of(Zeroizing::new(format!("whsec_{}", BASE64.encode(*bytes))))
    }

    fn of(text: Zeroizing<String>) -> Self {
        Self {
            key_id: format!("k{:08x}", rand::random::<u32>()),
            text,
        }
    }
}

impl<O: Outbox> Endpoints<O> {
    pub(crate) fn new(
        outbox: O,
        vault: Vault,
        client: GuardedClient,
        schemes: Schemes,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            outbox,
            vault,
            client,
            schemes,
            clock,
        }
    }

    /// Register an endpoint. Its URL is judged as a delivery would be, up to the connection.
    ///
    /// # Errors
    ///
    /// [`EndpointError`] for everything that could not be sent to.
    pub async fn register(
        &self,
        new: NewEndpoint,
    ) -> Result<(EndpointId, NewSecret), EndpointError> {
        self.judge(&new.url).await?;
        self.check_headers(&new.headers, &new.scheme)?;
        let mut endpoint = Endpoint::new(&new.tenant, new.url, new.filter, new.scheme)?;
        endpoint.limits = new.limits;
        endpoint.headers = new.headers;
        endpoint.is_ordered = new.is_ordered;
        let secret = new.secret.map_or_else(NewSecret::generate, NewSecret::of);
        self.add_secret(&mut endpoint, &secret)?;
        match self.outbox.put(endpoint.clone()).await? {
            Put::Stored(_) => Ok((endpoint.id, secret)),
            _ => Err(EndpointError::Contended),
        }
    }

    /// One endpoint and how it fares.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn get(&self, id: EndpointId) -> Result<(Endpoint, Health), EndpointError> {
        let found = self.outbox.endpoint(id).await?;
        found.ok_or(EndpointError::Unknown)
    }

    /// The endpoints of a tenant, at most `limit`, after the last of the page before.
    ///
    /// # Errors
    ///
    /// The store's.
    pub async fn of_tenant(
        &self,
        tenant: &str,
        after: Option<EndpointId>,
        limit: u32,
    ) -> Result<Vec<(Endpoint, Health)>, EndpointError> {
        Ok(self.outbox.endpoints(Some(tenant), after, limit).await?)
    }

    /// Send to another URL from the next attempt on.
    ///
    /// # Errors
    ///
    /// As [`Endpoints::register`]; [`EndpointError::Unknown`].
    pub async fn set_url(
        &self,
        id: EndpointId,
        url: impl Into<String>,
    ) -> Result<(), EndpointError> {
        let url = url.into();
        self.judge(&url).await?;
        self.change(id, |endpoint| {
            endpoint.url.clone_from(&url);
            Ok(())
        })
        .await
    }

    /// Fan out other events to it from now on.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn set_filter(&self, id: EndpointId, filter: Filter) -> Result<(), EndpointError> {
        self.change(id, |endpoint| {
            endpoint.filter = filter.clone();
            Ok(())
        })
        .await
    }

    /// Send other headers along.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Header`], [`EndpointError::Unknown`], and the store's.
    pub async fn set_headers(
        &self,
        id: EndpointId,
        headers: Vec<(String, String)>,
    ) -> Result<(), EndpointError> {
        self.change(id, |endpoint| {
            self.check_headers(&headers, &endpoint.scheme)?;
            endpoint.headers.clone_from(&headers);
            Ok(())
        })
        .await
    }

    /// Change how much it takes at once.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn set_limits(&self, id: EndpointId, limits: Limits) -> Result<(), EndpointError> {
        self.change(id, |endpoint| {
            endpoint.limits = limits;
            Ok(())
        })
        .await
    }

    /// Send to it: also what waited while it was paused. It starts with a clean record.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn enable(&self, id: EndpointId) -> Result<(), EndpointError> {
        self.set_state(id, EndpointState::Enabled).await
    }

    /// Send nothing for now; what is fanned out waits.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn pause(&self, id: EndpointId) -> Result<(), EndpointError> {
        self.set_state(id, EndpointState::Paused).await
    }

    /// Send nothing and fan nothing out to it, and say why.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn disable(
        &self,
        id: EndpointId,
        reason: impl Into<String>,
    ) -> Result<(), EndpointError> {
        self.set_state(id, EndpointState::Disabled(reason.into()))
            .await
    }

    /// Send this endpoint, and no other, the event `webhook.test`, whatever its filter: for the owner who
    /// wants to see that it works. It is signed, attempted and logged as any other. The event's id, by which
    /// its delivery is found.
    ///
    /// # Errors
    ///
    /// [`EndpointError::NotEnabled`], [`EndpointError::Unknown`], and the store's.
    pub async fn test(&self, id: EndpointId) -> Result<EventId, EndpointError> {
        let (endpoint, _) = self.get(id).await?;
        let payload = format!(r#"{{"type":"{TEST}","data":{{"endpoint":"{id}"}}}}"#);
        let event = Event::new(&*endpoint.tenant, TEST, payload)?;
        let event_id = event.id().clone();
        if self.outbox.send_to(id, event).await? {
            Ok(event_id)
        } else if endpoint.state == EndpointState::Deleted {
            Err(EndpointError::Unknown)
        } else {
            Err(EndpointError::NotEnabled)
        }
    }

    /// Forget its secrets and never send to it again. What waits for it is dead.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn delete(&self, id: EndpointId) -> Result<(), EndpointError> {
        self.set_state(id, EndpointState::Deleted).await
    }

    /// Sign with a new secret from now on, and for `overlap` with the others too: receivers have so long to
    /// change.
    ///
    /// # Errors
    ///
    /// [`EndpointError::TooManySecrets`], [`EndpointError::Unknown`], and the store's.
    pub async fn rotate(
        &self,
        id: EndpointId,
        overlap: Duration,
    ) -> Result<NewSecret, EndpointError> {
        let secret = NewSecret::generate();
        self.change(id, |endpoint| {
            let now = self.clock.unix_secs();
            let overlap = i64::try_from(overlap.as_secs()).unwrap_or(i64::MAX);
            endpoint
                .secrets
                .retain(|secret| secret.signs_at(now) || secret.state == SecretState::Revoked);
            for secret in &mut endpoint.secrets {
                if secret.state == SecretState::Live {
                    secret.state = SecretState::RetiresAt(now.saturating_add(overlap));
                }
            }
            self.add_secret(endpoint, &secret)
        })
        .await?;
        Ok(secret)
    }

    /// Never sign with this secret again, from this moment on, overlap or not: somebody knows it who should
    /// not. It is destroyed. Attempts under way may still bear its signature.
    ///
    /// # Errors
    ///
    /// [`EndpointError::LastSecret`] if it is the only one that signs: [`Endpoints::rotate`] first.
    /// [`EndpointError::Unknown`], and the store's.
    pub async fn revoke(&self, id: EndpointId, key_id: &str) -> Result<(), EndpointError> {
        self.change(id, |endpoint| {
            let mut secrets = endpoint.secrets.iter_mut();
            let secret = secrets.find(|secret| secret.key_id == key_id);
            let secret = secret.ok_or(EndpointError::Unknown)?;
            secret.state = SecretState::Revoked;
            secret.sealed.clear();
            let is_live = |state| state == SecretState::Live;
            if endpoint.secrets.iter().any(|secret| is_live(secret.state)) {
                Ok(())
            } else {
                Err(EndpointError::LastSecret)
            }
        })
        .await
    }

    /// Seal every secret with the vault's first key. How many endpoints were changed. Safe beside everything
    /// else, and to be called again after an error.
    ///
    /// # Errors
    ///
    /// [`EndpointError::Sealed`] for a secret that does not open, and the store's.
    pub async fn rewrap(&self) -> Result<u64, EndpointError> {
        let (mut after, mut rewrapped) = (None, 0u64);
        loop {
            let page = self.outbox.endpoints(None, after, PAGE).await?;
            let Some((last, _)) = page.last() else {
                return Ok(rewrapped);
            };
            after = Some(last.id);
            for (endpoint, _) in page {
                let is_old = |secret: &_| !self.vault.is_current(secret);
                let mut sealed = endpoint.secrets.iter();
                if !sealed.any(|secret| secret.state != SecretState::Revoked && is_old(secret)) {
                    continue;
                }
                self.change(endpoint.id, |endpoint| self.reseal(endpoint))
                    .await?;
                rewrapped = rewrapped.saturating_add(1);
            }
        }
    }

    fn reseal(&self, endpoint: &mut Endpoint) -> Result<(), EndpointError> {
        for secret in &mut endpoint.secrets {
            if secret.state != SecretState::Revoked && !self.vault.is_current(secret) {
                let state = secret.state;
                let text = self.vault.open(endpoint.id, secret)?;
                let sealed = self.vault.seal(endpoint.id, &secret.key_id, &text);
                *secret = sealed.in_state(state);
            }
        }
        Ok(())
    }

    async fn set_state(&self, id: EndpointId, state: EndpointState) -> Result<(), EndpointError> {
        self.change(id, |endpoint| {
            endpoint.state = state.clone();
            Ok(())
        })
        .await
    }

    async fn change(
        &self,
        id: EndpointId,
        edit: impl Fn(&mut Endpoint) -> Result<(), EndpointError>,
    ) -> Result<(), EndpointError> {
        for _ in 0..ROUNDS {
            let (mut endpoint, _) = self.get(id).await?;
            if endpoint.state == EndpointState::Deleted {
                return Err(EndpointError::Unknown);
            }
            edit(&mut endpoint)?;
            if let Put::Stored(_) = self.outbox.put(endpoint).await? {
                return Ok(());
            }
        }
        Err(EndpointError::Contended)
    }

    async fn judge(&self, url: &str) -> Result<(), EndpointError> {
        match self.client.preflight(&Target::parse(url)?).await {
            Ok(()) => Ok(()),
            Err(SendError::Refused(refused)) => Err(refused.into()),
            Err(error) => Err(EndpointError::Unresolved(error)),
        }
    }

    /// No header may take the place of one of ours.
    fn check_headers(
        &self,
        headers: &[(String, String)],
        scheme: &str,
    ) -> Result<(), EndpointError> {
        let scheme = self.schemes.get(scheme).ok_or(EndpointError::Scheme)?;
        let target = Target::parse("https://example.com/")?;
        for (position, (name, value)) in (1usize..).zip(headers) {
            let refused = || EndpointError::Header(position);
            let name = HeaderName::try_from(name).map_err(|_| refused())?;
            let value = HeaderValue::try_from(value).map_err(|_| refused())?;
            let is_ours = name == http::header::CONTENT_TYPE || scheme.writes(&name);
            let request = GuardedRequest::post(target.clone(), "").header(name, value);
            if is_ours || request.is_err() || position > MOST_HEADERS {
                return Err(refused());
            }
        }
        Ok(())
    }

    /// Put `secret` first, if it is one of the endpoint's scheme.
    fn add_secret(&self, endpoint: &mut Endpoint, secret: &NewSecret) -> Result<(), EndpointError> {
        let now = self.clock.unix_secs();
        let signing = endpoint.secrets.iter();
        let signing = signing.filter(|secret| secret.signs_at(now)).count();
        if signing >= MAX_KEYS {
            return Err(EndpointError::TooManySecrets);
        }
        let scheme = self.schemes.get(&endpoint.scheme);
        let scheme = scheme.ok_or(EndpointError::Scheme)?;
        let config = KeyConfig::new(secret.reveal()).id(&secret.key_id);
        // A public key verifies and signs nothing.
        Keyring::build(scheme.provider().spec().secret(), [config])?.ensure_signs()?;
        let sealed = self
            .vault
            .seal(endpoint.id, &secret.key_id, secret.text.as_bytes());
        endpoint.secrets.insert(0, sealed);
        let mut revoked = 0usize;
        endpoint.secrets.retain(|secret| {
            revoked = revoked.saturating_add(usize::from(secret.state == SecretState::Revoked));
            secret.state != SecretState::Revoked || revoked <= MOST_REVOKED
        });
        Ok(())
    }
}

impl fmt::Debug for NewEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewEndpoint")
            .field("tenant", &self.tenant)
            .field("filter", &self.filter)
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for NewSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewSecret(..)")
    }
}

/// The type of an event that only tests an endpoint.
const TEST: &str = "webhook.test";
const PAGE: u32 = 100;
const ROUNDS: usize = 5;
/// Of those that are revoked the newest are kept, to be shown; the secrets themselves are gone.
const MOST_REVOKED: usize = 8;
const MOST_HEADERS: usize = 16;
