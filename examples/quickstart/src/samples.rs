//! Ready-to-paste `curl` lines, signed with each endpoint's own keys.

use std::net::SocketAddr;

use serde_json::json;
use webhook_actix::{Clock as _, DynProvider, KeysError, Signing, SystemClock};
use webhook_github::GitHub;
use webhook_slack::Slack;
use webhook_stripe::Stripe;
use webhook_timestamped::Timestamped;

use crate::config::{EndpointKey, EndpointKeys};

struct Sample<'s> {
    endpoint: &'static str,
    provider: &'s dyn DynProvider,
    key: &'s EndpointKey,
    body: serde_json::Value,
    headers: Vec<(&'static str, String)>,
}

/// Print one line for each endpoint whose secret was made up for this run: a request signed with a real
/// secret has no business in a log. They are fresh for five minutes.
pub(crate) fn print(address: &SocketAddr, keys: &EndpointKeys) -> Result<(), KeysError> {
    let mut samples = samples(keys)
        .into_iter()
        .filter(|sample| sample.key.is_made_up)
        .peekable();
    if samples.peek().is_some() {
        println!("\nTry it (signatures are fresh for five minutes):");
    }
    for sample in samples {
        println!("\n{}", sample.curl(address)?);
    }
    println!("\nThen look at http://{address}/effects\n");
    Ok(())
}

fn samples(keys: &EndpointKeys) -> [Sample<'_>; 4] {
    let unique = format!("{:016x}", rand::random::<u64>());
    [
        Sample {
            endpoint: "stripe",
            provider: &STRIPE,
            key: &keys.stripe,
            body: json!({
                "id": format!("evt_{unique}"), "object": "event", "type": "invoice.paid", "livemode": false,
                "data": {"object": {"id": format!("in_{unique}"), "object": "invoice", "amount_paid": 4200, "currency": "eur"}},
            }),
            headers: vec![],
        },
        Sample {
            endpoint: "github",
            provider: &GitHub,
            key: &keys.github,
            body: json!({"zen": "Keep it logically awesome.", "hook_id": 1, "hook": {"id": 1, "active": true}, "nonce": unique}),
            headers: vec![
                ("X-GitHub-Event", "ping".to_owned()),
                ("X-GitHub-Delivery", uuid_like(rand::random())),
            ],
        },
        Sample {
            endpoint: "slack",
            provider: &Slack,
            key: &keys.slack,
            body: json!({
                "type": "event_callback", "event_id": format!("Ev{unique}"), "team_id": "T0DEMO", "api_app_id": "A0DEMO",
                "event": {"type": "app_mention", "user": "U0DEMO", "text": "hello", "channel": "C0DEMO"},
            }),
            headers: vec![],
        },
        Sample {
            endpoint: "custom",
            provider: &Timestamped,
            key: &keys.custom,
            body: json!({"id": format!("note_{unique}"), "type": "note.created", "data": {"text": "hello"}}),
            headers: vec![],
        },
    ]
}

static STRIPE: Stripe = Stripe::any_mode();

impl Sample<'_> {
    fn curl(&self, address: &SocketAddr) -> Result<String, KeysError> {
        let body = self.body.to_string();
        let ring = self
            .key
            .keys
            .clone()
            .keyring(self.provider.spec().secret())?;
        let signing = Signing::new(&ring, body.as_bytes(), SystemClock::default().unix_secs());
        let mut line = format!(
            "curl -i http://{address}/webhooks/{} -H 'Content-Type: application/json'",
            self.endpoint
        );
        for (name, value) in self
            .headers
            .iter()
            .cloned()
            .chain(self.provider.sign(&signing))
        {
            line = format!("{line} -H '{name}: {value}'");
        }
        Ok(format!("{line} --data-binary '{body}'"))
    }
}

fn uuid_like(parts: [u64; 2]) -> String {
    let text = format!("{:016x}{:016x}", parts[0], parts[1]);
    [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)]
        .map(|(from, to)| &text[from..to])
        .join("-")
}
