//! The rule table: what a delivery is whose claim keys somebody holds.

use bytes::Bytes;

use crate::claim::NewEvent;
use crate::digest::ContentDigest;
use crate::inbox_id::InboxId;
use crate::reply::Reply;

/// Why a delivery is in quarantine.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quarantine {
    /// The id is known with other content.
    ContentMismatch,
    /// The signed content is known under another unsigned type, or does not bear its label.
    Relabelled,
    /// The signed content was completed before under another unsigned id.
    Replayed,
}

/// Where an event stands. See the state table in `ARCHITECTURE.md`.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Done, its effect committed. Final, unless an operator replays it even so; forgotten in time.
    Completed,
    /// Set aside after its last attempt. An operator or a redelivery revives it.
    Dead,
    /// Of a type no handler takes, kept for replay.
    Ignored,
    /// Waits for its next attempt; a worker takes it when it is due.
    Pending,
    /// Held under a lease; a worker takes it over when the lease has run out.
    Processing,
}

/// What holds a claim key.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum Holder {
    /// A stored event.
    Event(HeldEvent),
    /// What is left of a pruned event.
    Tombstone {
        /// Digest of its content.
        digest: Option<ContentDigest>,
    },
}

/// A stored event that holds a claim key.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "ledgers fill it from a row; a new column is a new rule"
)]
pub struct HeldEvent {
    /// Its row.
    pub inbox: InboxId,
    /// Where it stands.
    pub state: State,
    /// Its type.
    pub event_type: String,
    /// Digest of its payload.
    pub digest: ContentDigest,
    /// Digest of its canonical form, written when it completed.
    pub canonical: Option<ContentDigest>,
    /// Its payload, while it is kept.
    pub payload: Option<Bytes>,
    /// The reply of an inline handler.
    pub reply: Option<Reply>,
    /// Its handler ended the transaction itself: the effect may stand, and only an operator runs it again.
    pub has_escaped: bool,
}

/// What a delivery is whose claim keys are held.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// See [`Claim::Duplicate`](crate::Claim::Duplicate).
    Duplicate {
        /// The stored reply.
        reply: Option<Reply>,
    },
    /// See [`Claim::InFlight`](crate::Claim::InFlight).
    InFlight,
    /// See [`Claim::Quarantined`](crate::Claim::Quarantined).
    Quarantine {
        /// Why.
        reason: Quarantine,
        /// The stored event it collides with, if it still has a row.
        first: Option<InboxId>,
        /// The payload equals the one stored with `first` and need not be stored again.
        same_content: bool,
    },
    /// The event is dead or ignored: let it run again.
    Revive(InboxId),
    /// Nobody holds a key any more: claim again.
    Vanished,
}

impl NewEvent {
    /// What this delivery is, given who holds its keys. Both `None` means nobody does any more.
    ///
    /// The rule table, cell by cell:
    ///
    /// | id | content | type | first is | this delivery |
    /// |---|---|---|---|---|
    /// | known | same | same | completed | duplicate |
    /// | known | same | same | pending, processing | in flight |
    /// | known | same | same | dead, ignored | revives it, unless it would be ignored again or the effect of either may stand |
    /// | known | same | another | any | quarantined: relabelled |
    /// | known | another | any | any | quarantined: content mismatch |
    /// | new | known | another | any | quarantined: relabelled |
    /// | new | known | same | completed | quarantined: replayed |
    /// | new | known | same | pending, processing | in flight: it is the first one's retry |
    /// | new | known | same | dead, ignored | revives the first |
    ///
    /// The last four concern providers whose ids are unsigned. A quarantined delivery holds no key,
    /// so that it can never stand in the way of the real one. (A *stored* one can: whoever withholds signed content and
    /// delivers it first under a later event's unsigned id sends that event to quarantine, where its
    /// payload waits for an operator.)
    pub fn judge(&self, by_id: Option<&Holder>, by_digest: Option<&Holder>) -> Verdict {
        match (by_id, by_digest) {
            (Some(holder), _) => self.judge_known_id(holder),
            (None, Some(holder)) => self.judge_known_content(holder),
            (None, None) => Verdict::Vanished,
        }
    }

    fn judge_known_id(&self, holder: &Holder) -> Verdict {
        match holder {
            Holder::Event(first) => {
                let same = self.has_content_of(first);
                if !same {
                    quarantine(Quarantine::ContentMismatch, first, false)
                } else if self.is_relabelled(first) {
                    quarantine(Quarantine::Relabelled, first, true)
                } else {
                    self.again(first)
                }
            }
            Holder::Tombstone { digest }
                if digest.is_some_and(|digest| self.is_content(digest)) =>
            {
                Verdict::Duplicate { reply: None }
            }
            Holder::Tombstone { .. } => Verdict::Quarantine {
                reason: Quarantine::ContentMismatch,
                first: None,
                same_content: false,
            },
        }
    }

    fn judge_known_content(&self, holder: &Holder) -> Verdict {
        match holder {
            Holder::Event(first) if self.is_relabelled(first) => {
                quarantine(Quarantine::Relabelled, first, true)
            }
            Holder::Event(first) if first.state == State::Completed => {
                quarantine(Quarantine::Replayed, first, true)
            }
            Holder::Event(first) => self.again(first),
            Holder::Tombstone { .. } => Verdict::Quarantine {
                reason: Quarantine::Replayed,
                first: None,
                same_content: false,
            },
        }
    }

    fn is_relabelled(&self, first: &HeldEvent) -> bool {
        self.relabelable && self.event_type().as_str() != first.event_type
    }

    /// Raw digests first; only on a difference the canonical forms.
    fn has_content_of(&self, first: &HeldEvent) -> bool {
        self.digest() == first.digest
            || first
                .canonical
                .or_else(|| self.canonical_of(first.payload.as_deref()?))
                .is_some_and(|theirs| self.canonical() == Some(theirs))
    }

    fn is_content(&self, digest: ContentDigest) -> bool {
        self.digest() == digest || self.canonical() == Some(digest)
    }
}

impl NewEvent {
    /// What the same event is that comes once more.
    fn again(&self, first: &HeldEvent) -> Verdict {
        match first.state {
            State::Completed => Verdict::Duplicate {
                reply: first.reply.clone(),
            },
            // Still of a type that nobody takes: a worker could not run it.
            State::Ignored if self.first_state() == State::Ignored => {
                Verdict::Duplicate { reply: None }
            }
            State::Dead if first.has_escaped => Verdict::Duplicate { reply: None },
            // Its own effect may stand: it asks for no other run.
            State::Dead | State::Ignored if self.first_state() == State::Dead => {
                Verdict::Duplicate { reply: None }
            }
            State::Dead | State::Ignored => Verdict::Revive(first.inbox),
            State::Pending | State::Processing => Verdict::InFlight,
        }
    }
}

impl State {
    /// Its name in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Dead => "dead",
            Self::Ignored => "ignored",
            Self::Pending => "pending",
            Self::Processing => "processing",
        }
    }

    /// From its name in the store.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Completed,
            Self::Dead,
            Self::Ignored,
            Self::Pending,
            Self::Processing,
        ]
        .into_iter()
        .find(|state| state.as_str() == name)
    }
}

impl Quarantine {
    /// Its name in the store and in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContentMismatch => "content_mismatch",
            Self::Relabelled => "relabelled",
            Self::Replayed => "replayed",
        }
    }

    /// From its name in the store.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::ContentMismatch, Self::Relabelled, Self::Replayed]
            .into_iter()
            .find(|reason| reason.as_str() == name)
    }
}

fn quarantine(reason: Quarantine, first: &HeldEvent, same_content: bool) -> Verdict {
    Verdict::Quarantine {
        reason,
        first: Some(first.inbox),
        same_content: same_content && first.payload.is_some(),
    }
}
