//! Claims: authentic events about to be stored, and the keys they take.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use smallvec::SmallVec;

use crate::bounds::QUARANTINE_BYTES;
use crate::canonical::canonical_digest;
use crate::digest::ContentDigest;
use crate::headers::KeptHeaders;
use crate::hex;
use crate::identity::{Account, EventId, EventType, Identity, InvalidEvent};
use crate::json;
use crate::keyring::KeyFingerprint;
use crate::ledger::{QuarantineId, TRANSACTION_ESCAPED};
use crate::provider::DynProvider;
use crate::reply::Reply;
use crate::rules::{Quarantine, State};
use crate::verify::Verified;

/// 32 bytes that at most one event holds in a ledger.
///
/// A hash over length-prefixed parts: no two lists of parts meet, an absent part differs from an
/// empty one, and every store compares it as bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClaimKey([u8; 32]);

/// What events that must run one at a time have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderKey([u8; 32]);

/// Where an event is claimed.
#[derive(Debug, Clone)]
pub struct ClaimScope {
    endpoint: Arc<str>,
    repeats_run: bool,
    secret_is_shared: bool,
    ordered_by: Option<Arc<[String]>>,
    quarantine_bytes: u64,
}

/// An authentic event about to be claimed. Made from [`Verified`] bytes only.
#[derive(Clone)]
pub struct NewEvent {
    by_id: ClaimKey,
    by_digest: Option<ClaimKey>,
    endpoint: Arc<str>,
    principal: Option<Arc<str>>,
    account: Option<Account>,
    id: EventId,
    event_type: EventType,
    pub(crate) relabelable: bool,
    digest: ContentDigest,
    key_fingerprint: KeyFingerprint,
    key_id: Option<Arc<str>>,
    signed_at: Option<i64>,
    payload: Bytes,
    headers: KeptHeaders,
    volatile: &'static [&'static [&'static str]],
    order_key: Option<OrderKey>,
    stored_as: StoredAs,
    quarantine_bytes: u64,
}

/// What a stored event is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoredAs {
    /// Run by a worker.
    Pending,
    /// Kept for a later replay.
    Ignored,
    /// Kept as a dead letter whose effect may stand.
    Escaped,
}

/// What a ledger made of a claim.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The event was completed before.
    Duplicate {
        /// The reply its handler gave, for inline events.
        reply: Option<Reply>,
    },
    /// Another delivery of the event holds it: it runs, or waits for its turn.
    InFlight,
    /// Kept in quarantine; no handler runs until an operator releases it.
    Quarantined(Quarantine),
    /// The event was dead and waits for its turn again.
    Revived,
    /// This delivery won the event and it is durable.
    Stored,
}

impl ClaimKey {
    /// From its stored bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key of an event by its id.
    pub(crate) fn by_id(
        endpoint: &str,
        principal: Option<&str>,
        account: Option<&str>,
        id: &str,
    ) -> Self {
        Self::of(
            b"id",
            &[Some(endpoint), principal, account, Some(id)].map(|part| part.map(str::as_bytes)),
        )
    }

    /// The key of a quarantined delivery that is released as an event of its own: nobody releases it
    /// twice, and no delivery ever wants it.
    pub fn by_release(quarantine: QuarantineId) -> Self {
        Self::of(b"release", &[Some(quarantine.as_bytes())])
    }

    fn by_digest(
        scope: &str,
        key: KeyFingerprint,
        digest: ContentDigest,
        topic: Option<&str>,
    ) -> Self {
        Self::of(
            b"digest",
            &[
                Some(scope.as_bytes()),
                Some(key.as_bytes()),
                Some(digest.as_bytes()),
                topic.map(str::as_bytes),
            ],
        )
    }

    fn of(kind: &[u8], parts: &[Option<&[u8]>]) -> Self {
        let mut hash = Sha256::new();
        for part in std::iter::once(&Some(kind)).chain(parts) {
            match part {
                None => hash.update([0]),
                Some(bytes) => {
                    hash.update([1]);
                    hash.update((bytes.len() as u64).to_be_bytes());
                    hash.update(bytes);
                }
            }
        }
        Self(hash.finalize().into())
    }
}

impl OrderKey {
    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for OrderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OrderKey({})", hex::encode(&self.0))
    }
}

impl ClaimScope {
    /// Claims of the endpoint with this stable name.
    pub fn new(endpoint: impl Into<Arc<str>>) -> Self {
        Self {
            endpoint: endpoint.into(),
            repeats_run: false,
            secret_is_shared: false,
            ordered_by: None,
            quarantine_bytes: QUARANTINE_BYTES,
        }
    }

    /// Types whose bodies may repeat run again under a new unsigned id, instead of going to quarantine.
    #[must_use]
    pub fn repeats_run(mut self, run: bool) -> Self {
        self.repeats_run = run;
        self
    }

    /// Events with one value at this path of member names run one at a time, in received order.
    #[must_use]
    pub fn ordered_by(mut self, path: Option<Arc<[String]>>) -> Self {
        self.ordered_by = path;
        self
    }

    /// Most bytes of payloads that quarantine keeps for the endpoint. Beyond them, and with 0 always,
    /// a delivery leaves its identity, its digests and the reason.
    #[must_use]
    pub fn quarantine_bytes(mut self, bytes: u64) -> Self {
        self.quarantine_bytes = bytes;
        self
    }

    /// Other endpoints use this one's secrets: digests are claimed for the key, not the endpoint.
    #[must_use]
    pub fn secret_is_shared(mut self, shared: bool) -> Self {
        self.secret_is_shared = shared;
        self
    }
}

impl NewEvent {
    /// The claim of one of a delivery's events.
    ///
    /// # Errors
    ///
    /// [`InvalidEvent::Account`] if the body names another account than the key's tenant.
    pub fn new(
        verified: &Verified<'_>,
        identity: Identity,
        provider: &dyn DynProvider,
        scope: &ClaimScope,
    ) -> Result<Self, InvalidEvent> {
        let Identity {
            id,
            event_type,
            account,
            payload,
            outside: _,
        } = identity;
        let principal = verified.principal().cloned();
        if let (Some(tenant), Some(account)) = (&principal, &account)
            && **tenant != *account.as_str()
        {
            return Err(InvalidEvent::Account);
        }
        let spec = provider.spec();
        let payload = payload.unwrap_or_else(|| verified.body().clone());
        let digest = ContentDigest::from_bytes(Sha256::digest(&payload).into());
        let key = verified.key();
        let relabelable = !provider.signs_identity();
        let repeats = scope.repeats_run && spec.may_repeat(event_type.as_str());
        let by_digest = (relabelable && !repeats).then(|| {
            let scope = if scope.secret_is_shared {
                ""
            } else {
                &scope.endpoint
            };
            let topic = spec.shares_bodies().then(|| event_type.as_str());
            ClaimKey::by_digest(scope, key.fingerprint(), digest, topic)
        });
        Ok(Self {
            by_id: ClaimKey::by_id(
                &scope.endpoint,
                principal.as_deref(),
                account.as_ref().map(Account::as_str),
                id.as_str(),
            ),
            by_digest,
            endpoint: scope.endpoint.clone(),
            principal,
            account,
            id,
            event_type,
            relabelable,
            digest,
            key_fingerprint: key.fingerprint(),
            key_id: key.id().cloned(),
            signed_at: verified.signed_at(),
            payload,
            headers: KeptHeaders::read(verified.unsigned_head(), spec.headers_to_keep()),
            volatile: spec.volatile_paths(),
            order_key: None,
            stored_as: StoredAs::Pending,
            quarantine_bytes: scope.quarantine_bytes,
        }
        .ordered(scope))
    }

    /// Keep it for a later replay instead of letting it run: no handler takes its type.
    #[must_use]
    pub fn ignored(mut self) -> Self {
        self.stored_as = StoredAs::Ignored;
        self
    }

    /// Keep it as a dead letter whose handler ended the transaction itself: the effect may stand, and
    /// only an operator runs it again.
    #[must_use]
    pub fn escaped(mut self) -> Self {
        self.stored_as = StoredAs::Escaped;
        self
    }

    /// What events that run one at a time have in common. No key where the payload has no such member.
    fn ordered(mut self, scope: &ClaimScope) -> Self {
        let value = scope.ordered_by.as_ref().and_then(|path| {
            let path: SmallVec<[&str; 4]> = path.iter().map(String::as_str).collect();
            json::at(&self.payload, &path)
                .ok()
                .and_then(|value| canonical_digest(value.as_bytes(), &[]))
        });
        self.order_key = value.map(|value| {
            let parts = [
                Some(self.endpoint.as_bytes()),
                self.principal().map(str::as_bytes),
                Some(&value[..]),
            ];
            OrderKey(ClaimKey::of(b"order", &parts).0)
        });
        self
    }

    /// Digest of the payload's canonical form; `None` where it is no JSON. Not on the hot path.
    pub fn canonical(&self) -> Option<ContentDigest> {
        self.canonical_of(&self.payload)
    }

    pub(crate) fn canonical_of(&self, payload: &[u8]) -> Option<ContentDigest> {
        canonical_digest(json::without_bom(payload), self.volatile).map(ContentDigest::from_bytes)
    }

    /// The keys it claims, ascending: every ledger inserts in this order, so none deadlocks.
    pub fn keys(&self) -> SmallVec<[ClaimKey; 2]> {
        let mut keys: SmallVec<[ClaimKey; 2]> =
            [self.by_id].into_iter().chain(self.by_digest).collect();
        keys.sort_unstable();
        keys
    }

    /// The key of its id.
    pub fn id_key(&self) -> ClaimKey {
        self.by_id
    }

    /// The key of its content, where the id is unsigned.
    pub fn digest_key(&self) -> Option<ClaimKey> {
        self.by_digest
    }

    /// The endpoint's name.
    pub fn endpoint(&self) -> &Arc<str> {
        &self.endpoint
    }

    /// The tenant.
    pub fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    /// The account.
    pub fn account(&self) -> Option<&str> {
        self.account.as_ref().map(Account::as_str)
    }

    /// The event's id.
    pub fn id(&self) -> &EventId {
        &self.id
    }

    /// The event's type.
    pub fn event_type(&self) -> &EventType {
        &self.event_type
    }

    /// SHA-256 of the payload.
    pub fn digest(&self) -> ContentDigest {
        self.digest
    }

    /// The key that verified it.
    pub fn key_fingerprint(&self) -> KeyFingerprint {
        self.key_fingerprint
    }

    /// That key's id.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// The signed timestamp.
    pub fn signed_at(&self) -> Option<i64> {
        self.signed_at
    }

    /// The event's JSON.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Events with an equal key run one at a time, in the order in which they were stored.
    pub fn order_key(&self) -> Option<OrderKey> {
        self.order_key
    }

    /// The state it is stored in.
    pub fn first_state(&self) -> State {
        match self.stored_as {
            StoredAs::Pending => State::Pending,
            StoredAs::Ignored => State::Ignored,
            StoredAs::Escaped => State::Dead,
        }
    }

    /// The error it is stored with: [`TRANSACTION_ESCAPED`] for a dead letter.
    pub fn first_error(&self) -> Option<&'static str> {
        (self.stored_as == StoredAs::Escaped).then_some(TRANSACTION_ESCAPED)
    }

    /// Most bytes of payloads that quarantine keeps for its endpoint.
    pub fn quarantine_bytes(&self) -> u64 {
        self.quarantine_bytes
    }

    /// Unsigned headers worth keeping.
    pub fn headers(&self) -> &KeptHeaders {
        &self.headers
    }
}

impl fmt::Debug for ClaimKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClaimKey({})", hex::encode(&self.0))
    }
}

impl fmt::Debug for NewEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewEvent")
            .field("endpoint", &self.endpoint)
            .field("id", &self.id)
            .field("event_type", &self.event_type)
            .field("payload_bytes", &self.payload.len())
            .finish_non_exhaustive()
    }
}
