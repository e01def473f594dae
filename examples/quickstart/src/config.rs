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
    pub(crate) stripe: Keys,
    pub(crate) github: Keys,
    pub(crate) slack: Keys,
    pub(crate) custom: Keys,
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
                    Some(_) => Keys::env_named("CUSTOM_WEBHOOK_KEYS"),
                    None => Keys::new([KeyConfig::new(random_secret("")).id("demo")]),
                },
            },
        })
    }
}

/// The variable's secrets if it is set, even to nothing: `build()` then says what is wrong with them.
fn list(var: &str, prefix: &str) -> Result<Keys, VarError> {
    Ok(match setting(var)? {
        Some(_) => Keys::env_list(var),
        None => Keys::new([KeyConfig::new(random_secret(prefix))]),
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
