//! The provider that a configuration makes.

use std::marker::PhantomData;

use webhook_core::{
    Envelope, Handshake, Head, Identities, IdentityKind, InvalidEvent, Malformed, Provider, Signed,
    Signing, Spec, Verified, Wire,
};

use crate::config::Config;
use crate::error::ConfigError;
use crate::event;
use crate::places::Places;
use crate::scheme;

/// A configured provider. `K` is [`Signed`], or [`Relabelable`](webhook_core::Relabelable) where ids or types stand in
/// unsigned headers.
#[derive(Debug, Clone)]
pub struct Generic<K = Signed> {
    spec: Spec,
    wire: Wire,
    places: Places,
    kind: PhantomData<fn() -> K>,
}

/// Longest file that is read.
const MAX_FILE_BYTES: usize = 64 * 1024;

impl<K: IdentityKind> Generic<K> {
    /// Check a configuration that was made in code.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], which names the key as a file would have it.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self {
            wire: scheme::wire(config)?,
            spec: scheme::spec(config)?,
            places: Places::read(config, K::SIGNED)?,
            kind: PhantomData,
        })
    }

    /// Read and check a TOML document of at most 64 KiB. Its keys are explained [here](crate#keys).
    ///
    /// # Errors
    ///
    /// [`ConfigError`], which names the key and the line.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        if text.len() > MAX_FILE_BYTES {
            return Err(ConfigError::new("", "is longer than 64 KiB"));
        }
        let config: Config =
            toml::from_str(text).map_err(|fault| ConfigError::of_reader(&fault, text))?;
        Self::new(&config).map_err(|fault| fault.located(text))
    }
}

impl<K: IdentityKind> Provider for Generic<K> {
    type Identity = K;

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        self.wire.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        self.wire.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let volatile = self.spec.volatile_paths();
        let identity = event::identity(&self.places, volatile, verified)?;
        Ok([identity].into_iter().collect())
    }

    fn handshake(&self, verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
        event::handshake(&self.places, verified.body())
    }
}
