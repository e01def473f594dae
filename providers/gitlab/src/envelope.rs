//! The signature headers, and what is known of GitLab.

use webhook_core::{
    Envelope, EventId, Grammar, Head, Identities, InvalidEvent, Malformed, Part, Provider,
    Redelivery, Relabelable, Resigns, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

use crate::event;

/// GitLab, with a signing token: webhooks of projects and groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to choose")]
pub struct GitLab;

/// GitLab, with a secret token that signs nothing: [`GitLab::dangerous_plain_token`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GitLabPlainToken(());

impl GitLab {
    /// Believe whoever shows the secret token, as before GitLab 19.0: nothing is signed, neither body nor id nor time.
    ///
    /// Whoever has seen one request, in a log or at a proxy, can send any other, until the token is changed.
    pub const fn dangerous_plain_token() -> GitLabPlainToken {
        GitLabPlainToken(())
    }
}

impl Provider for GitLab {
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
        let id = verified.signed_id().ok_or(InvalidEvent::Id)?;
        let identity = event::identity(id.clone(), verified.body())?;
        Ok([identity].into_iter().collect())
    }
}

impl Provider for GitLabPlainToken {
    type Identity = Relabelable;

    fn spec(&self) -> &Spec {
        &PLAIN
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let token = head.one(TOKEN)?;
        if token.is_empty() {
            return Err(Malformed::Grammar(TOKEN));
        }
        Ok(Envelope::dangerous_plain_token(token))
    }

    /// Nothing: whoever signs hands out no keys, and this scheme would.
    fn sign(&self, _with: &Signing<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let id = verified.unsigned_head().one("idempotency-key");
        let id = EventId::new(id.map_err(|_| InvalidEvent::Id)?)?;
        let body = verified.unsigned_body().ok_or(InvalidEvent::Body)?;
        let identity = event::identity(id, body)?.payload(body.clone());
        Ok([identity].into_iter().collect())
    }
}

static SPEC: Spec = facts(Spec::timestamped("gitlab", Window::FIVE_MINUTES))
    .secret_format(SecretFormat::Base64 { prefix: "whsec_" });

static PLAIN: Spec = facts(Spec::untimestamped("gitlab")).plain_token();

const fn facts(spec: Spec) -> Spec {
    spec.max_body_bytes(25 * 1024 * 1024)
        .kept_headers(&[
            "x-gitlab-event",
            "x-gitlab-event-uuid",
            "x-gitlab-instance",
            "x-gitlab-webhook-uuid",
        ])
        .redelivers(Redelivery::Unknown, Redelivery::Unknown)
        .resigns_on_retry(Resigns::Unknown)
}

const TOKEN: &str = "x-gitlab-token";

const WIRE: Wire = Wire::hmac_sha256(
    "webhook-signature",
    Grammar::Versioned {
        separator: ' ',
        mark: ',',
        version: "v1",
    },
    &[
        Part::Id,
        Part::Literal("."),
        Part::Timestamp,
        Part::Literal("."),
        Part::Body,
    ],
)
.base64()
.timestamp_header("webhook-timestamp")
.id_header("webhook-id");
