//! Settings from the environment; what is missing is made up for this run.

use std::env::{self, VarError};

use webhook_actix::{KeyConfig, Keys};

pub(crate) struct Config {
    pub(crate) bind: String,
    pub(crate) database_url: String,
    pub(crate) keys: EndpointKeys,
}

/// Where each endpoint's keys come from.
pub(crate) struct EndpointKeys {
    pub(crate) stripe: EndpointKey,
    pub(crate) github: EndpointKey,
    pub(crate) slack: EndpointKey,
    pub(crate) custom: EndpointKey,
}

/// Keys, and whether they were made up: then requests signed with them may be shown.
pub(crate) struct EndpointKey {
    pub(crate) keys: Keys,
    pub(crate) is_made_up: bool,
}

impl Config {
    pub(crate) fn from_env() -> Result<Self, VarError> {
        Ok(Self {
            bind: setting("BIND")?.unwrap_or_else(|| "127.0.0.1:8080".to_owned()),
            database_url: setting("DATABASE_URL")?
                .unwrap_or_else(|| "sqlite://quickstart.db".to_owned()),
            keys: EndpointKeys {
                stripe: list("STRIPE_WEBHOOK_SECRETS", "whsec_")?,
                github: list("GITHUB_WEBHOOK_SECRETS", "")?,
                slack: list("SLACK_SIGNING_SECRETS", "")?,
                custom: match setting("CUSTOM_WEBHOOK_KEYS")? {
                    Some(_) => EndpointKey::given(Keys::env_named("CUSTOM_WEBHOOK_KEYS")),
                    None => EndpointKey::made_up(KeyConfig::new(random_secret("")).id("demo")),
                },
            },
        })
    }
}

impl EndpointKey {
    fn given(keys: Keys) -> Self {
        Self {
            keys,
            is_made_up: false,
        }
    }

    fn made_up(key: KeyConfig) -> Self {
        Self {
            keys: Keys::new([key]),
            is_made_up: true,
        }
    }
}

/// The variable's secrets if it is set, even to nothing: `build()` then says what is wrong with them.
fn list(var: &str, prefix: &str) -> Result<EndpointKey, VarError> {
    Ok(match setting(var)? {
        Some(_) => EndpointKey::given(Keys::env_list(var)),
        None => EndpointKey::made_up(KeyConfig::new(random_secret(prefix))),
    })
}

fn setting(var: &str) -> Result<Option<String>, VarError> {
    match env::var(var) {
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(error) => Err(error),
    }
}

fn random_secret(prefix: &str) -> String {
    let bytes: [u8; 32] = rand::random();
    bytes
        .iter()
        .fold(prefix.to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
