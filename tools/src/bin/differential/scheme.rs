//! How each provider signs, written down a second time: what a sender could send, not only what it should.

use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use webhook_core::{Algorithm, DynProvider, KeyConfig, Keyring, Segment, Signing};
use webhook_discord::Discord;
use webhook_fixtures::{Setup, sender};
use webhook_github::GitHub;
use webhook_slack::Slack;
use webhook_standard::Standard;
use webhook_stripe::Stripe;

use crate::case::Fields;
use crate::random::Random;

/// A provider's scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Discord,
    GitHub,
    Slack,
    Standard,
    Stripe,
    Twilio,
}

/// What is signed, and what is said of it.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) id: String,
    /// The timestamp as it stands in the head.
    pub(crate) stamp: String,
    /// The timestamp as it is signed.
    pub(crate) signed_stamp: String,
    pub(crate) body: Vec<u8>,
}

/// A secret: ours makes a keyring, theirs goes to the library.
pub(crate) struct Secret {
    pub(crate) keys: Keyring,
    pub(crate) theirs: String,
}

impl Scheme {
    pub(crate) fn provider(self) -> Arc<dyn DynProvider> {
        match self {
            Self::Discord => Arc::new(Discord::interactions()),
            Self::GitHub => Arc::new(GitHub),
            Self::Slack => Arc::new(Slack),
            Self::Standard => Arc::new(Standard::new()),
            Self::Stripe => Arc::new(Stripe::any_mode().any_account()),
            Self::Twilio => sender("twilio", &Setup::default())
                .expect("a fixture")
                .shared_provider(),
        }
    }

    /// Path and query that it is sent to.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Self::Twilio => "/webhooks/twilio",
            _ => "/",
        }
    }

    pub(crate) fn is_timestamped(self) -> bool {
        !matches!(self, Self::GitHub | Self::Twilio)
    }

    /// The header of the signature.
    pub(crate) fn signature(self) -> &'static str {
        match self {
            Self::Discord => "x-signature-ed25519",
            Self::GitHub => "x-hub-signature-256",
            Self::Slack => "x-slack-signature",
            Self::Standard => "webhook-signature",
            Self::Stripe => "stripe-signature",
            Self::Twilio => "x-twilio-signature",
        }
    }

    pub(crate) fn secret(self, random: &mut Random) -> Secret {
        let seed: [u8; 32] = random.bytes();
        let hex = || hex(&seed);
        let (ours, theirs) = match self {
            Self::Discord => {
                // RFC 8410: an Ed25519 private key in PKCS#8.
                const PKCS8: [u8; 16] = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];
                let der = [&PKCS8[..], &seed].concat();
                (BASE64_STANDARD.encode(der), hex())
            }
            Self::GitHub | Self::Slack | Self::Twilio => (hex(), hex()),
            Self::Standard => {
                let text = format!("whsec_{}", BASE64_STANDARD.encode(seed));
                (text.clone(), text)
            }
            Self::Stripe => (format!("whsec_{}", hex()), format!("whsec_{}", hex())),
        };
        let provider = self.provider();
        let keys = Keyring::build(provider.spec().secret(), [KeyConfig::new(ours)]);
        Secret {
            keys: keys.expect("a keyring of a random secret"),
            theirs,
        }
    }

    /// The signature of `parts`, as text.
    pub(crate) fn tag(self, keys: &Keyring, parts: &Parts) -> String {
        let stamp = || Segment::text(parts.signed_stamp.as_str());
        let content = match self {
            Self::Discord => vec![stamp(), Segment::Body],
            Self::GitHub => vec![Segment::Body],
            Self::Slack => vec![
                Segment::text("v0:"),
                stamp(),
                Segment::text(":"),
                Segment::Body,
            ],
            Self::Standard => vec![
                Segment::text(parts.id.as_str()),
                Segment::text("."),
                stamp(),
                Segment::text("."),
                Segment::Body,
            ],
            Self::Stripe => vec![stamp(), Segment::text("."), Segment::Body],
            Self::Twilio => vec![
                Segment::text("https://shop.example/webhooks/twilio"),
                Segment::BodyForm,
            ],
        };
        let algorithm = match self {
            Self::Discord => Algorithm::Ed25519,
            Self::Twilio => Algorithm::HmacSha1,
            _ => Algorithm::HmacSha256,
        };
        let signing = Signing::new(keys, &parts.body, 0);
        let tags = signing.tags(algorithm, &content);
        // What is no form is signed by nobody.
        let Some(tag) = tags.first().map(|signed| &signed.tag) else {
            return String::new();
        };
        match self {
            Self::Standard | Self::Twilio => tag.to_base64(),
            _ => tag.to_hex(),
        }
    }

    /// The head, the signature's header first.
    pub(crate) fn head(self, parts: &Parts, tag: &str) -> Fields {
        let (stamp, id) = (parts.stamp.as_str(), parts.id.as_str());
        let (signature, others): (String, Vec<(&str, &str)>) = match self {
            Self::Discord => (tag.to_owned(), vec![("x-signature-timestamp", stamp)]),
            Self::GitHub => (format!("sha256={tag}"), vec![]),
            Self::Slack => (
                format!("v0={tag}"),
                vec![("x-slack-request-timestamp", stamp)],
            ),
            Self::Standard => (
                format!("v1,{tag}"),
                vec![("webhook-id", id), ("webhook-timestamp", stamp)],
            ),
            Self::Stripe => (format!("t={stamp},v1={tag}"), vec![]),
            Self::Twilio => (tag.to_owned(), vec![]),
        };
        let first = (self.signature().to_owned(), signature.into_bytes());
        let others = others.into_iter();
        std::iter::once(first)
            .chain(others.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())))
            .collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
