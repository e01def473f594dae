//! The head of a delivery: its envelope, its time, the keys it may be signed with.

use crate::body_timestamp::BodyTimestamp;
use crate::envelope::Envelope;
use crate::head::{Head, Malformed};
use crate::keyring::Keyring;
use crate::provider::DynProvider;
use crate::timestamp::Arrival;
use crate::verify::{Deferred, Rejection, Terms, Verifier};
use crate::window::{Freshness, Window};

/// A head whose bounds, grammar and time were judged. First step.
#[derive(Debug)]
pub struct Judged<'r> {
    envelope: Envelope<'r>,
    freshness: Freshness,
    /// Boxed, as few providers have one and this is moved at every step.
    in_body: Option<Box<BodyTimestamp>>,
    deferred: Option<Deferred>,
    proves_key: bool,
}

impl<'r> Judged<'r> {
    /// Read the envelope from `head` and judge its time at `arrival`.
    ///
    /// A stale or future envelope is judged too: it can go on to learn whether it is authentic,
    /// but never becomes [`Verified`](crate::Verified).
    ///
    /// # Errors
    ///
    /// [`Rejection::Malformed`].
    pub fn judge(
        provider: &dyn DynProvider,
        head: &Head<'r>,
        window: Window,
        arrival: Arrival,
    ) -> Result<Self, Rejection> {
        let envelope = provider.envelope(head)?;
        let spec = provider.spec();
        let in_body = spec.body_timestamp().map(|(path, form)| {
            Box::new(BodyTimestamp {
                path,
                form,
                window,
                arrival,
            })
        });
        let timestamped = spec.is_timestamped() && in_body.is_none();
        if envelope.is_plain_token != spec.is_plain_token() {
            return Err(Malformed::Candidates.into());
        }
        let deferred = match envelope.in_body {
            None if spec.has_envelope_in_body() => return Err(Malformed::Candidates.into()),
            None => {
                envelope.check(timestamped)?;
                None
            }
            Some(_) if !spec.has_envelope_in_body() => return Err(Malformed::Candidates.into()),
            // What stands in the body is judged there, a timestamp among it.
            Some(read) => Some(Deferred {
                read,
                timestamped: spec.is_timestamped(),
                window,
            }),
        };
        let freshness = envelope
            .timestamp
            .as_ref()
            .map_or(Freshness::Fresh, |timestamp| {
                window.judge(timestamp, arrival)
            });
        Ok(Self {
            envelope,
            freshness,
            in_body,
            deferred,
            proves_key: spec.proves_key(),
        })
    }

    /// What the timestamp is worth. One inside the body is judged later, by [`Verifier::finish`].
    pub fn freshness(&self) -> Freshness {
        self.freshness
    }

    /// Where the certificate stands that verifies it, as the head says. One named in the body is told later, by
    /// [`Verifier::certificate`].
    pub fn certificate(&self) -> Option<&str> {
        self.envelope.certificate.as_deref().map(|url| &**url)
    }

    /// Read the body first, where the envelope stands in it and names its certificate: keys are asked for then, see
    /// [`Verifier::certificate`].
    ///
    /// # Errors
    ///
    /// Itself, if the envelope stands in the head.
    #[expect(
        clippy::result_large_err,
        reason = "it is what the caller goes on with"
    )]
    pub fn unkeyed(self, now: Arrival, max_body_bytes: usize) -> Result<Verifier, Self> {
        match self.deferred {
            Some(deferred) => Ok(Verifier::defer(deferred, None, now, max_body_bytes)),
            None => Err(self),
        }
    }

    /// Take up the keys live at `now` that a candidate may have been made with, and begin their checks.
    ///
    /// A candidate that names a key is tried with that key only.
    ///
    /// # Errors
    ///
    /// [`Rejection::UnknownKey`] if nothing is left to try.
    pub fn keyed(
        mut self,
        keys: &Keyring,
        now: Arrival,
        max_body_bytes: usize,
    ) -> Result<Verifier, Rejection> {
        if let Some(deferred) = self.deferred {
            return Ok(Verifier::defer(deferred, Some(keys), now, max_body_bytes));
        }
        let terms = Terms {
            freshness: self.freshness,
            in_body: self.in_body,
            proves_key: self.proves_key,
            max_body_bytes,
        };
        Verifier::begin(&mut self.envelope, terms, keys, now)
    }
}
