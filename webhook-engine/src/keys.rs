//! Where an endpoint's keys come from: literals, environment, mounted files, or a source of tenants.
//!
//! | module | is |
//! | --- | --- |
//! | `part` | one setting read into key configurations |
//! | `listed` | the keyring in use, and what a change of its files must go through |
//! | `reload` | rounds over all endpoints: files read again, keys past their end reported |
//! | `lookup` | a source behind a bounded cache, `lookups` its bounds |
//! | `recent` | a map that forgets what was not asked for lately |

use std::path::PathBuf;
use std::sync::Arc;

use webhook_core::{KeyConfig, KeySource, Keyring, KeyringError, SecretFormat};

mod listed;
mod lookup;
mod lookups;
mod part;
mod recent;
mod reload;

pub use lookups::Lookups;

pub(crate) use listed::Listed;
pub(crate) use lookup::Lookup;
pub(crate) use reload::{Reload, keep_up, registration, reload, warn_of_short_keys};

use part::{Form, Part};

/// The keys of an endpoint, named by the setting they come from.
///
/// The first key signs and verifies, the others only verify. Variables are read once, by `build()`: nobody
/// can change the environment of a running process. Files are read again every two seconds; see
/// [`Keys::file`].
#[derive(Debug, Clone)]
pub struct Keys(Origin);

#[derive(Debug, Clone)]
enum Origin {
    Listed(Listing),
    Source {
        source: Arc<dyn KeySource>,
        header: Option<String>,
        lookups: Lookups,
    },
    /// Something was asked of one kind that only the other can do.
    Misused(&'static str),
}

/// Settings that together are one keyring.
#[derive(Debug, Clone)]
struct Listing {
    parts: Vec<Part>,
    tenant: Option<Arc<str>>,
}

/// Why keys cannot be had. Names the setting, never the secret.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {cause}")]
pub struct KeysError {
    setting: String,
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("the variable is not set")]
    Unset,
    #[error("the variable is not UTF-8")]
    NotText,
    #[error("cannot be read ({0})")]
    Unreadable(std::io::ErrorKind),
    #[error("a file takes too long to be read")]
    Hangs,
    #[error("it is no regular file")]
    NotAFile,
    #[error("the file is longer than {} bytes", part::MAX_FILE_BYTES)]
    TooLong,
    #[error("the directory holds more than {} entries", part::MAX_ENTRIES)]
    TooMany,
    #[error("the file's name is not UTF-8")]
    NotAName,
    #[error("it is not the Unix second, in digits, from which on a key is refused")]
    NotATime,
    #[error("there is no key of that name beside it")]
    NoSuchKey,
    #[error("element {0} is not `kid=secret`")]
    Unnamed(usize),
    #[error("a source of tenants has no keyring of its own")]
    NoKeyring,
    #[error("`{0}` does nothing for a source of tenants: its keyrings say it themselves")]
    NotForSources(&'static str),
    #[error("`{0}` is for a source of tenants")]
    OnlyForSources(&'static str),
    #[error("`{0}` is no header name")]
    NoHeader(String),
    #[error("a bound of look-ups is zero")]
    Zero,
    #[error("endpoint `{0}` has the same secret")]
    Shared(Arc<str>),
    #[error("the keys cannot be registered: {0}")]
    Ledger(String),
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}

/// What a built endpoint verifies with.
#[derive(Debug, Clone)]
pub(crate) enum KeyStore {
    Listed(Arc<Listed>),
    Source(Arc<Lookup>),
}

impl Keys {
    /// These keys.
    pub fn new(keys: impl IntoIterator<Item = KeyConfig>) -> Self {
        Self::parts(keys.into_iter().map(Part::Literal))
    }

    /// One secret in an environment variable.
    pub fn env(var: impl Into<String>) -> Self {
        Self::of_env(var, Form::One { retiring: false })
    }

    /// Secrets in an environment variable, comma separated: the first is active, the rest are retiring.
    pub fn env_list(var: impl Into<String>) -> Self {
        Self::of_env(var, Form::List)
    }

    /// `kid=secret` in an environment variable, comma separated: the first is active, the rest are retiring.
    pub fn env_named(var: impl Into<String>) -> Self {
        Self::of_env(var, Form::Named)
    }

    /// One secret in a mounted file of at most 16 KiB. A single trailing newline is not part of it.
    ///
    /// Files are read again every two seconds while the engine runs, by content: swapped symbolic links
    /// and every kind of mount are seen. A change is adopted once it was read twice alike, so that a half-written
    /// file never is. What cannot be read or used changes nothing: the last good keys stay, and it is
    /// said in the log and in `webhook_key_reloads_total{result="refused"}`.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::parts([Part::File {
            path: path.into(),
            id: None,
            retiring: false,
        }])
    }

    /// The same with a key id, for grammars that carry one.
    pub fn file_named(id: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self::parts([Part::File {
            path: path.into(),
            id: Some(id.into()),
            retiring: false,
        }])
    }

    /// A mounted directory of secrets, each in a file named by its key id; read again as [`Keys::file`] is.
    ///
    /// The Unix second in `ID.retire_at` says from when on the key `ID` is refused. Such a key only verifies; of the others
    /// the last by name, in the order of bytes, is the active one. Names that begin with `.` and directories are
    /// passed over, as mounts of Kubernetes have them; every other name must be a key id.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self::parts([Part::Directory {
            path: path.into(),
            retiring: false,
        }])
    }

    /// A keyring per tenant, behind a bounded cache: see [`Lookups`] for its bounds and [`Keys::lookups`] to
    /// change them.
    ///
    /// The tenant is what stands for `{tenant}` in the endpoint's path, or in the header that
    /// [`Keys::tenant_header`] names: 1 to 255 bytes without control characters, or there is no such tenant.
    /// Never the body: whose event it is, its key says ([`Keyring::principal`]; where a source leaves
    /// that out, the tenant's name), and a body that names another account is refused.
    pub fn source(source: impl KeySource) -> Self {
        Self(Origin::Source {
            source: Arc::new(source),
            header: None,
            lookups: Lookups::default(),
        })
    }

    /// Read the tenant from this request header instead of the path. Only for a source: else a fault in `build()`.
    ///
    /// The header is not signed; it chooses which keys are tried and nothing else. Twice in a request, or
    /// not visible ASCII, is refused.
    #[must_use]
    pub fn tenant_header(mut self, name: impl Into<String>) -> Self {
        if let Origin::Source { header, .. } = &mut self.0 {
            *header = Some(name.into());
            return self;
        }
        Self(Origin::Misused("tenant_header"))
    }

    /// Other bounds for look-ups. Only for a source: else a fault in `build()`.
    #[must_use]
    pub fn lookups(mut self, bounds: Lookups) -> Self {
        if let Origin::Source { lookups, .. } = &mut self.0 {
            *lookups = bounds;
            return self;
        }
        Self(Origin::Misused("lookups"))
    }

    /// Verify with those keys too, sign with none of them. Not for a source, nor with one: a fault in `build()`.
    #[must_use]
    pub fn retiring(mut self, others: Self) -> Self {
        if let (Origin::Listed(own), Origin::Listed(more)) = (&mut self.0, others.0) {
            own.parts.extend(more.parts.into_iter().map(Part::retiring));
            return self;
        }
        Self(Origin::Misused("retiring"))
    }

    /// Say whose keys these are: the tenant of every event they verify. Not for a source: a fault in `build()`.
    #[must_use]
    pub fn tenant(mut self, name: impl Into<Arc<str>>) -> Self {
        if let Origin::Listed(Listing { tenant, .. }) = &mut self.0 {
            *tenant = Some(name.into());
            return self;
        }
        Self(Origin::Misused("tenant"))
    }

    /// The keyring itself, for tools that sign. `format` is the provider's.
    ///
    /// # Errors
    ///
    /// As in `build()`; also for a source, which has none of its own.
    pub fn keyring(self, format: SecretFormat) -> Result<Arc<Keyring>, KeysError> {
        match self.load("", format)? {
            KeyStore::Listed(listed) => Ok(listed.current()),
            KeyStore::Source(_) => Err(Cause::NoKeyring.at("key source")),
        }
    }

    fn of_env(var: impl Into<String>, form: Form) -> Self {
        Self::parts([Part::Env {
            var: var.into(),
            form,
        }])
    }

    fn parts(parts: impl IntoIterator<Item = Part>) -> Self {
        Self(Origin::Listed(Listing {
            parts: parts.into_iter().collect(),
            tenant: None,
        }))
    }

    /// What `endpoint` verifies with.
    pub(crate) fn load(self, endpoint: &str, format: SecretFormat) -> Result<KeyStore, KeysError> {
        match self.0 {
            Origin::Listed(listing) => {
                let listed = Listed::new(listing, format)?;
                Ok(KeyStore::Listed(Arc::new(listed)))
            }
            Origin::Source {
                source,
                header,
                lookups,
            } => Lookup::new(endpoint, source, header, lookups)
                .map(|lookup| KeyStore::Source(Arc::new(lookup)))
                .map_err(|cause| cause.at("key source")),
            Origin::Misused(what @ ("retiring" | "tenant")) => {
                Err(Cause::NotForSources(what).at("key source"))
            }
            Origin::Misused(what) => Err(Cause::OnlyForSources(what).at("keys")),
        }
    }
}

impl Listing {
    /// Read every setting anew.
    fn read(&self, format: SecretFormat) -> Result<Keyring, KeysError> {
        let (mut configs, mut settings) = (Vec::new(), Vec::new());
        for part in &self.parts {
            for found in part.read(configs.is_empty())? {
                configs.push(found.key);
                settings.push(found.setting);
            }
        }
        let ring = Keyring::build(format, configs).map_err(|error| {
            let index = error.key().and_then(|number| number.checked_sub(1));
            let setting = index.and_then(|index| settings.into_iter().nth(index));
            Cause::from(error).at(setting.unwrap_or_else(|| self.to_string()))
        })?;
        Ok(match &self.tenant {
            Some(tenant) => ring.principal(tenant.clone()),
            None => ring,
        })
    }

    fn may_change(&self) -> bool {
        self.parts.iter().any(Part::may_change)
    }
}

impl std::fmt::Display for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let settings: Vec<String> = self.parts.iter().map(ToString::to_string).collect();
        f.write_str(&settings.join(" + "))
    }
}

impl Cause {
    fn at(self, setting: impl Into<String>) -> KeysError {
        KeysError {
            setting: setting.into(),
            cause: self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: SecretFormat = SecretFormat::Text { prefix: "whsec_" };

    /// A directory for one test.
    pub(super) struct Dir(PathBuf);

    impl Dir {
        pub(super) fn new(name: &str) -> Self {
            let name = format!("webhook-keys-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir(&path).unwrap();
            Self(path)
        }

        pub(super) fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        pub(super) fn write(&self, name: &str, text: &str) {
            std::fs::write(self.path(name), text).unwrap();
        }

        pub(super) fn remove(&self, name: &str) {
            std::fs::remove_file(self.path(name)).unwrap();
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn fault(keys: Keys) -> String {
        keys.keyring(TEXT).unwrap_err().to_string()
    }

    #[test]
    fn faults_name_the_setting_and_never_the_secret() {
        assert_eq!(
            fault(Keys::env("WEBHOOK_TEST_SURELY_UNSET")),
            "environment variable WEBHOOK_TEST_SURELY_UNSET: the variable is not set"
        );
        assert!(fault(Keys::file("/no/such/file")).starts_with("file /no/such/file: "));
        let short = fault(Keys::new([KeyConfig::new("canary")]));
        assert!(short.contains("keys given in code") && !short.contains("canary"));
    }

    #[test]
    fn what_is_for_sources_is_not_for_lists() {
        let list = || Keys::new([KeyConfig::new("0123456789abcdef")]);
        let told = fault(list().tenant_header("x-tenant"));
        assert_eq!(told, "keys: `tenant_header` is for a source of tenants");
        let told = fault(list().lookups(Lookups::default()));
        assert_eq!(told, "keys: `lookups` is for a source of tenants");
    }

    #[test]
    fn others_are_retiring_and_tenants_are_kept() {
        let ring = Keys::new([KeyConfig::new("0123456789abcdef")])
            .retiring(Keys::new([KeyConfig::new("fedcba9876543210")]))
            .tenant("acme")
            .keyring(TEXT)
            .unwrap();
        let retiring: Vec<bool> = ring.infos().map(|key| key.is_retiring).collect();
        assert_eq!(retiring, [false, true]);
        assert_eq!(ring.tenant(), Some("acme"));
    }
}
