//! Settings, from the environment. Everything has a default that works on one machine.

use std::env;

use webhook_dispatch::{Vault, VaultKey};

use crate::AnyError;

/// Where things are, and what is secret.
#[derive(Debug)]
pub(crate) struct Config {
    /// Address of the shop. `SHOP_BIND`.
    pub(crate) shop_bind: String,
    /// File of the shop. `SHOP_DATABASE`.
    pub(crate) shop_database: String,
    /// Address of the customer. `CUSTOMER_BIND`.
    pub(crate) customer_bind: String,
    /// File of the customer. `CUSTOMER_DATABASE`.
    pub(crate) customer_database: String,
    /// What the shop signs with and the customer verifies with. `CUSTOMER_SECRET`.
    pub(crate) secret: Secret,
    /// What customers' secrets are sealed with: 32 bytes in base64. `VAULT_KEY`.
    pub(crate) vault: Vault,
}

/// Prints as `[redacted]`.
pub(crate) struct Secret(pub(crate) String);

impl Config {
    pub(crate) fn from_env() -> Result<Self, AnyError> {
        let or = |name: &str, default: &str| match env::var(name) {
            Ok(value) if !value.is_empty() => Ok(value),
            Ok(_) | Err(env::VarError::NotPresent) => Ok(default.to_owned()),
            Err(error) => Err(format!("{name}: {error}")),
        };
        let key = or("VAULT_KEY", MADE_UP_KEY)?;
        let secret = or("CUSTOMER_SECRET", MADE_UP_SECRET)?;
        if key == MADE_UP_KEY || secret == MADE_UP_SECRET {
            tracing::warn!("made-up secrets are in use: set VAULT_KEY and CUSTOMER_SECRET");
        }
        let key =
            VaultKey::from_base64("1", &key).map_err(|error| format!("VAULT_KEY: {error}"))?;
        Ok(Self {
            shop_bind: or("SHOP_BIND", "127.0.0.1:8080")?,
            shop_database: or("SHOP_DATABASE", "shop.db")?,
            customer_bind: or("CUSTOMER_BIND", "127.0.0.1:8081")?,
            customer_database: or("CUSTOMER_DATABASE", "customer.db")?,
            secret: Secret(secret),
            vault: Vault::new([key])?,
        })
    }

    /// Where the customer listens.
    pub(crate) fn customer_url(&self) -> String {
        format!("http://{}/webhooks/shop", self.customer_bind)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// `openssl rand -base64 32` makes a real one.
const MADE_UP_KEY: &str = "bWFkZSB1cCBmb3IgdGhlIGV4YW1wbGUsIG5vIHVzZSE=";
const MADE_UP_SECRET: &str = "whsec_bWFkZSB1cCBmb3IgdGhlIGV4YW1wbGUsIG5vIHVzZSE=";
