//! The application that `cargo xtask torture` runs in several processes at once.
//!
//! What a handler does is drawn from the seed, the event and the attempt, so that a run can be repeated.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use serde::Deserialize;
use webhook_actix::{
    Data, Delivery, Endpoint, Event, HandlerError, KeyConfig, Keys, SystemClock, Tx, Webhooks,
    webhook,
};
use webhook_github::GitHub;
use webhook_timestamped::Timestamped;

use crate::app::{Act, SECRET};
use crate::stores::Effects;

/// How long the application holds an event without a heartbeat.
pub const LEASE: Duration = Duration::from_secs(2);

/// What must have become of an event in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a verdict covers them all")]
pub enum Fate {
    /// Completed, with one effect.
    Healthy,
    /// Dead: its handler says that there is no hope.
    Hopeless,
    /// Completed without effect: its handler says that there is nothing to do.
    Idle,
}

impl Fate {
    /// The fate of the event that bears `key`.
    pub fn of(seed: u64, key: &str) -> Self {
        match Dice::for_key(seed, key, 0).below(100) {
            0..3 => Self::Hopeless,
            3..6 => Self::Idle,
            _ => Self::Healthy,
        }
    }

    /// What its handler does at last.
    fn act(self) -> Act {
        match self {
            Self::Healthy => Act::Record,
            Self::Hopeless => Act::DeadLetter,
            Self::Idle => Act::Ignore,
        }
    }
}

/// What handlers do.
#[derive(Debug)]
pub struct Whims {
    seed: u64,
    runs: Mutex<HashMap<String, u32>>,
}

impl Whims {
    /// Drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            runs: Mutex::default(),
        }
    }

    /// What this run does. From the fourth attempt on an event has its fate.
    ///
    /// Nobody stores the attempts of an inline event: they are counted here, for each process.
    fn next(&self, key: &str, delivery: &Delivery) -> Act {
        let runs = {
            let mut runs = self.runs.lock().unwrap();
            let runs = runs.entry(key.to_owned()).or_default();
            *runs += 1;
            *runs
        };
        self.act(key, delivery.attempt().max(runs))
    }

    fn act(&self, key: &str, attempt: u32) -> Act {
        let mut dice = Dice::for_key(self.seed, key, attempt);
        let moment = Duration::from_millis(dice.below(200));
        let fate = Fate::of(self.seed, key);
        let is_healthy = fate == Fate::Healthy;
        match dice.below(100) {
            _ if attempt > 3 => fate.act(),
            0..12 => Act::Fail,
            12..20 => Act::Panic,
            // Longer than any transaction may take, inline or not.
            20..22 if is_healthy => Act::SleepAfter(LEASE * 2),
            22..35 if is_healthy => Act::SleepBefore(moment),
            35..50 if is_healthy => Act::SleepAfter(moment),
            _ => fate.act(),
        }
    }
}

/// Random numbers that are the same for the same seed: `SplitMix64`.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn for_key(seed: u64, key: &str, attempt: u32) -> Self {
        // FNV-1a.
        let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut dice = Self(seed ^ hash);
        Self(dice.roll() ^ u64::from(attempt))
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number, less than `bound`.
    ///
    /// # Panics
    ///
    /// If that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}

/// The part of every body that handlers read.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct Body {
    /// What the event is known by, whatever id it comes under.
    #[serde(rename = "known_as")]
    pub key: String,
}

/// Inbox.
#[webhook(provider = Timestamped, event = "note.created")]
pub async fn on_note<C: Effects>(
    body: Event<Body>,
    delivery: Delivery,
    whims: Data<Whims>,
    db: &mut C,
) -> Result<(), HandlerError> {
    whims
        .next(&body.key, &delivery)
        .perform(&body.key, db)
        .await
}

/// Inbox, slow before its transaction: now and then for longer than a lease.
#[webhook(provider = Timestamped, event = "note.slow")]
pub async fn on_slow<C: Effects>(
    body: Event<Body>,
    delivery: Delivery,
    whims: Data<Whims>,
    mut tx: Tx<'_, C>,
) -> Result<(), HandlerError> {
    let act = match whims.next(&body.key, &delivery) {
        Act::SleepBefore(length) => {
            actix_web::rt::time::sleep(length * 15).await;
            Act::Record
        }
        act => act,
    };
    act.perform(&body.key, tx.begin().await?).await
}

/// Inline.
#[webhook(provider = Timestamped, event = "credit.approved", inline)]
pub async fn on_credit<C: Effects>(
    body: Event<Body>,
    delivery: Delivery,
    whims: Data<Whims>,
    db: &mut C,
) -> Result<(), HandlerError> {
    whims
        .next(&body.key, &delivery)
        .perform(&body.key, db)
        .await
}

/// Inbox, under two labels that no body tells apart.
#[webhook(provider = GitHub, events("dependabot_alert", "secret_scanning_alert"))]
pub async fn on_alert<C: Effects>(
    body: Event<Body>,
    delivery: Delivery,
    whims: Data<Whims>,
    db: &mut C,
) -> Result<(), HandlerError> {
    whims
        .next(&body.key, &delivery)
        .perform(&body.key, db)
        .await
}

/// Inline, with the inbox for a second try.
#[webhook(provider = GitHub, event = "issues", inline)]
pub async fn on_issues<C: Effects>(
    body: Event<Body>,
    delivery: Delivery,
    whims: Data<Whims>,
    db: &mut C,
) -> Result<(), HandlerError> {
    whims
        .next(&body.key, &delivery)
        .perform(&body.key, db)
        .await
}

/// The application on `ledger`.
///
/// # Panics
///
/// If its configuration is refused.
pub fn mount<L>(ledger: L, whims: Whims) -> Webhooks<L>
where
    L: webhook_actix::ledger::Ledger<Conn: Effects>,
{
    let keys = |name: &str| Keys::new([KeyConfig::new(format!("{SECRET}-{name}")).id("k1")]);
    macro_rules! endpoint {
        ($name:literal, $provider:expr, $($handler:expr),+) => {
            Endpoint::at(concat!("/", $name), $provider, keys($name))
                .named($name)
                .lease(LEASE)
                .inline_deadline(LEASE.mul_f64(0.75))
                .acknowledge_within(LEASE)
                .backoff(Duration::from_millis(20), Duration::from_millis(100))
                $(.on($handler))+
        };
    }
    Webhooks::builder(ledger)
        .endpoint(endpoint!(
            "custom",
            Timestamped,
            on_note,
            on_slow,
            on_credit
        ))
        .endpoint(endpoint!("github", GitHub, on_alert, on_issues))
        .data(whims)
        .clock(SystemClock::default())
        .build()
        .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_are_drawn_from_seed_event_and_attempt() {
        let acts = |seed| {
            let whims = Whims::new(seed);
            let keys = (0..50).map(|n| format!("e{n}"));
            keys.map(|key| whims.act(&key, 1)).collect::<Vec<_>>()
        };
        assert_eq!(acts(1), acts(1));
        assert_ne!(acts(1), acts(2));
    }

    #[test]
    fn every_event_meets_its_fate_at_last() {
        let whims = Whims::new(7);
        for n in 0..500 {
            let key = format!("e{n}");
            assert_eq!(whims.act(&key, 4), Fate::of(7, &key).act());
        }
    }
}
