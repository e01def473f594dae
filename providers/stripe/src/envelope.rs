//! The signature header, and what is known of Stripe.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Resigns, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event::{self, Wanted};

/// Stripe, and which of its events an endpoint wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripe(Wanted);

impl Stripe {
    /// Live-mode events of the account itself.
    pub const fn live() -> Self {
        Self(Wanted {
            livemode: Some(true),
            connected: Some(false),
            accounts: None,
        })
    }

    /// Test-mode events of the account itself.
    pub const fn test() -> Self {
        Self(Wanted {
            livemode: Some(false),
            ..Self::live().0
        })
    }

    /// Events of the account itself in both modes.
    ///
    /// Money that moves in test mode is not money: only for handlers that look at the mode themselves.
    pub const fn any_mode() -> Self {
        Self(Wanted {
            livemode: None,
            ..Self::live().0
        })
    }

    /// Events of connected accounts instead of the account's own.
    ///
    /// Whose they are is in the delivery's account.
    #[must_use]
    pub const fn connected_accounts(mut self) -> Self {
        self.0.connected = Some(true);
        self.0.accounts = None;
        self
    }

    /// Events of connected accounts beside the account's own.
    ///
    /// Handlers must tell them apart: a connected account can bring about any event it likes.
    #[must_use]
    pub const fn any_account(mut self) -> Self {
        self.0.connected = None;
        self.0.accounts = None;
        self
    }

    /// Events of these connected accounts (`acct_…`) and no others.
    ///
    /// For start-up: the list is kept until the process ends.
    #[must_use]
    pub fn accounts(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        self.0.connected = Some(true);
        self.0.accounts = Some(ids.leak());
        self
    }
}

impl Provider for Stripe {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        WIRE.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(self.0, verified.body())?;
        Ok([identity].into_iter().collect())
    }
}

static SPEC: Spec = Spec::timestamped("stripe", Window::FIVE_MINUTES)
    .secret_format(SecretFormat::Text { prefix: "whsec_" })
    .max_body_bytes(1024 * 1024)
    .payload_at(&["data", "object"])
    .volatile(&[&["pending_webhooks"]])
    .redelivers(
        Redelivery::For(Duration::from_hours(3 * 24)),
        Redelivery::For(Duration::from_hours(30 * 24)),
    )
    .resigns_on_retry(Resigns::Yes);

const WIRE: Wire = Wire::hmac_sha256(
    "stripe-signature",
    Grammar::Pairs {
        separator: ',',
        timestamp: "t",
        tag: "v1",
    },
    &[Part::Timestamp, Part::Literal("."), Part::Body],
);
