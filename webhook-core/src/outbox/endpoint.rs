//! Where events are sent to.

use std::fmt;
use std::sync::Arc;

use super::event::is_name;
use super::filter::Filter;
use crate::hex;

/// An endpoint's id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointId([u8; 16]);

/// An endpoint that a tenant registered.
///
/// The store compares and sets it as a whole, by `version`. `Debug` shows neither URL nor headers: they
/// are often secrets.
#[derive(Clone)]
#[non_exhaustive]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Grows with each change; 0 until it is stored.
    pub version: i64,
    /// Whose it is.
    pub tenant: Arc<str>,
    /// Where to. Judged when it is registered, and again at each connect.
    pub url: String,
    /// Which events it wants.
    pub filter: Filter,
    /// The name of the signature scheme, for example `standard`.
    pub scheme: String,
    /// Headers that go along. None of them may take the place of ours.
    pub headers: Vec<(String, String)>,
    /// Whether it is sent to.
    pub state: EndpointState,
    /// How much it takes at once.
    pub limits: Limits,
    /// Whether deliveries of one order key are attempted one at a time, in order.
    pub is_ordered: bool,
    /// Its signing secrets, sealed. At most [`crate::bounds::MAX_KEYS`] live ones.
    pub secrets: Vec<SealedSecret>,
}

/// Whether an endpoint is sent to.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointState {
    /// Nothing is sent, what waits is dead, and the id never comes back.
    Deleted,
    /// Nothing new is fanned out to it, and nothing is sent. Says why.
    Disabled(String),
    /// It is sent to.
    Enabled,
    /// Events are fanned out to it and wait.
    Paused,
}

/// How much an endpoint takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Attempts under way at a time, over all processes. Default: 4.
    pub in_flight: u32,
    /// Attempts begun a second, by each process. Default: no limit.
    pub per_second: Option<u32>,
}

/// A signing secret as the store keeps it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealedSecret {
    /// Its public id, for grammars that carry one and for whoever retires it.
    pub key_id: String,
    /// What it may be used for.
    pub state: SecretState,
    /// The id of the key that sealed it.
    pub sealed_by: String,
    /// Ciphertext, with all that is needed to open it but the key.
    pub sealed: Vec<u8>,
}

/// What a signing secret may be used for.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretState {
    /// Signs.
    Live,
    /// Signs, beside a newer one, until this Unix second: receivers have until then to change.
    RetiresAt(i64),
    /// Never signs again: it is known to somebody who should not know it.
    Revoked,
}

/// Why an endpoint cannot be stored.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEndpoint {
    /// `in_flight` is not 1 to 1000, or `per_second` is 0.
    #[error("limits are not 1 to 1000 attempts under way, at least 1 a second")]
    Limits,
    /// The tenant is empty, longer than 255 bytes or holds a control character.
    #[error("tenant is not 1 to 255 bytes without control characters")]
    Tenant,
}

impl EndpointId {
    /// A new id.
    pub fn generate() -> Self {
        Self(*uuid::Uuid::now_v7().as_bytes())
    }

    /// From its stored bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// From its text, as [`fmt::Display`] writes it.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("ep_")?;
        if hex.len() != 32 || hex.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let id = uuid::Uuid::try_parse(hex).ok()?;
        Some(Self(*id.as_bytes()))
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl Endpoint {
    /// A new, enabled endpoint of `tenant`, that nothing has been checked of but its tenant: the
    /// dispatcher judges URL, headers and scheme.
    ///
    /// # Errors
    ///
    /// [`InvalidEndpoint::Tenant`].
    pub fn new(
        tenant: impl AsRef<str>,
        url: impl Into<String>,
        filter: Filter,
        scheme: impl Into<String>,
    ) -> Result<Self, InvalidEndpoint> {
        let tenant = tenant.as_ref();
        if !is_name(tenant) {
            return Err(InvalidEndpoint::Tenant);
        }
        Ok(Self {
            id: EndpointId::generate(),
            version: 0,
            tenant: tenant.into(),
            url: url.into(),
            filter,
            scheme: scheme.into(),
            headers: Vec::new(),
            state: EndpointState::Enabled,
            limits: Limits::default(),
            is_ordered: false,
            secrets: Vec::new(),
        })
    }
}

impl Limits {
    /// At most `in_flight` attempts under way, and so many begun a second.
    ///
    /// # Errors
    ///
    /// [`InvalidEndpoint::Limits`].
    pub fn new(in_flight: u32, per_second: Option<u32>) -> Result<Self, InvalidEndpoint> {
        if !(1..=1000).contains(&in_flight) || per_second == Some(0) {
            return Err(InvalidEndpoint::Limits);
        }
        Ok(Self {
            in_flight,
            per_second,
        })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 4,
            per_second: None,
        }
    }
}

impl SealedSecret {
    /// A live secret.
    pub fn new(
        key_id: impl Into<String>,
        sealed_by: impl Into<String>,
        sealed: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            key_id: key_id.into(),
            state: SecretState::Live,
            sealed_by: sealed_by.into(),
            sealed: sealed.into(),
        }
    }

    /// The same in another state.
    #[must_use]
    pub fn in_state(mut self, state: SecretState) -> Self {
        self.state = state;
        self
    }

    /// Whether it signs at this Unix second.
    pub fn signs_at(&self, unix_secs: i64) -> bool {
        match self.state {
            SecretState::Live => true,
            SecretState::RetiresAt(end) => unix_secs < end,
            SecretState::Revoked => false,
        }
    }
}

impl EndpointState {
    /// For stores: its name, and why.
    pub fn stored(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Deleted => ("deleted", None),
            Self::Disabled(reason) => ("disabled", Some(reason)),
            Self::Enabled => ("enabled", None),
            Self::Paused => ("paused", None),
        }
    }

    /// For stores: from its name, and why.
    pub fn from_stored(name: &str, reason: Option<String>) -> Option<Self> {
        Some(match name {
            "deleted" => Self::Deleted,
            "disabled" => Self::Disabled(reason.unwrap_or_default()),
            "enabled" => Self::Enabled,
            "paused" => Self::Paused,
            _ => return None,
        })
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("id", &self.id)
            .field("version", &self.version)
            .field("tenant", &self.tenant)
            .field("filter", &self.filter)
            .field("scheme", &self.scheme)
            .field("state", &self.state)
            .field("limits", &self.limits)
            .field("is_ordered", &self.is_ordered)
            .field("secrets", &self.secrets)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ep_{}", hex::encode(&self.0))
    }
}

impl fmt::Debug for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndpointId({self})")
    }
}

impl fmt::Debug for SealedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedSecret")
            .field("key_id", &self.key_id)
            .field("state", &self.state)
            .field("sealed_by", &self.sealed_by)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = EndpointId::generate();
        assert_eq!(EndpointId::parse(&id.to_string()), Some(id));
        for text in [
            "",
            "ep_",
            "ep_00",
            &id.to_string().to_uppercase(),
            &format!("{id}0"),
        ] {
            assert_eq!(EndpointId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_secret_signs_until_it_retires_and_never_once_revoked() {
        let secret = SealedSecret::new("k", "w", [0]);
        assert!(secret.signs_at(i64::MAX));
        let retiring = secret.clone().in_state(SecretState::RetiresAt(100));
        assert!(retiring.signs_at(99));
        assert!(!retiring.signs_at(100));
        assert!(!secret.in_state(SecretState::Revoked).signs_at(0));
    }
}
