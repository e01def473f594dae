//! `webhook events`: what can be sent.

use clap::Args;
use serde_json::{Map, Value, json};
use webhook_core::SecretFormat;
use webhook_fixtures::{Sender, Setup, names, sender};

use crate::event::find;
use crate::fault::Fault;
use crate::output::{Output, Tone};

/// List providers and the events of which there is a fixture.
#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Only this provider, with what is known of it
    provider: Option<String>,
}

impl Events {
    /// Run the command.
    ///
    /// # Errors
    ///
    /// [`Fault::Usage`] for an unknown provider.
    pub(crate) fn run(&self, output: &Output) -> Result<(), Fault> {
        if let Some(name) = &self.provider {
            let sender = find(name, None)?;
            output.show(&facts(&sender), |output| about(output, &sender));
            return Ok(());
        }
        let setup = Setup::default();
        let all = names().filter_map(|name| sender(name, &setup).ok());
        let all: Vec<Sender> = all.collect();
        let value: Map<String, Value> = all
            .iter()
            .map(|sender| (sender.name().to_owned(), sender.events().collect()))
            .collect();
        output.show(&value.into(), |output| {
            all.iter().fold(String::new(), |text, sender| {
                let events = sender.events().collect::<Vec<_>>().join(", ");
                let name = format!("{:12}", sender.name());
                text + &output.paint(Tone::Strong, &name) + "  " + &events + "\n"
            })
        });
        Ok(())
    }
}

fn facts(sender: &Sender) -> Value {
    let spec = sender.provider().spec();
    json!({
        "provider": sender.name(),
        "events": sender.events().collect::<Vec<_>>(),
        "window_secs": spec.window().map(|window| window.past().as_secs()),
        "max_body_bytes": spec.body_cap(),
        "success": spec.success(),
        "signs_identity": sender.provider().signs_identity(),
        "secret": secret_form(spec.secret()),
    })
}

fn about(output: &Output, sender: &Sender) -> String {
    let spec = sender.provider().spec();
    let window = spec.window().map_or_else(
        || "none: it signs no timestamp".to_owned(),
        |window| {
            format!(
                "{} s back, {} s ahead",
                window.past().as_secs(),
                window.future().as_secs()
            )
        },
    );
    let identity = if sender.provider().signs_identity() {
        "signed"
    } else {
        "beside the signature, not under it"
    };
    let events = sender.events().collect::<Vec<_>>().join("\n         ");
    format!(
        "{}\n  secret {}\n  window {window}\n  ids    {identity}\n  events {events}\n",
        output.paint(Tone::Strong, sender.name()),
        secret_form(spec.secret()),
    )
}

/// How the provider writes its secrets.
pub(crate) fn secret_form(format: SecretFormat) -> String {
    match format {
        SecretFormat::Base64 { prefix: "" } => "base64; the key is what it decodes to".to_owned(),
        SecretFormat::Base64 { prefix } => {
            format!("`{prefix}` and base64; the key is what that decodes to")
        }
        SecretFormat::Text { prefix: "" } => "text; the key is its bytes".to_owned(),
        SecretFormat::Text { prefix } => {
            format!("text; the key is its bytes, `{prefix}` among them")
        }
        SecretFormat::Ed25519Hex => {
            "an Ed25519 public key in hex; the private one, which signs, as base64 of PKCS#8"
                .to_owned()
        }
        SecretFormat::StandardWebhooks => {
            "`whsec_` and base64, or `whpk_` with a public key, `whsk_` with the private one"
                .to_owned()
        }
        _ => {
            "a public key as base64 of its SPKI; the private one, which signs, as base64 of PKCS#8"
                .to_owned()
        }
    }
}
