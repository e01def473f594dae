//! Secrets: from the environment, from a file, from standard input; from the command line only under protest.

use std::env;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use webhook_core::{KeyConfig, Keyring, KeyringError, SecretFormat};
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::output::say_aside;

/// Where the secrets are. The first one signs; all of them verify.
#[derive(Debug, Clone, Args)]
#[group(id = "secrets", required = true, multiple = true)]
pub(crate) struct SecretArgs {
    /// Read a secret from this environment variable, byte for byte
    #[arg(long, value_name = "NAME")]
    secret_env: Vec<String>,
    /// Read a secret from this file, or from standard input if it is `-`; one line end behind it is dropped
    #[arg(long, value_name = "FILE")]
    secret_file: Vec<PathBuf>,
    /// The secret itself. Others on this machine can read it in the list of processes: better one of the above
    #[arg(long, value_name = "TEXT")]
    secret: Vec<String>,
    /// The id of a key, for providers that name keys; in the order of the secrets
    #[arg(long, value_name = "ID", requires = "secrets")]
    key_id: Vec<String>,
}

/// Secrets as they were given, in the order: environment, files, command line.
pub(crate) struct Secrets {
    texts: Vec<Zeroizing<String>>,
    key_ids: Vec<String>,
}

impl SecretArgs {
    /// Read them.
    ///
    /// # Errors
    ///
    /// [`Fault::Usage`] for what is not there or not UTF-8. Names where, never what.
    pub(crate) fn read(&self) -> Result<Secrets, Fault> {
        let mut texts = Vec::new();
        for name in &self.secret_env {
            let value = env::var(name).map_err(|error| {
                Fault::usage(match error {
                    env::VarError::NotPresent => format!("the variable {name} is not set"),
                    env::VarError::NotUnicode(_) => format!("the variable {name} is not UTF-8"),
                })
            })?;
            texts.push(Zeroizing::new(value));
        }
        for path in &self.secret_file {
            texts.push(read_secret(path)?);
        }
        if !self.secret.is_empty() {
            say_aside(
                "warning: a secret on the command line can be read in the list of processes and in the shell's history; use --secret-env or --secret-file",
            );
        }
        texts.extend(self.secret.iter().cloned().map(Zeroizing::new));
        if self.key_id.len() > texts.len() {
            return Err(Fault::usage("more key ids than secrets"));
        }
        Ok(Secrets {
            texts,
            key_ids: self.key_id.clone(),
        })
    }
}

impl Secrets {
    /// A keyring of them in the provider's form.
    ///
    /// # Errors
    ///
    /// [`KeyringError`], which names no secret.
    pub(crate) fn keyring(&self, format: SecretFormat) -> Result<Keyring, KeyringError> {
        let configs = self.texts.iter().enumerate().map(|(nth, text)| {
            let config = KeyConfig::new(text.as_str());
            match self.key_ids.get(nth) {
                Some(id) => config.id(id),
                None => config,
            }
        });
        Keyring::build(format, configs)
    }

    /// The same, for commands that cannot go on without.
    pub(crate) fn must_keyring(&self, format: SecretFormat) -> Result<Keyring, Fault> {
        self.keyring(format)
            .map_err(|error| Fault::usage(format!("the secret cannot be used: {error}")))
    }

    /// The texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| text.as_str())
    }

    /// The ids of the keys, as far as there are any.
    pub(crate) fn key_ids(&self) -> &[String] {
        &self.key_ids
    }
}

fn read_secret(path: &Path) -> Result<Zeroizing<String>, Fault> {
    let mut text = Zeroizing::new(String::new());
    let read = if path.as_os_str() == "-" {
        io::stdin().lock().read_to_string(&mut text).map(drop)
    } else {
        fs::File::open(path)
            .and_then(|mut file| file.read_to_string(&mut text))
            .map(drop)
    };
    read.map_err(|error| Fault::usage(format!("{}: {error}", path.display())))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    Ok(Zeroizing::new(line.to_owned()))
}
