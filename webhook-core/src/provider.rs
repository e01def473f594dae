//! A provider as data: where its signature stands, what it covers, who its events are.

use std::fmt::Debug;
use std::time::Duration;

use bytes::Bytes;

use crate::bounds::MAX_ECHO_BYTES;
use crate::envelope::Envelope;
use crate::head::{Head, Malformed};
use crate::identity::{Identities, IdentityKind, InvalidEvent};
use crate::keyring::SecretFormat;
use crate::sign::Signing;
use crate::timestamp::TimestampForm;
use crate::verify::Verified;
use crate::window::Window;

/// A sender of webhooks. Contains no cryptography, no clock and no storage.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a webhook provider",
    label = "expected a type that implements `Provider`",
    note = "provider crates export one such type each, for example `webhook_github::GitHub`"
)]
pub trait Provider: Debug + Send + Sync + 'static {
    /// [`crate::identity::Signed`], or [`crate::identity::Relabelable`] where ids or types stand in unsigned headers.
    type Identity: IdentityKind;

    /// The declared facts.
    fn spec(&self) -> &Spec;

    /// What the head claims about its signature.
    ///
    /// # Errors
    ///
    /// [`Malformed`] for everything outside the grammar. Never panics on any head.
    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed>;

    /// The headers that carry a signature: the dual of [`Provider::envelope`].
    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)>;

    /// The body with its envelope in it, around the event that is [`Signing::body`]: the dual of
    /// [`Envelope::in_body`]. `None` for schemes that sign in headers, and for what they cannot sign.
    fn enclose(&self, _with: &Signing<'_>) -> Option<Vec<u8>> {
        None
    }

    /// Whose events these bytes are.
    ///
    /// # Errors
    ///
    /// [`InvalidEvent`] for authentic bytes that are no event. Never panics on any body.
    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent>;

    /// The answer to a handshake, if these bytes are one. Asked before [`Provider::identities`].
    ///
    /// # Errors
    ///
    /// [`InvalidEvent`] for a handshake that must not be answered.
    fn handshake(&self, _verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
        Ok(None)
    }

    /// The answer to a GET: a challenge that comes before there is anything to sign. Asked only of a provider whose
    /// [`Spec::answers_get`] says so; `None` is answered 403.
    ///
    /// Anybody can send one. It can claim and run nothing, and must say nothing but what it was sent:
    /// [`Handshake::echo`].
    fn greet(&self, _head: &Head<'_>) -> Option<Handshake> {
        None
    }

    /// Whether `payload` can be an event of this type, where the type is not signed.
    ///
    /// A body under a label it does not bear is quarantined without spending its claim keys.
    fn corroborates(&self, _event_type: &str, _payload: &[u8]) -> bool {
        true
    }
}

/// [`Provider`] without its associated type. Implemented for every provider.
pub trait DynProvider: Debug + Send + Sync + 'static {
    /// See [`Provider::spec`].
    fn spec(&self) -> &Spec;
    /// Whether ids and types are signed.
    fn signs_identity(&self) -> bool;
    /// See [`Provider::envelope`].
    ///
    /// # Errors
    ///
    /// As there.
    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed>;
    /// See [`Provider::sign`].
    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)>;
    /// See [`Provider::enclose`].
    fn enclose(&self, with: &Signing<'_>) -> Option<Vec<u8>>;
    /// See [`Provider::identities`].
    ///
    /// # Errors
    ///
    /// As there.
    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent>;
    /// See [`Provider::handshake`].
    ///
    /// # Errors
    ///
    /// As there.
    fn handshake(&self, verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent>;
    /// See [`Provider::greet`].
    fn greet(&self, head: &Head<'_>) -> Option<Handshake>;
    /// See [`Provider::corroborates`].
    fn corroborates(&self, event_type: &str, payload: &[u8]) -> bool;
}

/// The answer to a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handshake {
    /// Media type of the answer, empty where there is none; sent with `X-Content-Type-Options: nosniff`.
    pub content_type: &'static str,
    /// The answer.
    pub body: Bytes,
}

/// Whether and how long a provider sends an unanswered delivery again.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redelivery {
    /// For at most this long after the first attempt.
    For(Duration),
    /// Never.
    Never,
    /// Not documented: identities are kept until an operator says otherwise.
    Unknown,
}

/// Whether a retry carries a fresh timestamp and signature.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resigns {
    /// It repeats the first one: the window must reach as far as the retries do.
    No,
    /// Not documented.
    Unknown,
    /// It does.
    Yes,
}

/// The declared facts of a provider. Built in a `static` by `const` setters.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that have nothing to do with each other, each set by its name"
)]
pub struct Spec {
    name: &'static str,
    window: Option<Window>,
    timestamp_at: Option<(&'static [&'static str], TimestampForm)>,
    secret: SecretFormat,
    max_body_bytes: usize,
    success_status: u16,
    content_types: &'static [&'static str],
    payload_at: &'static [&'static str],
    volatile: &'static [&'static [&'static str]],
    kept_headers: &'static [&'static str],
    proves_key: bool,
    answers_get: bool,
    envelope_in_body: bool,
    plain_token: bool,
    names_certificate: bool,
    repeating: &'static [&'static str],
    topics_share_bodies: bool,
    automatic: Redelivery,
    manual: Redelivery,
    resigns: Resigns,
    refusals_are_final: bool,
}

impl Spec {
    /// A provider that signs a timestamp, judged in `window`.
    pub const fn timestamped(name: &'static str, window: Window) -> Self {
        Self::new(name, Some(window))
    }

    /// A provider that signs no timestamp: a captured request stays valid as long as its key.
    pub const fn untimestamped(name: &'static str) -> Self {
        Self::new(name, None)
    }

    const fn new(name: &'static str, window: Option<Window>) -> Self {
        Self {
            name,
            window,
            timestamp_at: None,
            secret: SecretFormat::Text { prefix: "" },
            max_body_bytes: 1024 * 1024,
            success_status: 200,
            content_types: &["application/json"],
            payload_at: &[],
            volatile: &[],
            kept_headers: &[],
            proves_key: false,
            answers_get: false,
            envelope_in_body: false,
            plain_token: false,
            names_certificate: false,
            repeating: &[],
            topics_share_bodies: false,
            automatic: Redelivery::Unknown,
            manual: Redelivery::Unknown,
            resigns: Resigns::Unknown,
            refusals_are_final: false,
        }
    }

    /// The timestamp is no header: it stands in the signed body, at this path of member names, as a JSON number or, in
    /// RFC 3339, as a string. It is judged once the signature holds. Signing does not put it there.
    #[must_use]
    pub const fn timestamp_in_body(
        mut self,
        path: &'static [&'static str],
        form: TimestampForm,
    ) -> Self {
        self.timestamp_at = Some((path, form));
        self
    }

    /// How configured secrets become key bytes. Default: the text.
    #[must_use]
    pub const fn secret_format(mut self, format: SecretFormat) -> Self {
        self.secret = format;
        self
    }

    /// Largest body it sends. Default: 1 MiB.
    #[must_use]
    pub const fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    /// The status it takes for success. Default: 200.
    #[must_use]
    pub const fn success_status(mut self, status: u16) -> Self {
        self.success_status = status;
        self
    }

    /// Media types it sends, lower case, without parameters. Default: JSON.
    #[must_use]
    pub const fn content_types(mut self, types: &'static [&'static str]) -> Self {
        self.content_types = types;
        self
    }

    /// Where the payload of interest lies in the event's JSON. Default: the whole.
    #[must_use]
    pub const fn payload_at(mut self, path: &'static [&'static str]) -> Self {
        self.payload_at = path;
        self
    }

    /// Members that differ between deliveries of one event, as paths from the root.
    #[must_use]
    pub const fn volatile(mut self, paths: &'static [&'static [&'static str]]) -> Self {
        self.volatile = paths;
        self
    }

    /// Unsigned headers worth storing with the event, lower case.
    #[must_use]
    pub const fn kept_headers(mut self, names: &'static [&'static str]) -> Self {
        self.kept_headers = names;
        self
    }

    /// Its handshake asks for a proof of the key: see [`Verified::proof`]. Only for schemes whose signed content
    /// always holds a character that no challenge may hold, a `:` for example: else a proof could be a signature.
    #[must_use]
    pub const fn asks_for_proof(mut self) -> Self {
        self.proves_key = true;
        self
    }

    /// It sends a challenge as a GET when a URL is registered, unsigned: see [`Provider::greet`].
    #[must_use]
    pub const fn answers_get(mut self) -> Self {
        self.answers_get = true;
        self
    }

    /// Its signature stands in the body, and signs members of it: see [`Envelope::in_body`].
    #[must_use]
    pub const fn envelope_in_body(mut self) -> Self {
        self.envelope_in_body = true;
        self
    }

    /// It signs nothing and shows its secret instead: see [`Envelope::dangerous_plain_token`].
    #[must_use]
    pub const fn plain_token(mut self) -> Self {
        self.plain_token = true;
        self
    }

    /// It says at which URL the certificate stands that verifies it: see [`Envelope::certified_at`].
    #[must_use]
    pub const fn names_certificate(mut self) -> Self {
        self.names_certificate = true;
        self
    }

    /// Types whose bodies may repeat byte for byte with no replay intended. An endpoint
    /// that handles one must say what a repeat is.
    #[must_use]
    pub const fn repeats_legitimately(mut self, types: &'static [&'static str]) -> Self {
        self.repeating = types;
        self
    }

    /// One change may be reported under several types with equal bodies.
    #[must_use]
    pub const fn topics_share_bodies(mut self) -> Self {
        self.topics_share_bodies = true;
        self
    }

    /// How long it redelivers by itself, and at somebody's request.
    #[must_use]
    pub const fn redelivers(mut self, automatic: Redelivery, manual: Redelivery) -> Self {
        self.automatic = automatic;
        self.manual = manual;
        self
    }

    /// Whether a retry is signed anew.
    #[must_use]
    pub const fn resigns_on_retry(mut self, resigns: Resigns) -> Self {
        self.resigns = resigns;
        self
    }

    /// What was answered with a 4xx it never sends again. A delivery whose refusal may be our own fault, a key that was
    /// replaced for example, is then answered 503.
    #[must_use]
    pub const fn takes_refusals_as_final(mut self) -> Self {
        self.refusals_are_final = true;
        self
    }

    /// Its name, lower case; the default name of an endpoint.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it signs a timestamp.
    pub fn is_timestamped(&self) -> bool {
        self.window.is_some()
    }

    /// Where in the signed body its timestamp stands, and how it is spelled.
    pub fn body_timestamp(&self) -> Option<(&'static [&'static str], TimestampForm)> {
        self.timestamp_at
    }

    /// Its replay window.
    ///
    /// Where retries repeat the first timestamp, the past reaches as far as the automatic retries:
    /// identities are kept longer than that.
    pub fn window(&self) -> Option<Window> {
        let window = self.window?;
        match (self.resigns, self.automatic) {
            (Resigns::No, Redelivery::For(horizon)) => {
                let past = Duration::from_secs(horizon.as_secs());
                Some(Window::new(past.max(window.past()), window.future()).unwrap_or(window))
            }
            _ => Some(window),
        }
    }

    /// How configured secrets become key bytes.
    pub fn secret(&self) -> SecretFormat {
        self.secret
    }

    /// Largest body it sends.
    pub fn body_cap(&self) -> usize {
        self.max_body_bytes
    }

    /// The status it takes for success.
    pub fn success(&self) -> u16 {
        self.success_status
    }

    /// The media types it sends, lower case, without parameters.
    pub fn media_types(&self) -> &'static [&'static str] {
        self.content_types
    }

    /// Whether it sends bodies of this `Content-Type` value. Parameters do not matter.
    pub fn accepts_content_type(&self, value: &str) -> bool {
        let essence = value.split(';').next().unwrap_or_default().trim();
        self.content_types
            .iter()
            .any(|known| known.eq_ignore_ascii_case(essence))
    }

    /// Where the payload lies.
    pub fn payload_path(&self) -> &'static [&'static str] {
        self.payload_at
    }

    /// Members left out when contents are compared.
    pub fn volatile_paths(&self) -> &'static [&'static [&'static str]] {
        self.volatile
    }

    /// Unsigned headers stored with the event.
    pub fn headers_to_keep(&self) -> &'static [&'static str] {
        self.kept_headers
    }

    /// Whether its handshake asks for a proof of the key.
    pub fn proves_key(&self) -> bool {
        self.proves_key
    }

    /// Whether its signature stands in the body.
    pub fn has_envelope_in_body(&self) -> bool {
        self.envelope_in_body
    }

    /// Whether it shows its secret and signs nothing.
    pub fn is_plain_token(&self) -> bool {
        self.plain_token
    }

    /// Whether it says where its certificate stands.
    pub fn has_certificate(&self) -> bool {
        self.names_certificate
    }

    /// Whether it sends a challenge as a GET.
    pub fn is_greeted(&self) -> bool {
        self.answers_get
    }

    /// Whether bodies of this type may repeat with no replay intended.
    pub fn may_repeat(&self, event_type: &str) -> bool {
        self.repeating.contains(&event_type)
    }

    /// Types whose bodies may repeat.
    pub fn repeating_types(&self) -> &'static [&'static str] {
        self.repeating
    }

    /// Whether one body may come under several types.
    pub fn shares_bodies(&self) -> bool {
        self.topics_share_bodies
    }

    /// How long it redelivers by itself.
    pub fn automatic(&self) -> Redelivery {
        self.automatic
    }

    /// How long somebody can ask for a redelivery.
    pub fn manual(&self) -> Redelivery {
        self.manual
    }

    /// Whether it never sends again what was answered with a 4xx.
    pub fn refusals_are_final(&self) -> bool {
        self.refusals_are_final
    }

    /// Whether a retry is signed anew.
    pub fn resigns(&self) -> Resigns {
        self.resigns
    }
}

impl Handshake {
    /// Send an unsigned challenge back in plain text, if it is 1 to [`MAX_ECHO_BYTES`] letters, digits, `-`, `.`, `_` or
    /// `~`: nothing that means anything to whoever reads it, were it markup, a header or a signature.
    pub fn echo(challenge: &str) -> Option<Self> {
        let allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        let fits = (1..=MAX_ECHO_BYTES).contains(&challenge.len());
        (fits && challenge.bytes().all(allowed)).then(|| Self::plain(challenge.to_owned()))
    }

    /// An answer in plain text.
    pub fn plain(body: impl Into<Bytes>) -> Self {
        Self {
            content_type: "text/plain; charset=utf-8",
            body: body.into(),
        }
    }

    /// An answer without a body, whose status says so: 204.
    pub fn no_content() -> Self {
        Self {
            content_type: "",
            body: Bytes::new(),
        }
    }

    /// Whether it is [`Handshake::no_content`].
    pub fn is_no_content(&self) -> bool {
        self.content_type.is_empty()
    }

    /// An answer in JSON.
    pub fn json(body: impl Into<Bytes>) -> Self {
        Self {
            content_type: "application/json",
            body: body.into(),
        }
    }
}

impl<P: Provider> DynProvider for P {
    fn spec(&self) -> &Spec {
        Provider::spec(self)
    }

    fn signs_identity(&self) -> bool {
        P::Identity::SIGNED
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Provider::envelope(self, head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        Provider::sign(self, with)
    }

    fn enclose(&self, with: &Signing<'_>) -> Option<Vec<u8>> {
        Provider::enclose(self, with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        Provider::identities(self, verified)
    }

    fn handshake(&self, verified: &Verified<'_>) -> Result<Option<Handshake>, InvalidEvent> {
        Provider::handshake(self, verified)
    }

    fn greet(&self, head: &Head<'_>) -> Option<Handshake> {
        Provider::greet(self, head)
    }

    fn corroborates(&self, event_type: &str, payload: &[u8]) -> bool {
        Provider::corroborates(self, event_type, payload)
    }
}
