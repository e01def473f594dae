//! From a judged head to authentic bytes: checks begun, fed, compared. Each step takes `self`.

use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use hmac::{Hmac, Mac};
use serde::Deserialize;
use sha2::Sha256;
use smallvec::SmallVec;
use subtle::{Choice, ConditionallySelectable as _};

use crate::algorithm::Algorithm;
use crate::body_timestamp::BodyTimestamp;
use crate::bounds::MAX_PROOF_BYTES;
use crate::check::Check;
use crate::envelope::{Candidate, Envelope};
use crate::head::{Head, Malformed};
use crate::identity::{EventId, InvalidEvent};
use crate::json;
use crate::keyring::{Key, KeyFingerprint, Keyring};
use crate::standing::Standing;
use crate::tag::Tag;
use crate::timestamp::Arrival;
use crate::untrusted::{ReadBody, UntrustedBody};
use crate::window::{Freshness, Window};

/// Checks under way: feed it the body as it arrives.
///
/// It keeps the very bytes it hashes, so that what is verified is what is parsed.
pub struct Verifier {
    // One in place: this struct is moved at every step, and few endpoints rotate a key at any time.
    lanes: SmallVec<[Lane; 1]>,
    candidates: SmallVec<[Tried; 2]>,
    /// What stands around the body in each content.
    contents: SmallVec<[Around; 1]>,
    standing: Standing,
    principal: Option<Arc<str>>,
    body: Body,
    max_body_bytes: usize,
    freshness: Freshness,
    in_body: Option<Box<BodyTimestamp>>,
    /// Where there are no lanes yet: the envelope stands in the body.
    deferred: Option<Box<KeyedLater>>,
    /// A fresh MAC for each lane, where the provider's handshake asks for a proof of the key.
    provers: Vec<Option<Hmac<Sha256>>>,
    signed_at: Option<i64>,
    signed_id: Option<EventId>,
}

/// What was judged of an envelope beside its signatures.
pub(crate) struct Terms {
    pub(crate) freshness: Freshness,
    /// A timestamp inside the body, judged once the signature holds.
    pub(crate) in_body: Option<Box<BodyTimestamp>>,
    /// Keep what [`Verified::proof`] needs.
    pub(crate) proves_key: bool,
    pub(crate) max_body_bytes: usize,
}

/// How an envelope is read and judged that stands in the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deferred {
    pub(crate) read: ReadBody,
    pub(crate) timestamped: bool,
    pub(crate) window: Window,
}

/// The same, and what [`Verifier::begin`] will want.
struct KeyedLater {
    deferred: Deferred,
    keys: Option<Keyring>,
    now: Arrival,
}

/// Authentic bytes and the key that made them so. Only [`Verifier::finish`] makes one.
pub struct Verified<'h> {
    head: &'h Head<'h>,
    body: Bytes,
    /// The body as received, where only some of its members are signed.
    around: Option<Bytes>,
    key: MatchedKey,
    principal: Option<Arc<str>>,
    prover: Option<Box<Hmac<Sha256>>>,
    signed_at: Option<i64>,
    signed_id: Option<EventId>,
}

/// Which key verified a delivery.
#[derive(Debug, Clone)]
pub struct MatchedKey {
    id: Option<Arc<str>>,
    fingerprint: KeyFingerprint,
    is_retiring: bool,
}

/// Why a delivery is not authentic, or not any more. The sender sees one generic answer for all
/// but [`Rejection::TooLarge`].
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Signed for a moment too far ahead of our clock.
    #[error("signed {by_secs} seconds ahead of our clock")]
    Future {
        /// Distance to our clock.
        by_secs: u64,
        /// The signature was checked and holds: the alert worth having.
        authentic: bool,
    },
    /// No envelope of the provider's grammar.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// No live key produces a signature presented.
    #[error("signature does not match")]
    SignatureMismatch,
    /// Signed too long ago.
    #[error("signed {by_secs} seconds before our clock")]
    Stale {
        /// Distance to our clock.
        by_secs: u64,
        /// The signature was checked and holds: late retries, drifted clocks, or a replay.
        authentic: bool,
    },
    /// The body is longer than the endpoint's cap.
    #[error("body is longer than {max_bytes} bytes")]
    TooLarge {
        /// The cap.
        max_bytes: usize,
    },
    /// No candidate names a live key.
    #[error("key id is unknown or retired")]
    UnknownKey,
}

/// One key's check of one content, by one algorithm.
struct Lane {
    key: MatchedKey,
    algorithm: Algorithm,
    /// Which of the contents.
    content: usize,
    check: Check,
}

/// A signature, and the lanes it is tried in: a bit each.
struct Tried {
    lanes: u16,
    tag: Tag,
}

/// What stands before the body, kept only where a check needs the content whole, and after it.
#[derive(Default)]
struct Around {
    prefix: Vec<u8>,
    suffix: Vec<u8>,
}

/// The body so far. One chunk is kept as it came, more are joined.
enum Body {
    Whole(Bytes),
    Joined(BytesMut),
}

impl Verifier {
    /// Take up the keys live at `now` that a candidate may have been made with, and begin their checks.
    pub(crate) fn begin(
        envelope: &mut Envelope<'_>,
        terms: Terms,
        keys: &Keyring,
        now: Arrival,
    ) -> Result<Self, Rejection> {
        let Envelope {
            id,
            timestamp,
            candidates,
            contents,
            in_body: _,
            is_plain_token: _,
            certificate: _,
        } = envelope;
        let id = id.take();
        let mut lanes: SmallVec<[Lane; 1]> = SmallVec::new();
        for content in 0..contents.len() {
            for key in keys.live(now) {
                for candidate in &*candidates {
                    let begun = |lane: &Lane| lane.is_of(key, candidate.algorithm, content);
                    if candidate.key_id.is_some_and(|id| !key.is_named(id))
                        || lanes.iter().any(begun)
                    {
                        continue;
                    }
                    // A key is tried by its own algorithm alone, whatever the sender writes.
                    if let Some(check) = key.material().check(candidate.algorithm) {
                        lanes.push(Lane::new(key, candidate.algorithm, content, check));
                    }
                }
            }
        }
        let mut kept = SmallVec::new();
        for candidate in candidates.drain(..) {
            let lanes = lanes_of(&candidate, &lanes);
            // None for an unknown id, or another kind of key, beside a known one.
            if lanes != 0 {
                let tag = candidate.tag;
                kept.push(Tried { lanes, tag });
            }
        }
        if kept.is_empty() {
            return Err(Rejection::UnknownKey);
        }
        // `Envelope::check`: what stands in the content is there.
        let signed_id = id.as_ref().map_or(&b""[..], |id| id.as_str().as_bytes());
        let stamp = timestamp.map_or(&b""[..], |stamp| stamp.text().as_bytes());
        let needs_content = lanes.iter().any(|lane| lane.check.needs_content());
        let mut arounds: SmallVec<[Around; 1]> = SmallVec::new();
        for (nth, content) in contents.iter().enumerate() {
            let mut around = Around::default();
            let mut segments = content.iter();
            for segment in segments.by_ref() {
                let Some(bytes) = segment.beside_body(signed_id, stamp) else {
                    break;
                };
                for lane in &mut lanes {
                    if lane.content == nth {
                        lane.check.update(bytes);
                    }
                }
                if needs_content {
                    around.prefix.extend_from_slice(bytes);
                }
            }
            // `Envelope::check`: there is only one body.
            for bytes in segments.filter_map(|segment| segment.beside_body(signed_id, stamp)) {
                around.suffix.extend_from_slice(bytes);
            }
            arounds.push(around);
        }
        // `Envelope::check`: it stands alike in all of them.
        let standing = contents
            .first()
            .map_or_else(Standing::default, |first| Standing::of(first));
        let fresh = |lane: &Lane| {
            let key = keys.by_fingerprint(lane.key.fingerprint)?;
            key.material().hmac_sha256()
        };
        let provers = if terms.proves_key {
            lanes.iter().map(fresh).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            lanes,
            candidates: kept,
            contents: arounds,
            standing,
            principal: keys.owner().cloned(),
            body: Body::default(),
            max_body_bytes: terms.max_body_bytes,
            freshness: terms.freshness,
            in_body: terms.in_body,
            deferred: None,
            provers,
            signed_at: timestamp.map(|timestamp| timestamp.unix_secs()),
            signed_id: id,
        })
    }

    /// Collect the body first: the envelope stands in it.
    pub(crate) fn defer(
        deferred: Deferred,
        keys: Option<&Keyring>,
        now: Arrival,
        max_body_bytes: usize,
    ) -> Self {
        Self {
            lanes: SmallVec::new(),
            candidates: SmallVec::new(),
            contents: SmallVec::new(),
            standing: Standing::default(),
            principal: None,
            body: Body::default(),
            max_body_bytes,
            freshness: Freshness::Fresh,
            in_body: None,
            deferred: Some(Box::new(KeyedLater {
                deferred,
                keys: keys.cloned(),
                now,
            })),
            provers: Vec::new(),
            signed_at: None,
            signed_id: None,
        }
    }

    /// Feed the next piece of the raw body.
    ///
    /// # Errors
    ///
    /// [`Rejection::TooLarge`] as soon as the cap is passed; nothing is truncated.
    pub fn update(&mut self, chunk: Bytes) -> Result<(), Rejection> {
        if chunk.len() > self.max_body_bytes.saturating_sub(self.body.len()) {
            return Err(Rejection::TooLarge {
                max_bytes: self.max_body_bytes,
            });
        }
        if self.standing.update(&chunk) {
            let lanes = self.lanes.iter_mut();
            lanes.for_each(|lane| lane.check.update(&chunk));
        }
        self.body.push(chunk);
        Ok(())
    }

    /// Where the certificate stands that verifies a whole body, as the body says: a stranger's word. `None` where
    /// keys are there already, or it names none.
    ///
    /// # Errors
    ///
    /// [`Rejection::Malformed`] for a body without an envelope.
    pub fn certificate(&mut self) -> Result<Option<String>, Rejection> {
        let Some(later) = self
            .deferred
            .as_deref()
            .filter(|later| later.keys.is_none())
        else {
            return Ok(None);
        };
        let read = later.deferred.read;
        let body = std::mem::take(&mut self.body).into_bytes();
        let certificate = read(UntrustedBody::new(&body))
            .map(|envelope| envelope.certificate.map(|url| url.into_owned()));
        self.body = Body::Whole(body);
        Ok(certificate?)
    }

    /// Use these keys for an envelope that stands in the body. Those for one in the head were taken up before.
    pub fn use_keys(&mut self, keys: &Keyring) {
        if let Some(later) = self.deferred.as_deref_mut() {
            later.keys = Some(keys.clone());
        }
    }

    /// Compare every candidate with every key it may be tried with, without an early exit; MACs in constant time.
    ///
    /// # Errors
    ///
    /// [`Rejection::SignatureMismatch`]; [`Rejection::Stale`] and [`Rejection::Future`] with
    /// `authentic` for a signature that holds outside its window; [`Malformed::Timestamp`] for an
    /// authentic body without the timestamp that its provider puts there; [`Malformed::Body`] for one that is not
    /// of the form which its signature needs. Of an envelope that stands in the body also what [`Judged`](crate::Judged)
    /// refuses in a head.
    pub fn finish<'h>(mut self, head: &'h Head<'h>) -> Result<Verified<'h>, Rejection> {
        let body = std::mem::take(&mut self.body).into_bytes();
        let (body, around) = match self.deferred.take() {
            None if self.standing.is_binding() => (body, None),
            None => (Bytes::new(), Some(body)),
            Some(deferred) => {
                let (signed, begun) = deferred.begin(&body)?;
                self = begun;
                (signed, Some(body))
            }
        };
        self.conclude(head, body, around)
    }

    #[inline]
    fn conclude<'h>(
        &mut self,
        head: &'h Head<'h>,
        body: Bytes,
        around: Option<Bytes>,
    ) -> Result<Verified<'h>, Rejection> {
        let standing = std::mem::take(&mut self.standing);
        let is_itself = matches!(standing, Standing::Itself);
        let standing = standing.finish(around.as_ref().unwrap_or(&body));
        let standing = standing.ok_or(Malformed::Body)?;
        let whole = if is_itself { &body[..] } else { &standing };
        let mut any = Choice::from(0);
        let mut winner = 0u8;
        for ((index, bit), lane) in (0u8..).zip(bits()).zip(&mut self.lanes) {
            let Some(Around { prefix, suffix }) = self.contents.get(lane.content) else {
                continue;
            };
            let check = &mut lane.check;
            check.update(&standing);
            check.update(suffix);
            let content = if check.needs_content() {
                [prefix, whole, suffix].concat()
            } else {
                Vec::new()
            };
            let checked = check.finish();
            for candidate in &self.candidates {
                if candidate.lanes & bit != 0 {
                    let holds = checked.holds(&candidate.tag, &content);
                    winner.conditional_assign(&index, holds & !any);
                    any |= holds;
                }
            }
        }
        let authentic = bool::from(any);
        let (freshness, signed_at) = match self.in_body.take() {
            // Nobody parses a byte of a body that is not authentic.
            Some(stamp) if authentic => {
                let (signed_at, freshness) = stamp.judge(&body)?;
                (freshness, Some(signed_at))
            }
            _ => (self.freshness, self.signed_at),
        };
        match (freshness, authentic) {
            (Freshness::Fresh, true) => {}
            (Freshness::Fresh, false) => return Err(Rejection::SignatureMismatch),
            (Freshness::Stale { by_secs }, authentic) => {
                return Err(Rejection::Stale { by_secs, authentic });
            }
            (Freshness::Future { by_secs }, authentic) => {
                return Err(Rejection::Future { by_secs, authentic });
            }
        }
        let lane = self
            .lanes
            .get(usize::from(winner))
            .ok_or(Rejection::SignatureMismatch)?;
        Ok(Verified {
            head,
            key: lane.key.clone(),
            body,
            around,
            principal: self.principal.take(),
            prover: std::mem::take(&mut self.provers)
                .into_iter()
                .nth(winner.into())
                .flatten()
                .map(Box::new),
            signed_at,
            signed_id: self.signed_id.take(),
        })
    }
}

impl<'h> Verified<'h> {
    /// The bytes that the signature covers: the raw body, exactly as received. Where the envelope stands in the body,
    /// the text that was made of its signed members, and nothing else; under a plain token, and where a checksum stands for the body, nothing at all.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The raw body around an envelope that stands in it, or beside a plain token or a checksum: **not** authentic, but for what
    /// [`Verified::body`] says, too. `None` where the body is what was signed.
    pub fn unsigned_body(&self) -> Option<&Bytes> {
        self.around.as_ref()
    }

    /// The head it came with, which is *not* authentic: GitHub's id and event name live there.
    pub fn unsigned_head(&self) -> &'h Head<'h> {
        self.head
    }

    /// Read the whole body as one JSON text. A leading byte-order mark is skipped (RFC 8259 section 8.1).
    ///
    /// # Errors
    ///
    /// [`InvalidEvent::Body`] if it is none, or not of this shape.
    pub fn json<'b, T: Deserialize<'b>>(&'b self) -> Result<T, InvalidEvent> {
        json::read(&self.body).ok_or(InvalidEvent::Body)
    }

    /// The key that verified it.
    pub fn key(&self) -> &MatchedKey {
        &self.key
    }

    /// The tenant whose key it is.
    pub fn principal(&self) -> Option<&Arc<str>> {
        self.principal.as_ref()
    }

    /// Prove to the sender that we hold the key that verified this: the HMAC-SHA256 of its challenge, for the answer to a
    /// handshake.
    ///
    /// `None` unless the provider [asks for it](crate::Spec::asks_for_proof). And for a challenge that is not 1 to
    /// [`MAX_PROOF_BYTES`] characters of base64 or base64url: an endpoint that put anything else under its key would sign
    /// events for whoever asks.
    pub fn proof(&self, challenge: &str) -> Option<Tag> {
        let allowed = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'/' | b'=' | b'_')
        };
        let fits = (1..=MAX_PROOF_BYTES).contains(&challenge.len());
        if !fits || !challenge.bytes().all(allowed) {
            return None;
        }
        let mut mac = Hmac::clone(self.prover.as_deref()?);
        mac.update(challenge.as_bytes());
        Some(Tag::from_bytes(&mac.finalize().into_bytes()))
    }

    /// The signed timestamp, in Unix seconds.
    pub fn signed_at(&self) -> Option<i64> {
        self.signed_at
    }

    /// The event id that was signed beside the body.
    pub fn signed_id(&self) -> Option<&EventId> {
        self.signed_id.as_ref()
    }
}

impl MatchedKey {
    /// Its id, where it has one.
    pub fn id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }

    /// Its fingerprint.
    pub fn fingerprint(&self) -> KeyFingerprint {
        self.fingerprint
    }

    /// Whether it only verifies: its traffic should be falling.
    pub fn is_retiring(&self) -> bool {
        self.is_retiring
    }
}

impl From<Freshness> for Option<Rejection> {
    fn from(freshness: Freshness) -> Self {
        match freshness {
            Freshness::Fresh => None,
            Freshness::Future { by_secs } => Some(Rejection::Future {
                by_secs,
                authentic: false,
            }),
            Freshness::Stale { by_secs } => Some(Rejection::Stale {
                by_secs,
                authentic: false,
            }),
        }
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

impl fmt::Debug for Verified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified")
            .field("body_bytes", &self.body.len())
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl KeyedLater {
    /// Read the envelope from `body`. Returns the text that it is over, too.
    fn begin(self, body: &Bytes) -> Result<(Bytes, Verifier), Rejection> {
        let mut envelope = (self.deferred.read)(UntrustedBody::new(body))?;
        let signed = envelope.check_in_body(self.deferred.timestamped)?;
        let freshness = match &envelope.timestamp {
            Some(timestamp) => self.deferred.window.judge(timestamp, self.now),
            None => Freshness::Fresh,
        };
        let keys = self.keys.as_ref().ok_or(Rejection::UnknownKey)?;
        let terms = Terms {
            freshness,
            in_body: None,
            proves_key: false,
            max_body_bytes: 0,
        };
        let verifier = Verifier::begin(&mut envelope, terms, keys, self.now)?;
        Ok((signed, verifier))
    }
}

impl Lane {
    fn new(key: &Key, algorithm: Algorithm, content: usize, check: Check) -> Self {
        Self {
            key: MatchedKey {
                id: key.id().cloned(),
                fingerprint: key.fingerprint(),
                is_retiring: key.is_retiring(),
            },
            algorithm,
            content,
            check,
        }
    }

    fn is_of(&self, key: &Key, algorithm: Algorithm, content: usize) -> bool {
        self.key.fingerprint == key.fingerprint()
            && self.algorithm == algorithm
            && self.content == content
    }

    /// Whether `candidate` is tried here.
    fn tries(&self, candidate: &Candidate<'_>) -> bool {
        let own = self.key.id.as_deref();
        self.algorithm == candidate.algorithm && candidate.key_id.is_none_or(|id| own == Some(id))
    }
}

/// The lanes that `candidate` is tried in, a bit each. There are no more than bits: `MAX_KEYS` of at most two algorithms,
/// over `MAX_CONTENTS`.
fn lanes_of(candidate: &Candidate<'_>, lanes: &[Lane]) -> u16 {
    let mut fitting = 0;
    for (bit, lane) in bits().zip(lanes) {
        if lane.tries(candidate) {
            fitting |= bit;
        }
    }
    fitting
}

fn bits() -> impl Iterator<Item = u16> {
    (0..u16::BITS).map(|at| 1u16.rotate_left(at))
}

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl Body {
    fn len(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Joined(bytes) => bytes.len(),
        }
    }

    fn push(&mut self, chunk: Bytes) {
        match self {
            Self::Whole(bytes) if bytes.is_empty() => *bytes = chunk,
            Self::Whole(bytes) => {
                // Grows by what arrived, never by what was announced.
                let mut joined = BytesMut::from(&bytes[..]);
                joined.extend_from_slice(&chunk);
                *self = Self::Joined(joined);
            }
            Self::Joined(bytes) => bytes.extend_from_slice(&chunk),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Joined(bytes) => bytes.freeze(),
        }
    }
}
