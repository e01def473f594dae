//! Events as they reach a ledger: signed, verified, identified.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use webhook_core::danger::trusted_arrival;
use webhook_core::{
    Account, ClaimScope, DynProvider, Envelope, EventId, EventType, Grammar, Head, Identities,
    Identity, InvalidEvent, Judged, KeyConfig, Keyring, Malformed, NewEvent, Part, Provider,
    Relabelable, SecretFormat, Signed, Signing, Spec, Verified, Window, Wire,
};

/// A delivery about to be made.
#[derive(Debug, Clone)]
pub struct Post {
    endpoint: String,
    id: String,
    event_type: String,
    account: Option<String>,
    tenant: Option<String>,
    content: String,
    body: Option<Bytes>,
    spaces: usize,
    secret: &'static str,
    is_ordered: bool,
    quarantine_bytes: Option<u64>,
}

/// Ids, types and accounts stand in the signed body.
#[derive(Debug)]
struct Strict;

/// Ids and types stand in unsigned headers.
#[derive(Debug)]
struct Loose;

#[derive(Serialize, Deserialize)]
struct Body {
    id: String,
    #[serde(rename = "type")]
    event_type: String,
    account: Option<String>,
    content: String,
}

impl Post {
    /// Of event `id`: type [`TYPE`], at [`ENDPOINT`], of no account, signed by one key.
    pub fn new(id: &str) -> Self {
        Self {
            endpoint: ENDPOINT.to_owned(),
            id: id.to_owned(),
            event_type: TYPE.to_owned(),
            account: None,
            tenant: None,
            content: "content".to_owned(),
            body: None,
            spaces: 0,
            secret: "whsec_0123456789abcdef01234567",
            is_ordered: false,
            quarantine_bytes: None,
        }
    }

    /// At an endpoint whose quarantine keeps so many bytes of payloads.
    #[must_use]
    pub fn quarantine_bytes(mut self, most: u64) -> Self {
        self.quarantine_bytes = Some(most);
        self
    }

    /// One at a time with all of the same content.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.is_ordered = true;
        self
    }

    /// Signed with another secret.
    #[must_use]
    pub fn secret(mut self, secret: &'static str) -> Self {
        self.secret = secret;
        self
    }

    /// At another endpoint.
    #[must_use]
    pub fn endpoint(mut self, name: &str) -> Self {
        name.clone_into(&mut self.endpoint);
        self
    }

    /// Of another type.
    #[must_use]
    pub fn event_type(mut self, name: &str) -> Self {
        name.clone_into(&mut self.event_type);
        self
    }

    /// Of this account.
    #[must_use]
    pub fn account(mut self, account: &str) -> Self {
        self.account = Some(account.to_owned());
        self
    }

    /// Signed with the key of this tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: &str) -> Self {
        self.tenant = Some(tenant.to_owned());
        self
    }

    /// With this content.
    #[must_use]
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.content = content.into();
        self
    }

    /// With this body, whatever it is: for [`loose`](Self::loose) alone, which reads nothing in it.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// The same content in other bytes.
    #[must_use]
    pub fn spaced(mut self) -> Self {
        self.spaces = 3;
        self
    }

    /// The fingerprint of the key that signs it.
    pub fn key_fingerprint(&self) -> webhook_core::KeyFingerprint {
        self.keys().fingerprints().next().unwrap()
    }

    /// From a provider that signs ids and types.
    pub fn strict(&self) -> NewEvent {
        let body = Body {
            id: self.id.clone(),
            event_type: self.event_type.clone(),
            account: self.account.clone(),
            content: self.content.clone(),
        };
        self.deliver(&Strict, serde_json::to_vec(&body).unwrap())
    }

    /// From a provider that does not.
    pub fn loose(&self) -> NewEvent {
        let body = match &self.body {
            Some(body) => body.to_vec(),
            None => serde_json::to_vec(&self.content).unwrap(),
        };
        self.deliver(&Loose, body)
    }

    fn deliver(&self, provider: &dyn DynProvider, mut body: Vec<u8>) -> NewEvent {
        body.resize(body.len() + self.spaces, b' ');
        let keys = self.keys();
        let signed = provider.sign(&Signing::new(&keys, &body, NOW));
        let unsigned = [
            ("x-id", self.id.as_str()),
            ("x-type", self.event_type.as_str()),
        ];
        // Only the loose provider reads these, and headers hold no other characters.
        let unsigned = unsigned.into_iter().filter(|(_, value)| value.is_ascii());
        let fields = signed.iter().map(|(name, value)| (*name, value.as_str()));
        let fields = fields.chain(unsigned);
        let head = Head::new(
            "POST",
            "/",
            fields.map(|(name, value)| (name, value.as_bytes())),
        )
        .unwrap();
        let now = trusted_arrival(NOW);
        let judged = Judged::judge(provider, &head, Window::FIVE_MINUTES, now).unwrap();
        let mut macs = judged.keyed(&keys, now, usize::MAX).unwrap();
        macs.update(Bytes::from(body)).unwrap();
        let verified = macs.finish(&head).unwrap();
        let identity = provider.identities(&verified).unwrap().remove(0);
        let order = self.is_ordered.then(|| vec!["content".to_owned()].into());
        let mut scope = ClaimScope::new(self.endpoint.as_str()).ordered_by(order);
        if let Some(most) = self.quarantine_bytes {
            scope = scope.quarantine_bytes(most);
        }
        NewEvent::new(&verified, identity, provider, &scope).unwrap()
    }

    fn keys(&self) -> Keyring {
        let format = SecretFormat::Text { prefix: "" };
        let keys = Keyring::build(format, [KeyConfig::new(self.secret).id("k1")]).unwrap();
        match &self.tenant {
            Some(tenant) => keys.principal(tenant.as_str()),
            None => keys,
        }
    }
}

impl Provider for Strict {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        static SPEC: Spec = Spec::untimestamped("strict").kept_headers(&["x-id"]);
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        WIRE.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let body: Body = verified.json()?;
        let account = body.account.as_deref().map(Account::new).transpose()?;
        let identity = Identity::new(EventId::new(&body.id)?, EventType::new(&body.event_type)?);
        Ok([identity.account(account)].into_iter().collect())
    }
}

impl Provider for Loose {
    type Identity = Relabelable;

    fn spec(&self) -> &Spec {
        static SPEC: Spec = Spec::untimestamped("loose");
        &SPEC
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        WIRE.read(head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        WIRE.write(with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let head = verified.unsigned_head();
        let id = head.one("x-id").map_err(|_| InvalidEvent::Id)?;
        let event_type = head.one("x-type").map_err(|_| InvalidEvent::Type)?;
        let identity = Identity::new(EventId::new(id)?, EventType::new(event_type)?);
        Ok([identity].into_iter().collect())
    }
}

/// The endpoint that deliveries go to unless they say otherwise.
pub const ENDPOINT: &str = "shop";
/// The type that events are of unless they say otherwise.
pub const TYPE: &str = "invoice.paid";

const WIRE: Wire = Wire::hmac_sha256("x-signature", Grammar::Prefixed("sha256="), &[Part::Body]);
const NOW: i64 = 1_750_000_000;
