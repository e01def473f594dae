//! H1 and H2: what the framework adds to a request that actix serves anyway.

use std::cell::LazyCell;

use bytes::Bytes;
use webhook_actix::SystemClock;
use webhook_benches::{Delivery, Effort, Measure, Ratio, Report, SECRETS};

use crate::callgrind::per_request;
use crate::load;
use crate::server::{Running, Server};

const CONNECTIONS: usize = 64;

pub(crate) fn rows(report: &Report, effort: Effort) {
    let request = request();
    let count = |server| per_request(server, &request, effort.counted);
    let raw = LazyCell::new(|| count(Server::Raw));
    let beside_raw = |server| match (count(server), &*raw) {
        (Ok(ours), Ok(raw)) => Measure::Is(Ratio::exact(ours.other / raw.other)),
        (Err(why), _) => Measure::Not(why),
        (_, Err(why)) => Measure::Not(why.clone()),
    };
    report.row("H1a", || beside_raw(Server::Framework));
    report.row("H1b", || beside_raw(Server::Verifying));
    report.row("H2", || Measure::Is(rate(effort, &request)));
}

/// Both servers in this process, by turns.
fn rate(effort: Effort, request: &Bytes) -> Ratio {
    let [raw, ours] = [Server::Raw, Server::Framework].map(Server::start);
    let rate =
        |server: &Running| load::rate(server.address(), request, CONNECTIONS, effort.server_chunk);
    let rate = |server| rate(server).expect("answers");
    // The first round warms up.
    let rounds = (0..=effort.server_rounds).map(|_| rate(&ours) / rate(&raw));
    Ratio::of_rounds(rounds.skip(1))
}

/// A payment's event, as it goes over the wire.
fn request() -> Bytes {
    let body =
        include_bytes!("../../providers/stripe/testdata/payloads/payment_intent.succeeded.json");
    let clock = SystemClock::default();
    Delivery::with_body(&clock, Bytes::from_static(body), &SECRETS[..1], 0).to_http()
}
