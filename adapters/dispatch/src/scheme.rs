//! How deliveries are signed, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderMap, HeaderName, HeaderValue};
use webhook_core::{DynProvider, EventId, KeyConfig, Keyring, Provider, SecretFormat, Signing};
use webhook_github::GitHub;
use webhook_standard::Standard;
use webhook_timestamped::Timestamped;

/// A way to sign deliveries: a provider's wire format, read backwards.
#[derive(Debug, Clone)]
pub struct Scheme {
    provider: Arc<dyn DynProvider>,
    /// Where id and type stand, if the signature's headers do not name them.
    id_header: Option<HeaderName>,
    type_header: Option<HeaderName>,
    /// What the provider writes.
    signature_headers: Vec<HeaderName>,
}

/// The schemes that endpoints may ask for.
///
/// | name | signs | headers |
/// |---|---|---|
/// | `standard` | `id.timestamp.body` under `whsec_` secrets: Standard Webhooks | `webhook-id`, `webhook-timestamp`, `webhook-signature` |
/// | `timestamped` | `timestamp.body` under named keys | `x-webhook-timestamp`, `x-webhook-signature`, `webhook-id` |
/// | `github` | the body alone, as GitHub does: captured requests stay valid as long as their key | `x-hub-signature-256`, `x-github-delivery`, `x-github-event` |
#[derive(Clone)]
pub struct Schemes(BTreeMap<String, Scheme>);

impl Scheme {
    /// Sign as `provider`'s events are signed.
    pub fn of(provider: impl Provider) -> Self {
        Self {
            signature_headers: signature_headers(&provider),
            provider: Arc::new(provider),
            id_header: None,
            type_header: None,
        }
    }

    /// Carry the event's id in this header too.
    #[must_use]
    pub fn id_header(mut self, name: HeaderName) -> Self {
        self.id_header = Some(name);
        self
    }

    /// Carry the event's type in this header too.
    #[must_use]
    pub fn type_header(mut self, name: HeaderName) -> Self {
        self.type_header = Some(name);
        self
    }

    /// Whether a header of this name is the signature's, or looks as if it were.
    pub(crate) fn writes(&self, name: &HeaderName) -> bool {
        let is_like = |prefix: &&str| name.as_str().starts_with(*prefix);
        SIGNATURES.iter().any(is_like)
            || self.signature_headers.contains(name)
            || self.id_header.as_ref() == Some(name)
            || self.type_header.as_ref() == Some(name)
    }

    pub(crate) fn provider(&self) -> &dyn DynProvider {
        &*self.provider
    }

    /// The headers of one attempt, signed with every live key.
    pub(crate) fn sign(
        &self,
        keys: &Keyring,
        id: &str,
        event_type: &str,
        body: &[u8],
        unix_secs: i64,
    ) -> HeaderMap {
        let mut signing = Signing::new(keys, body, unix_secs).with_every_key();
        // Its grammar is wider than that of ids of the outbox.
        if let Ok(id) = EventId::new(id) {
            signing = signing.id(id);
        }
        let mut headers = HeaderMap::new();
        let mut add = |name: HeaderName, value: &str| {
            // Ids, types and signatures are all visible ASCII.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.append(name, value);
            }
        };
        for (name, value) in self.provider.sign(&signing) {
            if let Ok(name) = HeaderName::try_from(name) {
                add(name, &value);
            }
        }
        if let Some(name) = &self.id_header {
            add(name.clone(), id);
        }
        if let Some(name) = &self.type_header {
            add(name.clone(), event_type);
        }
        headers
    }
}

impl Schemes {
    /// Add a scheme, or replace the one of that name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, scheme: Scheme) -> Self {
        self.0.insert(name.into(), scheme);
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Scheme> {
        self.0.get(name)
    }
}

impl Default for Schemes {
    fn default() -> Self {
        let github = Scheme::of(GitHub)
            .id_header(HeaderName::from_static("x-github-delivery"))
            .type_header(HeaderName::from_static("x-github-event"));
        let timestamped = Scheme::of(Timestamped).id_header(HeaderName::from_static("webhook-id"));
        Self(BTreeMap::new())
            .with("github", github)
            .with(STANDARD, Scheme::of(Standard::new()))
            .with("timestamped", timestamped)
    }
}

impl fmt::Debug for Schemes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The names that `provider` writes: those of a signature by a key that nobody has.
fn signature_headers(provider: &impl Provider) -> Vec<HeaderName> {
    let format = provider.spec().secret();
    let prefix = match format {
        SecretFormat::Base64 { prefix } | SecretFormat::Text { prefix } => prefix,
        _ => "",
    };
    let secret = format!("{prefix}{}", BASE64.encode([0; 32]));
    let keys = Keyring::build(format, [KeyConfig::new(secret)]);
    let signed = keys.map(|keys| provider.sign(&Signing::new(&keys, b"{}", 0)));
    let names = signed.into_iter().flatten();
    names
        .filter_map(|(name, _)| HeaderName::try_from(name).ok())
        .collect()
}

/// What receivers may read a signature from, under any scheme.
const SIGNATURES: [&str; 5] = ["svix-", "webhook-", "x-github-", "x-hub-", "x-webhook-"];

/// The scheme of endpoints that ask for none.
pub const STANDARD: &str = "standard";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scheme_writes_is_its_own() {
        let schemes = Schemes::default();
        for (scheme, name) in [
            ("github", "x-hub-signature-256"),
            ("standard", "webhook-signature"),
            ("timestamped", "x-webhook-signature"),
        ] {
            let scheme = schemes.get(scheme).unwrap();
            let name = HeaderName::from_static(name);
            assert!(scheme.signature_headers.contains(&name), "{name}");
            assert!(scheme.writes(&name));
            assert!(!scheme.writes(&HeaderName::from_static("x-shop")));
        }
    }
}
