//! Signing keys of one endpoint or tenant: active and retiring, with ids and an end.

use std::fmt;
use std::sync::Arc;

use crate::bounds::{MAX_KEYS, MIN_SECRET_BYTES};
use crate::hex;
use crate::material::Material;
use crate::secret::Secret;
use crate::timestamp::Arrival;

/// How a provider's configured text becomes a key.
///
/// A text is read as one kind of key alone: no public key ever serves as an HMAC secret. Formats of public keys also take
/// the private half, as standard base64 of PKCS#8, for who signs: senders, tools and tests.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretFormat {
    /// Standard base64 with padding: the key is the bytes it decodes to.
    Base64 {
        /// A prefix that secrets usually carry and that is no part of the key, or `""`.
        prefix: &'static str,
    },
    /// An Ed25519 public key in 64 lower-case hex digits.
    #[cfg(feature = "public-keys")]
    Ed25519Hex,
    /// A public key on P-256: standard base64 of its `SubjectPublicKeyInfo`, uncompressed.
    #[cfg(feature = "public-keys")]
    P256Spki,
    /// An RSA public key of 2048 to 4096 bits: standard base64 of its `SubjectPublicKeyInfo`, or of an X.509 certificate,
    /// of which nothing but the key is looked at: whoever configures it vouches for it.
    #[cfg(feature = "public-keys")]
    RsaSpki,
    /// A key of Standard Webhooks: `whsec_` as [`SecretFormat::Base64`], or `whpk_` with an Ed25519 public key in base64, or
    /// `whsk_` with the private one: its seed, or seed and public key.
    #[cfg(feature = "public-keys")]
    StandardWebhooks,
    /// The whole text as UTF-8. A secret that is nothing but `prefix` is refused.
    Text {
        /// A prefix that secrets usually carry and that stays part of the key, or `""`.
        prefix: &'static str,
    },
}

/// One key as configured: secret text, perhaps an id, perhaps an end.
#[derive(Debug, Clone)]
pub struct KeyConfig {
    secret: Secret,
    id: Option<String>,
    retiring: bool,
    retire_at: Option<i64>,
}

/// The keys a delivery may be signed with. Never empty; prints no secret.
///
/// Verifying tries every live key, or only the one a candidate names. Signing uses the active one.
#[derive(Clone)]
pub struct Keyring {
    keys: Vec<Key>,
    principal: Option<Arc<str>>,
}

/// A key's public name. Of a secret, a keyed digest of a constant, which says nothing of it; of a public key, a digest.
///
/// The ledger's key registry and digest claims know keys by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyFingerprint([u8; 16]);

/// What may be told of a key: for logs, metrics and warnings.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its id, where it has one.
    pub id: Option<Arc<str>>,
    /// Its fingerprint.
    pub fingerprint: KeyFingerprint,
    /// Whether it only verifies.
    pub is_retiring: bool,
    /// When it is refused, in Unix seconds.
    pub retire_at: Option<i64>,
}

/// Why a keyring cannot be built. Names no secret; the caller adds the setting's name.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// A secret is blank, or nothing but its prefix.
    #[error("key {0} is empty")]
    Blank(usize),
    /// The first key is retiring.
    #[error("no key is active: the first one must not be retiring")]
    NoActive,
    /// No key can sign: all are public, or retiring.
    #[error("no active key can sign: a public key only verifies, configure the private one")]
    NoSigner,
    /// No key at all.
    #[error("no key is given")]
    Empty,
    /// A secret is not in the provider's encoding.
    #[error("key {0} is not standard base64 with padding")]
    Encoding(usize),
    /// The same id stands twice.
    #[error("key id of key {0} is used twice")]
    DuplicateId(usize),
    /// The same secret stands twice.
    #[error("key {0} is given twice")]
    DuplicateSecret(usize),
    /// A key id is not 1 to 64 of `A-Z a-z 0-9 . _ -`.
    #[error("id of key {0} is not 1 to 64 letters, digits, `.`, `_` or `-`")]
    Id(usize),
    /// A secret begins or ends with white space, or holds a control character.
    #[error("key {0} begins or ends with white space or holds a control character")]
    Malformed(usize),
    /// A secret is a published key: whoever can read it could sign.
    #[error("key {0} is a public key, where a secret is needed")]
    NotSecret(usize),
    /// A public or private key is not of the provider's kind, or weak.
    #[error("key {0} is not a public key of the provider's kind and spelling, nor its private one")]
    PublicKey(usize),
    /// A secret is shorter than [`MIN_SECRET_BYTES`].
    #[error("key {0} is shorter than {MIN_SECRET_BYTES} bytes")]
    Short(usize),
    /// More than [`MAX_KEYS`] keys.
    #[error("more than {MAX_KEYS} keys: every one of them costs a MAC over each request")]
    TooMany,
}

impl KeyringError {
    /// The key it is about, counted from 1; none where it is about the keyring as a whole.
    pub fn key(&self) -> Option<usize> {
        match *self {
            Self::Blank(key)
            | Self::Encoding(key)
            | Self::DuplicateId(key)
            | Self::DuplicateSecret(key)
            | Self::Id(key)
            | Self::Malformed(key)
            | Self::NotSecret(key)
            | Self::PublicKey(key)
            | Self::Short(key) => Some(key),
            Self::NoActive | Self::NoSigner | Self::Empty | Self::TooMany => None,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Key {
    id: Option<Arc<str>>,
    fingerprint: KeyFingerprint,
    is_retiring: bool,
    retire_at: Option<i64>,
    material: Material,
}

impl SecretFormat {
    /// What a configured text usually begins with, or `""`.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Base64 { prefix } | Self::Text { prefix } => prefix,
            #[cfg(feature = "public-keys")]
            Self::Ed25519Hex | Self::P256Spki | Self::RsaSpki => "",
            #[cfg(feature = "public-keys")]
            Self::StandardWebhooks => "whsec_",
        }
    }
}

impl KeyConfig {
    /// An active key.
    pub fn new(secret: impl Into<Secret>) -> Self {
        Self {
            secret: secret.into(),
            id: None,
            retiring: false,
            retire_at: None,
        }
    }

    /// Name the key, for grammars that carry key ids.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Verify with this key, never sign with it.
    #[must_use]
    pub fn retiring(mut self) -> Self {
        self.retiring = true;
        self
    }

    /// Refuse this key from `unix_secs` on, even under a fresh timestamp.
    #[must_use]
    pub fn retire_at(mut self, unix_secs: i64) -> Self {
        self.retiring = true;
        self.retire_at = Some(unix_secs);
        self
    }
}

impl Keyring {
    /// Build a keyring. The first key must be active; positions in errors count from 1.
    ///
    /// # Errors
    ///
    /// Everything in [`KeyringError`]: nothing doubtful is repaired.
    pub fn build(
        format: SecretFormat,
        configs: impl IntoIterator<Item = KeyConfig>,
    ) -> Result<Self, KeyringError> {
        let mut keys: Vec<Key> = Vec::new();
        for (position, config) in (1usize..).zip(configs) {
            if keys.len() == MAX_KEYS {
                return Err(KeyringError::TooMany);
            }
            if config.retiring && keys.is_empty() {
                return Err(KeyringError::NoActive);
            }
            let key = Key::build(format, config, position)?;
            for other in &keys {
                if other.fingerprint == key.fingerprint {
                    return Err(KeyringError::DuplicateSecret(position));
                }
                if key.id.is_some() && other.id == key.id {
                    return Err(KeyringError::DuplicateId(position));
                }
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err(KeyringError::Empty);
        }
        Ok(Self {
            keys,
            principal: None,
        })
    }

    /// Say whose keys these are. The tenant of every event they verify; an account in a body
    /// that names another is refused.
    #[must_use]
    pub fn principal(mut self, tenant: impl Into<Arc<str>>) -> Self {
        self.principal = Some(tenant.into());
        self
    }

    /// Fingerprints of all keys.
    pub fn fingerprints(&self) -> impl Iterator<Item = KeyFingerprint> {
        self.keys.iter().map(|key| key.fingerprint)
    }

    /// What may be told of its keys, the active one first.
    pub fn infos(&self) -> impl Iterator<Item = KeyInfo> {
        self.keys.iter().map(|key| KeyInfo {
            id: key.id.clone(),
            fingerprint: key.fingerprint,
            is_retiring: key.is_retiring,
            retire_at: key.retire_at,
        })
    }

    /// Whose keys these are, where [`Keyring::principal`] said so.
    pub fn tenant(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    /// How many keys are shorter than [`ADVISED_SECRET_BYTES`](crate::bounds::ADVISED_SECRET_BYTES), for a warning at start.
    pub fn short_keys(&self) -> usize {
        self.keys
            .iter()
            .filter(|key| key.material.is_short())
            .count()
    }

    /// Whether a key can sign: of keys that anybody may know, only one whose private half is configured.
    ///
    /// For whoever is going to sign, when he starts; [`Signing`](crate::Signing) makes no signature without.
    ///
    /// # Errors
    ///
    /// [`KeyringError::NoSigner`].
    pub fn ensure_signs(&self) -> Result<(), KeyringError> {
        self.signer().map(drop).ok_or(KeyringError::NoSigner)
    }

    pub(crate) fn owner(&self) -> Option<&Arc<str>> {
        self.principal.as_ref()
    }

    pub(crate) fn live(&self, now: Arrival) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(move |key| key.is_live(now))
    }

    /// The key of this name.
    pub(crate) fn by_fingerprint(&self, fingerprint: KeyFingerprint) -> Option<&Key> {
        let mut keys = self.keys.iter();
        keys.find(|key| key.fingerprint() == fingerprint)
    }

    /// The key that signs: the first active one that can.
    pub(crate) fn signer(&self) -> Option<&Key> {
        let mut active = self.keys.iter().filter(|key| !key.is_retiring);
        active.find(|key| key.material.signs())
    }
}

impl Key {
    fn build(
        format: SecretFormat,
        config: KeyConfig,
        position: usize,
    ) -> Result<Self, KeyringError> {
        let bytes = config.secret.expose();
        let text = std::str::from_utf8(bytes).map_err(|_| KeyringError::Malformed(position))?;
        if text.trim().is_empty() || text.trim() == format.prefix() {
            return Err(KeyringError::Blank(position));
        }
        if text != text.trim() || text.chars().any(char::is_control) {
            return Err(KeyringError::Malformed(position));
        }
        let material = Material::read(format, text, position)?;
        if config.id.as_deref().is_some_and(|id| !is_key_id(id)) {
            return Err(KeyringError::Id(position));
        }
        Ok(Self {
            id: config.id.map(Into::into),
            fingerprint: KeyFingerprint(material.fingerprint()),
            is_retiring: config.retiring,
            retire_at: config.retire_at,
            material,
        })
    }

    fn is_live(&self, now: Arrival) -> bool {
        self.retire_at.is_none_or(|end| now.unix_secs() < end)
    }

    pub(crate) fn id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }

    pub(crate) fn is_named(&self, id: &str) -> bool {
        self.id.as_deref() == Some(id)
    }

    pub(crate) fn fingerprint(&self) -> KeyFingerprint {
        self.fingerprint
    }

    pub(crate) fn is_retiring(&self) -> bool {
        self.is_retiring
    }

    pub(crate) fn material(&self) -> &Material {
        &self.material
    }
}

impl KeyInfo {
    /// Its id, or the first 8 digits of its fingerprint.
    pub fn name(&self) -> String {
        let digits = || hex::encode(&self.fingerprint.0).chars().take(8).collect();
        self.id.as_deref().map_or_else(digits, str::to_owned)
    }

    /// Whether it is refused at `unix_secs`.
    pub fn is_over(&self, unix_secs: i64) -> bool {
        self.retire_at.is_some_and(|end| end <= unix_secs)
    }
}

impl KeyFingerprint {
    /// From its stored bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes, as the ledger stores them.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for KeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyFingerprint({self})")
    }
}

impl fmt::Display for KeyFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .field("retire_at", &self.retire_at)
            .finish_non_exhaustive()
    }
}

/// 1 to 64 of `A-Z a-z 0-9 . _ -`, case-sensitive.
pub(crate) fn is_key_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: SecretFormat = SecretFormat::Text { prefix: "whsec_" };

    fn build<const N: usize>(secrets: [&str; N]) -> Result<Keyring, KeyringError> {
        Keyring::build(TEXT, secrets.map(KeyConfig::new))
    }

    #[test]
    fn doubtful_secrets_are_refused() {
        use KeyringError::{Blank, DuplicateSecret, Empty, Malformed, Short, TooMany};
        for (secrets, why) in [
            (&[][..], Empty),
            (&[""], Blank(1)),
            (&["   "], Blank(1)),
            (&["whsec_"], Blank(1)),
            (&["whsec_ "], Blank(1)),
            (&["0123456789abcdef\n"], Malformed(1)),
            (&[" 0123456789abcdef"], Malformed(1)),
            (&["01234567\089abcdef"], Malformed(1)),
            (&["1234567"], Short(1)),
            (&["0123456789abcdef", "", "fedcba9876543210"], Blank(2)),
            (
                &["0123456789abcdef", "0123456789abcdef"],
                DuplicateSecret(2),
            ),
            (
                &[
                    "aaaaaaaa1",
                    "aaaaaaaa2",
                    "aaaaaaaa3",
                    "aaaaaaaa4",
                    "aaaaaaaa5",
                ],
                TooMany,
            ),
        ] {
            let configs = secrets.iter().map(|secret| KeyConfig::new(*secret));
            assert_eq!(
                Keyring::build(TEXT, configs).unwrap_err(),
                why,
                "{secrets:?}"
            );
        }
    }

    #[test]
    fn base64_secrets_are_their_bytes() {
        use KeyringError::{Blank, DuplicateSecret, Encoding, Malformed, NotSecret, Short};
        let format = SecretFormat::Base64 { prefix: "whsec_" };
        let build = |secrets: &[&str]| {
            let keys = secrets.iter().map(|secret| KeyConfig::new(*secret));
            Keyring::build(format, keys)
        };
        let bytes = |secret: &str| {
            *build(&[secret])
                .unwrap()
                .fingerprints()
                .next()
                .unwrap()
                .as_bytes()
        };
        let text = Keyring::build(TEXT, [KeyConfig::new("0123456789abcdef01234567")]).unwrap();
        let key = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
        assert_eq!(bytes(key), *text.fingerprints().next().unwrap().as_bytes());
        assert_eq!(bytes(key), bytes("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"));
        for (secrets, why) in [
            (&["whsec_"][..], Blank(1)),
            (&[" whsec_MDEyMzQ1Njc4OWFiY2RlZg=="], Malformed(1)),
            (&["whsec_MDEyMzQ1Njc4OWFiY2RlZg"], Encoding(1)),
            (&["whsec_MDEyMzQ1Njc4OWFiY2RlZh=="], Encoding(1)),
            (&["whsec_MDEyMzQ1Njc4OWFiY2RlZ-=="], Encoding(1)),
            (
                &["whpk_4Cbo9IJmHtjSAskv9FkADoMsszmabhSr0sCdPf0AN8M="],
                NotSecret(1),
            ),
            (
                &["whsec_MCowBQYDK2VwAyEA4Cbo9IJmHtjSAskv9FkADoMsszmabhSr0sCdPf0AN8M="],
                NotSecret(1),
            ),
            (&["whsec_MDEyMzQ1Ng=="], Short(1)),
            (
                &[key, "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"],
                DuplicateSecret(2),
            ),
        ] {
            assert_eq!(build(secrets).unwrap_err(), why, "{secrets:?}");
        }
    }

    #[test]
    fn ids_are_checked_and_the_first_key_is_active() {
        let key = |id: &str, secret: &str| KeyConfig::new(secret).id(id);
        let twice = [key("a", "0123456789abcdef"), key("a", "fedcba9876543210")];
        assert_eq!(
            Keyring::build(TEXT, twice).unwrap_err(),
            KeyringError::DuplicateId(2)
        );
        for bad in ["", "a b", "é", &"x".repeat(65)] {
            let one = [key(bad, "0123456789abcdef")];
            assert_eq!(Keyring::build(TEXT, one).unwrap_err(), KeyringError::Id(1));
        }
        let retiring = [KeyConfig::new("0123456789abcdef").retiring()];
        assert_eq!(
            Keyring::build(TEXT, retiring).unwrap_err(),
            KeyringError::NoActive
        );
    }

    #[test]
    fn a_key_is_dead_from_its_end_on() {
        let ring = Keyring::build(
            TEXT,
            [
                KeyConfig::new("0123456789abcdef"),
                KeyConfig::new("fedcba9876543210").retire_at(100),
            ],
        )
        .unwrap();
        assert_eq!(ring.live(Arrival(99)).count(), 2);
        assert_eq!(ring.live(Arrival(100)).count(), 1);
    }

    #[test]
    fn what_is_told_of_keys() {
        let ring = Keyring::build(
            TEXT,
            [
                KeyConfig::new("0123456789abcdef").id("new"),
                KeyConfig::new("fedcba9876543210").retire_at(100),
            ],
        )
        .unwrap();
        let [new, old] = ring.infos().collect::<Vec<_>>().try_into().unwrap();
        assert!(!new.is_retiring && !new.is_over(i64::MAX));
        assert!(old.is_retiring && !old.is_over(99) && old.is_over(100));
        assert_eq!(new.name(), "new");
        assert_eq!(old.name(), old.fingerprint.to_string()[..8]);
    }

    #[test]
    fn debug_shows_no_secret() {
        let canary = "canary-canary-canary";
        let config = KeyConfig::new(canary).id("k1");
        assert!(!format!("{config:?}").contains("canary"));
        assert!(!format!("{:?}", build([canary]).unwrap()).contains("canary"));
    }
}
