//! The signature headers, and what is known of Slack.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Handshake, Head, Identities, InvalidEvent, Malformed, Part, Provider,
    Redelivery, Resigns, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// Slack, and which workspaces an endpoint wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slack {
    /// `None`: all.
    workspaces: Option<&'static [String]>,
}

/// Slack: Events API, slash commands and interactivity of one app, in all workspaces.
#[expect(
    non_upper_case_globals,
    reason = "the value of the type that needs no choice bears its name"
)]
pub const Slack: Slack = Slack { workspaces: None };

impl Slack {
    /// Only events of these workspaces, by id (`T…`), or of all workspaces of these organisations (`E…`).
    ///
    /// All others are acknowledged, counted and not run. Handshakes are answered all the same.
    ///
    /// For start-up: the list is kept until the process ends.
    #[must_use]
    pub fn workspaces(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        self.workspaces = Some(ids.leak());
        self
    }
}

impl Provider for Slack {
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
        let identity = event::identity(self.workspaces, verified.body())?;
        Ok([identity].into_iter().collect())
    }

    fn handshake(&self, verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
        event::handshake(verified.body())
    }
}

static SPEC: Spec = Spec::timestamped("slack", Window::FIVE_MINUTES)
    .content_types(&["application/json", "application/x-www-form-urlencoded"])
    .payload_at(&["event"])
    .kept_headers(&["x-slack-retry-num", "x-slack-retry-reason"])
    .redelivers(Redelivery::For(Duration::from_hours(24)), Redelivery::Never)
    .resigns_on_retry(Resigns::Unknown);

const WIRE: Wire = Wire::hmac_sha256(
    "x-slack-signature",
    Grammar::Prefixed("v0="),
    &[
        Part::Literal("v0:"),
        Part::Timestamp,
        Part::Literal(":"),
        Part::Body,
    ],
)
.timestamp_header("x-slack-request-timestamp");
