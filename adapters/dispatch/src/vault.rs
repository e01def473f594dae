//! Customers' signing secrets at rest.
//!
//! Sealed with AES-256-GCM (NIST SP 800-38D) under a random nonce, bound to their endpoint and key id: a
//! sealed secret that is copied to another endpoint's row does not open there.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use webhook_core::outbox::{EndpointId, SealedSecret};
use zeroize::Zeroizing;

/// The keys that customers' secrets are sealed with. Cheap to clone; prints none of them.
///
/// The first seals, all open. To change the key, put the new one before the old, deploy everywhere,
/// call [`crate::Endpoints::rewrap`], and drop the old one.
#[derive(Clone)]
pub struct Vault(Arc<[VaultKey]>);

/// A 256-bit key and its public id.
pub struct VaultKey {
    id: String,
    key: RandomizedNonceKey,
}

/// Why keys make no vault.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// Two keys have one id.
    #[error("two vault keys have one id")]
    DuplicateId,
    /// No key at all.
    #[error("a vault needs a key")]
    Empty,
    /// An id is not 1 to 64 of `A-Z a-z 0-9 . _ -`.
    #[error("a vault key's id is not 1 to 64 letters, digits, `.`, `_` or `-`")]
    Id,
    /// A key is not 32 bytes, in base64 (RFC 4648 section 4).
    #[error("a vault key is not 32 bytes in base64")]
    Key,
}

/// Why a sealed secret does not open.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsealable {
    /// It was changed, is another endpoint's, or the key of that id is another one now.
    #[error("the secret does not open under vault key `{0}`")]
    Broken(String),
    /// The vault has no key of that id.
    #[error("the vault has no key `{0}`")]
    UnknownKey(String),
}

impl VaultKey {
    /// A key in base64, for example of `openssl rand -base64 32`.
    ///
    /// # Errors
    ///
    /// [`VaultError::Id`] and [`VaultError::Key`].
    pub fn from_base64(id: impl Into<String>, text: &str) -> Result<Self, VaultError> {
        let bytes = BASE64.decode(text.trim()).map_err(|_| VaultError::Key)?;
        Self::from_bytes(id, &Zeroizing::new(bytes))
    }

    /// A key of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`VaultError::Id`] and [`VaultError::Key`].
    pub fn from_bytes(id: impl Into<String>, bytes: &[u8]) -> Result<Self, VaultError> {
        let id = id.into();
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if !(1..=64).contains(&id.len()) || !id.bytes().all(is_plain) {
            return Err(VaultError::Id);
        }
        let key = RandomizedNonceKey::new(&AES_256_GCM, bytes).map_err(|_| VaultError::Key)?;
        Ok(Self { id, key })
    }
}

impl Vault {
    /// A vault of these keys, the one that seals first.
    ///
    /// # Errors
    ///
    /// [`VaultError::Empty`] and [`VaultError::DuplicateId`].
    pub fn new(keys: impl IntoIterator<Item = VaultKey>) -> Result<Self, VaultError> {
        let keys: Vec<VaultKey> = keys.into_iter().collect();
        if keys.is_empty() {
            return Err(VaultError::Empty);
        }
        let ids = keys.iter().map(|key| &*key.id);
        let mut ids: Vec<&str> = ids.collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(VaultError::DuplicateId);
        }
        Ok(Self(keys.into()))
    }

    /// Seal `secret`, the text that its endpoint signs with under `key_id`.
    #[expect(clippy::expect_used, reason = "fails for inputs of gigabytes alone")]
    pub(crate) fn seal(&self, endpoint: EndpointId, key_id: &str, secret: &[u8]) -> SealedSecret {
        let key = self.0.first().expect("a vault has a key");
        let mut sealed = secret.to_vec();
        let aad = Aad::from(bound_to(endpoint, key_id));
        let nonce = key
            .key
            .seal_in_place_append_tag(aad, &mut sealed)
            .expect("a secret is short");
        let sealed = [&[FORMAT][..], nonce.as_ref(), &sealed].concat();
        SealedSecret::new(key_id, &key.id, sealed)
    }

    /// Open what [`Vault::seal`] sealed.
    pub(crate) fn open(
        &self,
        endpoint: EndpointId,
        secret: &SealedSecret,
    ) -> Result<Zeroizing<Vec<u8>>, Unsealable> {
        let key = self.0.iter().find(|key| key.id == secret.sealed_by);
        let key = key.ok_or_else(|| Unsealable::UnknownKey(secret.sealed_by.clone()))?;
        let broken = || Unsealable::Broken(secret.sealed_by.clone());
        let (format, rest) = secret.sealed.split_first().ok_or_else(broken)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_BYTES).ok_or_else(broken)?;
        if *format != FORMAT {
            return Err(broken());
        }
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| broken())?;
        let mut opened = Zeroizing::new(sealed.to_vec());
        let aad = Aad::from(bound_to(endpoint, &secret.key_id));
        let text = key.key.open_in_place(nonce, aad, &mut opened);
        let length = text.map_err(|_| broken())?.len();
        opened.truncate(length);
        Ok(opened)
    }

    /// Whether `secret` is sealed with the key that seals now.
    pub(crate) fn is_current(&self, secret: &SealedSecret) -> bool {
        self.0.first().is_some_and(|key| key.id == secret.sealed_by)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|key| &key.id))
            .finish()
    }
}

impl fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultKey({})", self.id)
    }
}

fn bound_to(endpoint: EndpointId, key_id: &str) -> Vec<u8> {
    // The endpoint's id has one length, so that no two pairs meet.
    [PURPOSE, endpoint.as_bytes(), key_id.as_bytes()].concat()
}

const PURPOSE: &[u8] = b"webhook signing secret";
const FORMAT: u8 = 1;
const NONCE_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str, byte: u8) -> VaultKey {
        VaultKey::from_bytes(id, &[byte; 32]).unwrap()
    }

    fn vault(keys: impl IntoIterator<Item = VaultKey>) -> Vault {
        Vault::new(keys).unwrap()
    }

    fn opens(vault: &Vault, endpoint: EndpointId, secret: &SealedSecret) -> bool {
        vault.open(endpoint, secret).is_ok()
    }

    #[test]
    fn opens_where_it_was_sealed_and_nowhere_else() {
        let (here, there) = (EndpointId::generate(), EndpointId::generate());
        let ours = vault([key("a", 1)]);
        let sealed = ours.seal(here, "k1", b"whsec_secret");
        assert!(opens(&ours, here, &sealed));
        assert!(!opens(&ours, there, &sealed));
        let mut renamed = sealed.clone();
        renamed.key_id = "k2".to_owned();
        assert!(!opens(&ours, here, &renamed));
        assert!(!opens(&vault([key("a", 2)]), here, &sealed));
        let unknown = vault([key("b", 1)]).open(here, &sealed);
        assert_eq!(unknown.err(), Some(Unsealable::UnknownKey("a".to_owned())));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let endpoint = EndpointId::generate();
        let ours = vault([key("a", 1)]);
        let sealed = ours.seal(endpoint, "k", b"whsec_secret");
        for place in 0..sealed.sealed.len() {
            let mut changed = sealed.clone();
            changed.sealed[place] ^= 1;
            assert!(!opens(&ours, endpoint, &changed), "byte {place}");
            changed.sealed.truncate(place);
            assert!(!opens(&ours, endpoint, &changed), "cut at {place}");
        }
    }

    #[test]
    fn a_secret_is_never_sealed_to_the_same_bytes_twice_and_never_in_the_clear() {
        let endpoint = EndpointId::generate();
        let ours = vault([key("a", 1)]);
        let [a, b] = [(), ()].map(|()| ours.seal(endpoint, "k", b"whsec_secret").sealed);
        assert_ne!(a, b);
        assert!(!a.windows(6).any(|bytes| bytes == b"secret"));
        assert!(!format!("{:?} {ours:?}", key("a", 1)).contains("1, 1"));
    }

    #[test]
    fn the_first_key_seals_and_older_ones_open() {
        let endpoint = EndpointId::generate();
        let old = vault([key("old", 1)]).seal(endpoint, "k", b"whsec_secret");
        let both = vault([key("new", 2), key("old", 1)]);
        assert!(opens(&both, endpoint, &old));
        assert!(!both.is_current(&old));
        assert!(both.is_current(&both.seal(endpoint, "k", b"whsec_secret")));
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        let refused = |id: &str, text: &str| VaultKey::from_base64(id, text).err();
        let good = BASE64.encode([7; 32]);
        assert_eq!(refused("a", &good), None);
        assert_eq!(refused("", &good), Some(VaultError::Id));
        assert_eq!(refused("a b", &good), Some(VaultError::Id));
        assert_eq!(refused(&"a".repeat(65), &good), Some(VaultError::Id));
        for text in ["", "!", &BASE64.encode([7; 31]), &BASE64.encode([7; 33])] {
            assert_eq!(refused("a", text), Some(VaultError::Key), "{text}");
        }
        assert_eq!(Vault::new([]).err(), Some(VaultError::Empty));
        let twice = Vault::new([key("a", 1), key("a", 2)]);
        assert_eq!(twice.err(), Some(VaultError::DuplicateId));
    }
}
