//! `webhook keys`: make a secret, or see whether one is good.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use clap::{Args, Subcommand};
use serde_json::json;
use std::fmt::Write as _;
use webhook_core::SecretFormat;
use webhook_core::bounds::ADVISED_SECRET_BYTES;
use zeroize::Zeroizing;

use crate::event::find;
use crate::events::secret_form;
use crate::fault::Fault;
use crate::output::{Output, Tone};
use crate::secret::SecretArgs;

/// Bytes of randomness in a new secret.
const NEW_SECRET_BYTES: usize = 32;

/// Make secrets and check them.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a new random secret in the provider's form, for providers that let you choose one
    New {
        /// The provider
        provider: String,
    },
    /// Check that secrets are in the provider's form; print their fingerprints and never the secrets
    ///
    /// Exit code 1 if one cannot be used.
    Check {
        /// The provider
        provider: String,
        #[command(flatten)]
        secrets: SecretArgs,
    },
}

impl Keys {
    /// Run the command.
    ///
    /// # Errors
    ///
    /// As the exit codes say.
    pub(crate) fn run(&self, output: &Output) -> Result<(), Fault> {
        match &self.command {
            Command::New { provider } => new(output, provider),
            Command::Check { provider, secrets } => check(output, provider, secrets),
        }
    }
}

fn new(output: &Output, provider: &str) -> Result<(), Fault> {
    let format = find(provider, None)?.provider().spec().secret();
    let random: Zeroizing<[u8; NEW_SECRET_BYTES]> = Zeroizing::new(rand::random());
    let text = Zeroizing::new(BASE64_STANDARD.encode(*random));
    let secret = Zeroizing::new(match format {
        SecretFormat::Base64 { prefix } => [prefix, &text].concat(),
        SecretFormat::StandardWebhooks => ["whsec_", &text].concat(),
        // Nothing that a shell or a form would take for something else.
        SecretFormat::Text { prefix } => {
            let text = Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(*random));
            [prefix, &text].concat()
        }
        _ => {
            return Err(Fault::usage(format!(
                "{provider} signs with a key of its own: copy its public key, {}",
                secret_form(format)
            )));
        }
    });
    output.show(
        &json!({"provider": provider, "secret": secret.as_str()}),
        |_| secret.to_string(),
    );
    Ok(())
}

fn check(output: &Output, provider: &str, secrets: &SecretArgs) -> Result<(), Fault> {
    let format = find(provider, None)?.provider().spec().secret();
    let built = secrets.read()?.keyring(format);
    let keys: Vec<_> = built
        .iter()
        .flat_map(webhook_core::Keyring::infos)
        .map(|info| json!({"id": info.id.as_deref(), "fingerprint": info.fingerprint.to_string()}))
        .collect();
    let short = built.as_ref().map_or(0, webhook_core::Keyring::short_keys);
    let error = built.as_ref().err().map(ToString::to_string);
    let value = json!({
        "provider": provider,
        "usable": error.is_none(),
        "error": error,
        "keys": keys,
        "short": short,
        "form": secret_form(format),
    });
    output.show(&value, |output| {
        let mut text = String::new();
        match &built {
            Ok(built) => {
                for info in built.infos() {
                    let good = output.paint(Tone::Good, "ok");
                    let _ = writeln!(text, "{good}    {}  {}", info.fingerprint, info.id.as_deref().unwrap_or_default());
                }
            }
            Err(error) => {
                let bad = output.paint(Tone::Bad, "bad");
                let _ = writeln!(text, "{bad}   {error}\n      expected: {}", secret_form(format));
            }
        }
        if short > 0 {
            let note = output.paint(Tone::Note, "note");
            let _ = writeln!(text, "{note}  {short} of them shorter than {ADVISED_SECRET_BYTES} bytes: can be guessed from one request");
        }
        text
    });
    if error.is_some() {
        Err(Fault::Negative)
    } else {
        Ok(())
    }
}
