//! Events of Stripe's, each with an id of its own: verified for ledgers, as requests for servers.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use webhook_actix::{Clock, NewEvent, Provider as _, SystemClock};
use webhook_benches::{Delivery, SECRETS};
use webhook_core::ClaimScope;
use webhook_stripe::Stripe;

/// Makes events with bodies of about the same size.
#[derive(Debug)]
pub(crate) struct Events {
    bytes: usize,
    made: Vec<NewEvent>,
}

impl Events {
    pub(crate) fn of(bytes: usize) -> Self {
        Self {
            bytes,
            made: Vec::new(),
        }
    }

    /// The first `count` of them, the same ones at each call: for stores that are emptied in between.
    pub(crate) fn first(&mut self, count: usize) -> Vec<NewEvent> {
        let missing = count.saturating_sub(self.made.len());
        let more = self.fresh(missing);
        self.made.extend(more);
        self.made.iter().take(count).cloned().collect()
    }

    /// `count` that nobody ever made before.
    pub(crate) fn fresh(&self, count: usize) -> Vec<NewEvent> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let clock = SystemClock::default();
        let scope = ClaimScope::new(ENDPOINT);
        let make = |_| {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            event(&clock, &scope, body(number, self.bytes))
        };
        (0..count).map(make).collect()
    }
}

/// `count` requests with bodies of about `bytes`, signed now: they are good for five minutes.
pub(crate) fn requests(count: usize, bytes: usize) -> Vec<Bytes> {
    let clock = SystemClock::default();
    let numbers = (0u64..).take(count);
    let deliveries = numbers
        .map(|number| Delivery::with_body(&clock, body(number, bytes), &SECRETS[..1], 0).to_http());
    deliveries.collect()
}

/// The provider of all of them.
pub(crate) const fn provider() -> Stripe {
    Stripe::any_mode().any_account()
}

fn event(clock: &dyn Clock, scope: &ClaimScope, body: Bytes) -> NewEvent {
    let delivery = Delivery::with_body(clock, body, &SECRETS[..1], 0);
    let head = delivery.head().expect("a head");
    let verified = webhook_benches::verify(clock, &delivery.keys, &head, delivery.body.clone());
    let verified = verified.expect("authentic");
    let identities = provider().identities(&verified).expect("an identity");
    let identity = identities.into_iter().next().expect("an identity");
    NewEvent::new(&verified, identity, &provider(), scope).expect("an event")
}

fn body(number: u64, bytes: usize) -> Bytes {
    let head = format!(
        r#"{{"id":"evt_1{number:023}","object":"event","type":"{TYPE}","livemode":true,"data":{{"object":{{"note":""#
    );
    let tail = r#""}}}"#;
    let rest = bytes.saturating_sub(head.len()).saturating_sub(tail.len());
    let filler = "webhook ".chars().cycle().take(rest);
    Bytes::from(
        head.chars()
            .chain(filler)
            .chain(tail.chars())
            .collect::<String>(),
    )
}

/// Of the endpoint, which is called like its provider.
pub(crate) const ENDPOINT: &str = "stripe";
/// Of all events.
pub(crate) const TYPE: &str = "payment_intent.succeeded";
