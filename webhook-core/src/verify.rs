//! From a judged head to authentic bytes: MACs begun, fed, compared. Each step takes `self`.

use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use hmac::{Hmac, Mac};
use serde::Deserialize;
use sha2::Sha256;
use smallvec::SmallVec;
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

use crate::body_timestamp::BodyTimestamp;
use crate::bounds::MAX_PROOF_BYTES;
use crate::envelope::{Algorithm, Envelope, Segment, Tag};
use crate::head::{Head, Malformed};
use crate::identity::{EventId, InvalidEvent};
use crate::json;
use crate::keyring::{Key, KeyFingerprint, Keyring};
use crate::timestamp::Arrival;
use crate::window::Freshness;

/// MACs under way: feed it the body as it arrives.
///
/// It keeps the very bytes it hashes, so that what is verified is what is parsed.
pub struct Verifier {
    // One in place: this struct is moved at every step, and few endpoints rotate a key at any time.
    lanes: SmallVec<[Lane; 1]>,
    candidates: SmallVec<[(Option<usize>, Tag); 2]>,
    suffix: Vec<u8>,
    principal: Option<Arc<str>>,
    body: Body,
    max_body_bytes: usize,
    freshness: Freshness,
    in_body: Option<Box<BodyTimestamp>>,
    /// A fresh MAC for each lane, where the provider's handshake asks for a proof of the key.
    provers: Vec<Hmac<Sha256>>,
    signed_at: Option<i64>,
    signed_id: Option<EventId>,
}

/// Authentic bytes and the key that made them so. Only [`Verifier::finish`] makes one.
pub struct Verified<'h> {
    head: &'h Head<'h>,
    body: Bytes,
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

/// One key's MAC over the signed content.
struct Lane {
    key: MatchedKey,
    mac: Hmac<Sha256>,
}

/// The body so far. One chunk is kept as it came, more are joined.
enum Body {
    Whole(Bytes),
    Joined(BytesMut),
}

impl Verifier {
    /// Take up the keys live at `now` that a candidate may have been made with, and begin their MACs.
    pub(crate) fn begin(
        envelope: Envelope<'_>,
        freshness: Freshness,
        keys: &Keyring,
        now: Arrival,
        max_body_bytes: usize,
    ) -> Result<Self, Rejection> {
        let Envelope {
            id,
            timestamp,
            candidates,
            content,
        } = envelope;
        let mut lanes: SmallVec<[Lane; 1]> = SmallVec::new();
        let mut kept = SmallVec::new();
        for key in keys.live(now) {
            let named = |id: &str| key.id().is_some_and(|own| **own == *id);
            if candidates.iter().any(|one| one.key_id.is_none_or(named)) {
                lanes.push(Lane::new(key));
            }
        }
        for candidate in &candidates {
            let Algorithm::HmacSha256 = candidate.algorithm;
            let lane = candidate.key_id.map(|id| {
                lanes
                    .iter()
                    .position(|lane| lane.key.id.as_deref() == Some(id))
            });
            match lane {
                None => kept.push((None, candidate.tag)),
                Some(Some(lane)) => kept.push((Some(lane), candidate.tag)),
                Some(None) => {} // an unknown id beside a known one is ignored
            }
        }
        if lanes.is_empty() || kept.is_empty() {
            return Err(Rejection::UnknownKey);
        }
        // `Envelope::check`: what stands in the content is there.
        let signed_id = id.as_ref().map_or(&b""[..], |id| id.as_str().as_bytes());
        let stamp = timestamp.map_or(&b""[..], |stamp| stamp.text().as_bytes());
        let mut segments = content.iter();
        for segment in segments.by_ref() {
            let bytes = match segment {
                Segment::Body => break,
                Segment::Bytes(bytes) => bytes.as_ref(),
                Segment::Id => signed_id,
                Segment::Timestamp => stamp,
            };
            lanes.iter_mut().for_each(|lane| lane.mac.update(bytes));
        }
        let mut suffix = Vec::new();
        for segment in segments {
            match segment {
                Segment::Body => {} // `Envelope::check`: there is only one
                Segment::Bytes(bytes) => suffix.extend_from_slice(bytes),
                Segment::Id => suffix.extend_from_slice(signed_id),
                Segment::Timestamp => suffix.extend_from_slice(stamp),
            }
        }
        Ok(Self {
            lanes,
            candidates: kept,
            suffix,
            principal: keys.owner().cloned(),
            body: Body::Whole(Bytes::new()),
            max_body_bytes,
            freshness,
            in_body: None,
            provers: Vec::new(),
            signed_at: timestamp.map(|timestamp| timestamp.unix_secs()),
            signed_id: id,
        })
    }

    /// Judge a timestamp inside the body, once the signature holds.
    pub(crate) fn judge_in_body(&mut self, in_body: Option<Box<BodyTimestamp>>) {
        self.in_body = in_body;
    }

    /// Keep what [`Verified::proof`] needs.
    pub(crate) fn keep_provers(&mut self, keys: &Keyring) {
        let fresh = |lane: &Lane| {
            keys.by_fingerprint(lane.key.fingerprint)
                .map(Key::hmac_sha256)
        };
        self.provers = self.lanes.iter().filter_map(fresh).collect();
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
        self.lanes
            .iter_mut()
            .for_each(|lane| lane.mac.update(&chunk));
        self.body.push(chunk);
        Ok(())
    }

    /// Compare every candidate with every key it may be tried with: in constant time, without
    /// an early exit.
    ///
    /// # Errors
    ///
    /// [`Rejection::SignatureMismatch`]; [`Rejection::Stale`] and [`Rejection::Future`] with
    /// `authentic` for a signature that holds outside its window; [`Malformed::Timestamp`] for an
    /// authentic body without the timestamp that its provider puts there.
    pub fn finish<'h>(mut self, head: &'h Head<'h>) -> Result<Verified<'h>, Rejection> {
        let mut any = Choice::from(0);
        let mut winner = 0u8;
        for (index, lane) in (0u8..).zip(&mut self.lanes) {
            lane.mac.update(&self.suffix);
            let tag = lane.mac.clone().finalize().into_bytes();
            for (only, candidate) in &self.candidates {
                if only.is_none_or(|only| only == usize::from(index)) {
                    let equal = equal(&tag, candidate.as_bytes());
                    winner.conditional_assign(&index, equal & !any);
                    any |= equal;
                }
            }
        }
        let authentic = bool::from(any);
        let body = self.body.into_bytes();
        let (freshness, signed_at) = match self.in_body {
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
            principal: self.principal,
            prover: self.provers.into_iter().nth(winner.into()).map(Box::new),
            signed_at,
            signed_id: self.signed_id,
        })
    }
}

impl<'h> Verified<'h> {
    /// The raw body, exactly as signed.
    pub fn body(&self) -> &Bytes {
        &self.body
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
        Some(Tag::from_hmac_sha256(mac.finalize().into_bytes().into()))
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

impl Lane {
    fn new(key: &Key) -> Self {
        Self {
            key: MatchedKey {
                id: key.id().cloned(),
                fingerprint: key.fingerprint(),
                is_retiring: key.is_retiring(),
            },
            mac: key.hmac_sha256(),
        }
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

/// Whether two tags are equal, in a time that depends on their lengths alone.
///
/// Sixteen bytes at a time: `subtle` hides each comparison from the optimiser, which costs more than
/// the comparison itself.
fn equal(ours: &[u8], theirs: &[u8]) -> Choice {
    if ours.len() != theirs.len() {
        return Choice::from(0);
    }
    let ((ours, rest), (theirs, other_rest)) = (ours.as_chunks(), theirs.as_chunks());
    let words = ours.iter().zip(theirs);
    words.fold(rest.ct_eq(other_rest), |all, (ours, theirs)| {
        all & u128::from_ne_bytes(*ours).ct_eq(&u128::from_ne_bytes(*theirs))
    })
}
