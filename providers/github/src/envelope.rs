//! The signature header, and what is known of GitHub.

use std::time::Duration;

use webhook_core::{
    Envelope, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider, Redelivery,
    Relabelable, Resigns, Signing, Spec, Verified, Wire,
};

use crate::{event, members};

/// GitHub, and which of an App's installations an endpoint wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GitHub {
    /// `None`: all, and hooks of repositories and organisations.
    installations: Option<&'static [u64]>,
}

/// GitHub: repository, organisation and App webhooks, all of them.
#[expect(
    non_upper_case_globals,
    reason = "the value of the type that needs no choice bears its name"
)]
pub const GitHub: GitHub = GitHub {
    installations: None,
};

impl GitHub {
    /// Only events of these installations of an App.
    ///
    /// All others are acknowledged, counted and not run: those of other installations, `installation` events of new
    /// ones included, and those without any, as repository hooks send.
    ///
    /// For start-up: the list is kept until the process ends.
    #[must_use]
    pub fn installations(mut self, ids: impl IntoIterator<Item = u64>) -> Self {
        let ids: Vec<u64> = ids.into_iter().collect();
        self.installations = Some(ids.leak());
        self
    }
}

impl Provider for GitHub {
    type Identity = Relabelable;

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
        event::identities(self.installations, verified)
    }

    fn corroborates(&self, event_type: &str, payload: &[u8]) -> bool {
        members::corroborate(event_type, payload)
    }
}

static SPEC: Spec = Spec::untimestamped("github")
    .max_body_bytes(25 * 1024 * 1024)
    .content_types(&["application/json", "application/x-www-form-urlencoded"])
    .kept_headers(&[
        "x-github-hook-id",
        "x-github-hook-installation-target-id",
        "x-github-hook-installation-target-type",
    ])
    // Two dispatches with equal inputs are two; a `ping` has nothing of its own but its maxim.
    .repeats_legitimately(&["ping", "repository_dispatch", "workflow_dispatch"])
    // Current documents say three days, older ones thirty: identities outlive the longer.
    .redelivers(
        Redelivery::Never,
        Redelivery::For(Duration::from_hours(30 * 24)),
    )
    .resigns_on_retry(Resigns::No);

const WIRE: Wire = Wire::hmac_sha256(
    "x-hub-signature-256",
    Grammar::Prefixed("sha256="),
    &[Part::Body],
);
