//! Endpoints made ready to send to: parsed, unsealed and keyed once for each version of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderName, HeaderValue};
use webhook_core::outbox::{AttemptClass, Endpoint, EndpointId, SecretState};
use webhook_core::{KeyConfig, Keyring, Secret};

use crate::guard::Target;
use crate::scheme::{Scheme, Schemes};
use crate::vault::Vault;

/// An endpoint that can be sent to.
#[derive(Debug)]
pub(crate) struct Prepared {
    version: i64,
    pub(crate) target: Target,
    pub(crate) scheme: Scheme,
    pub(crate) keys: Keyring,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// Why an endpoint cannot be sent to. Says nothing of secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unprepared {
    #[error("its URL or headers cannot be read")]
    Malformed,
    #[error("none of its secrets signs")]
    NoSecret,
    #[error("its secrets make no keyring: {0}")]
    Keys(#[from] webhook_core::KeyringError),
    #[error("its scheme `{0}` is unknown")]
    Scheme(String),
    #[error(transparent)]
    Sealed(#[from] crate::vault::Unsealable),
}

/// Prepared endpoints, the newest version of each.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<HashMap<EndpointId, Arc<Prepared>>>);

impl Unprepared {
    pub(crate) fn class(&self) -> AttemptClass {
        match self {
            Self::Malformed => AttemptClass::Refused,
            _ => AttemptClass::Signing,
        }
    }
}

impl Prepared {
    pub(crate) fn new(
        endpoint: &Endpoint,
        vault: &Vault,
        schemes: &Schemes,
    ) -> Result<Self, Unprepared> {
        let target = Target::parse(&endpoint.url).map_err(|_| Unprepared::Malformed)?;
        let scheme = schemes
            .get(&endpoint.scheme)
            .ok_or_else(|| Unprepared::Scheme(endpoint.scheme.clone()))?;
        let mut configs = Vec::new();
        for secret in &endpoint.secrets {
            if secret.state == SecretState::Revoked {
                continue;
            }
            let text = vault.open(endpoint.id, secret)?;
            let config = KeyConfig::new(Secret::new(text.to_vec())).id(&secret.key_id);
            configs.push(match secret.state {
                SecretState::RetiresAt(end) => config.retire_at(end),
                _ => config,
            });
        }
        if configs.is_empty() {
            return Err(Unprepared::NoSecret);
        }
        let keys = Keyring::build(scheme.provider().spec().secret(), configs)?;
        keys.ensure_signs()?;
        let headers = endpoint
            .headers
            .iter()
            .map(|(name, value)| {
                let name = HeaderName::try_from(name).map_err(|_| Unprepared::Malformed)?;
                let value = HeaderValue::try_from(value).map_err(|_| Unprepared::Malformed)?;
                Ok((name, value))
            })
            .collect::<Result<_, Unprepared>>()?;
        Ok(Self {
            version: endpoint.version,
            target,
            scheme: scheme.clone(),
            keys,
            headers,
        })
    }
}

impl Cache {
    pub(crate) fn prepare(
        &self,
        endpoint: &Endpoint,
        vault: &Vault,
        schemes: &Schemes,
    ) -> Result<Arc<Prepared>, Unprepared> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = cache.get(&endpoint.id)
            && prepared.version == endpoint.version
        {
            return Ok(prepared.clone());
        }
        let prepared = Arc::new(Prepared::new(endpoint, vault, schemes)?);
        // Making one anew costs microseconds: forgetting all now and then is simple and cheap.
        if cache.len() >= MOST_PREPARED {
            cache.clear();
        }
        cache.insert(endpoint.id, prepared.clone());
        Ok(prepared)
    }
}

const MOST_PREPARED: usize = 10_000;
