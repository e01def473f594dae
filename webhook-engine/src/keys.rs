//! Where an endpoint's keys come from: literals, environment, mounted files, or a source of tenants.

use std::path::PathBuf;
use std::sync::Arc;

use webhook_core::{KeyConfig, KeySource, Keyring, KeyringError, SecretFormat};
use zeroize::Zeroizing;

/// The keys of an endpoint, named by the setting they come from. Read once, by `build()`.
///
/// The first key signs and verifies, the others only verify.
#[derive(Debug, Clone)]
pub struct Keys(Origin);

#[derive(Debug, Clone)]
enum Origin {
    Listed {
        parts: Vec<Part>,
        tenant: Option<Arc<str>>,
    },
    Source(Arc<dyn KeySource>),
    /// Something was asked of a source that only listed keys can do.
    Misused(&'static str),
}

#[derive(Debug, Clone)]
enum Part {
    Env { var: String, form: Form },
    File { path: PathBuf, retiring: bool },
    Literal(KeyConfig),
}

#[derive(Debug, Clone, Copy)]
enum Form {
    /// One secret.
    One { retiring: bool },
    /// Secrets, comma separated.
    List,
    /// `kid=secret`, comma separated.
    Named,
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
    #[error("the file cannot be read ({0})")]
    Unreadable(std::io::ErrorKind),
    #[error("element {0} is not `kid=secret`")]
    Unnamed(usize),
    #[error("a source of tenants has no keyring of its own")]
    NoKeyring,
    #[error("`{0}` does nothing for a source of tenants: its keyrings say it themselves")]
    Misused(&'static str),
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}

/// What a built endpoint verifies with.
#[derive(Debug, Clone)]
pub(crate) enum KeyStore {
    Fixed(Arc<Keyring>),
    Source(Arc<dyn KeySource>),
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

    /// One secret in a mounted file. A single trailing newline is not part of it.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::parts([Part::File {
            path: path.into(),
            retiring: false,
        }])
    }

    /// A keyring per tenant, looked up for each delivery.
    pub fn source(source: impl KeySource) -> Self {
        Self(Origin::Source(Arc::new(source)))
    }

    /// Verify with those keys too, sign with none of them. Not for a source, nor with one: a fault in `build()`.
    #[must_use]
    pub fn retiring(mut self, others: Self) -> Self {
        if let (Origin::Listed { parts, .. }, Origin::Listed { parts: more, .. }) =
            (&mut self.0, others.0)
        {
            parts.extend(more.into_iter().map(|part| match part {
                Part::Env {
                    var,
                    form: Form::One { .. },
                } => Part::Env {
                    var,
                    form: Form::One { retiring: true },
                },
                Part::File { path, .. } => Part::File {
                    path,
                    retiring: true,
                },
                Part::Literal(key) => Part::Literal(key.retiring()),
                listed @ Part::Env { .. } => listed,
            }));
            return self;
        }
        Self(Origin::Misused("retiring"))
    }

    /// Say whose keys these are: the tenant of every event they verify. Not for a source: a fault in `build()`.
    #[must_use]
    pub fn tenant(mut self, name: impl Into<Arc<str>>) -> Self {
        if let Origin::Listed { tenant, .. } = &mut self.0 {
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
        match self.load(format)? {
            KeyStore::Fixed(ring) => Ok(ring),
            KeyStore::Source(_) => Err(KeysError {
                setting: "key source".to_owned(),
                cause: Cause::NoKeyring,
            }),
        }
    }

    fn of_env(var: impl Into<String>, form: Form) -> Self {
        Self::parts([Part::Env {
            var: var.into(),
            form,
        }])
    }

    fn parts(parts: impl IntoIterator<Item = Part>) -> Self {
        Self(Origin::Listed {
            parts: parts.into_iter().collect(),
            tenant: None,
        })
    }

    pub(crate) fn load(self, format: SecretFormat) -> Result<KeyStore, KeysError> {
        let (parts, tenant) = match self.0 {
            Origin::Source(source) => return Ok(KeyStore::Source(source)),
            Origin::Misused(what) => {
                return Err(KeysError {
                    setting: "key source".to_owned(),
                    cause: Cause::Misused(what),
                });
            }
            Origin::Listed { parts, tenant } => (parts, tenant),
        };
        let setting = parts
            .iter()
            .map(Part::setting)
            .collect::<Vec<_>>()
            .join(" + ");
        let mut configs = Vec::new();
        for part in parts {
            let name = part.setting();
            part.read(configs.is_empty(), &mut configs)
                .map_err(|cause| KeysError {
                    setting: name,
                    cause,
                })?;
        }
        let ring = Keyring::build(format, configs).map_err(|error| KeysError {
            setting,
            cause: error.into(),
        })?;
        Ok(KeyStore::Fixed(Arc::new(match tenant {
            Some(tenant) => ring.principal(tenant),
            None => ring,
        })))
    }
}

impl Part {
    fn setting(&self) -> String {
        match self {
            Self::Env { var, .. } => format!("environment variable {var}"),
            Self::File { path, .. } => format!("file {}", path.display()),
            Self::Literal(_) => "keys given in code".to_owned(),
        }
    }

    fn read(self, first: bool, into: &mut Vec<KeyConfig>) -> Result<(), Cause> {
        match self {
            Self::Literal(key) => into.push(key),
            Self::File { path, retiring } => {
                let text = std::fs::read(path).map_err(|error| Cause::Unreadable(error.kind()))?;
                let text = Zeroizing::new(text);
                let secret = text.strip_suffix(b"\n").unwrap_or(&text);
                let secret = secret.strip_suffix(b"\r").unwrap_or(secret);
                into.push(role(
                    KeyConfig::new(webhook_core::Secret::new(secret)),
                    !retiring,
                ));
            }
            Self::Env { var, form } => {
                let text = Zeroizing::new(std::env::var(var).map_err(|error| match error {
                    std::env::VarError::NotPresent => Cause::Unset,
                    std::env::VarError::NotUnicode(_) => Cause::NotText,
                })?);
                match form {
                    Form::One { retiring } => into.push(role(KeyConfig::new(&**text), !retiring)),
                    Form::List => {
                        for (index, secret) in text.split(',').enumerate() {
                            into.push(role(KeyConfig::new(secret), first && index == 0));
                        }
                    }
                    Form::Named => {
                        for (index, element) in text.split(',').enumerate() {
                            let position = index.saturating_add(1);
                            let (id, secret) =
                                element.split_once('=').ok_or(Cause::Unnamed(position))?;
                            into.push(role(KeyConfig::new(secret).id(id), first && index == 0));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn role(key: KeyConfig, active: bool) -> KeyConfig {
    if active { key } else { key.retiring() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: SecretFormat = SecretFormat::Text { prefix: "whsec_" };

    fn fault(keys: Keys) -> String {
        keys.load(TEXT).unwrap_err().to_string()
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
    fn one_trailing_newline_of_a_file_is_trimmed_and_no_more() {
        let path = std::env::temp_dir().join(format!("webhook-keys-{}", std::process::id()));
        for (text, good) in [
            ("0123456789abcdef", true),
            ("0123456789abcdef\n", true),
            ("0123456789abcdef\r\n", true),
            ("0123456789abcdef\n\n", false),
            ("\n", false),
            ("", false),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Keys::file(&path).load(TEXT).is_ok(), good, "{text:?}");
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn others_are_retiring_and_tenants_are_kept() {
        let keys = Keys::new([KeyConfig::new("0123456789abcdef")])
            .retiring(Keys::new([KeyConfig::new("fedcba9876543210")]))
            .tenant("acme");
        let Ok(KeyStore::Fixed(ring)) = keys.load(TEXT) else {
            panic!()
        };
        assert_eq!(ring.fingerprints().count(), 2);
    }
}
