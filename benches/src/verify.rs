//! V1 to V6: the way from a request to authentic bytes, beside bare HMAC and beside the peers.

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use sha2::Sha256;
use stripe_webhook::WebhookError;
use webhook_actix::SystemClock;
use webhook_benches::{Case, Delivery, Effort, Measure, Ratio, Report, SECRETS, race};

const KB: usize = 1024;
const ONE: &[&str] = &[SECRETS[0]];

pub(crate) fn rows(report: &Report, effort: Effort) {
    report.row("V1", || Measure::Is(beside_hmac(effort, 2 * KB)));
    report.row("V2", || Measure::Is(beside_hmac(effort, 20 * KB)));
    report.row("V3", || Measure::Is(fixed_cost(effort)));
    report.row("V4a", || Measure::Is(beside_svix(effort)));
    report.row("V4b", || Measure::Is(beside_standardwebhooks(effort)));
    report.row("V5", || Measure::Is(beside_async_stripe(effort)));
    report.row("V6a", || Measure::Is(candidates(effort)));
    report.row("V6b", || Measure::Is(secrets(effort)));
}

fn beside_hmac(effort: Effort, bytes: usize) -> Ratio {
    let delivery = delivery(bytes, ONE, 0);
    let laps = race(effort, [ours(&delivery), bare(&delivery)]);
    laps.ratio(|[ours, bare]| ours / bare)
}

fn fixed_cost(effort: Effort) -> Ratio {
    let (empty, full) = (delivery(0, ONE, 0), delivery(2 * KB, ONE, 0));
    let laps = race(effort, [ours(&empty), bare(&empty), bare(&full)]);
    laps.ratio(|[ours, bare, full]| (ours - bare) / full)
}

fn beside_svix(effort: Effort) -> Ratio {
    let delivery = delivery(2 * KB, ONE, 0);
    let peer = svix::webhooks::Webhook::new(SECRETS[0]).expect("a secret");
    let signature = peer.sign(MESSAGE_ID, delivery.unix_secs, &delivery.body);
    let headers = standard_headers(&delivery, signature.expect("a signature"));
    let theirs = Case::new(|| peer.verify(&delivery.body, &headers).expect("authentic"));
    let laps = race(effort, [ours(&delivery), theirs]);
    laps.ratio(|[ours, theirs]| theirs / ours)
}

fn beside_standardwebhooks(effort: Effort) -> Ratio {
    let delivery = delivery(2 * KB, ONE, 0);
    let peer = standardwebhooks::Webhook::new(SECRETS[0]).expect("a secret");
    let signature = peer.sign(MESSAGE_ID, delivery.unix_secs, &delivery.body);
    let headers = standard_headers(&delivery, signature.expect("a signature"));
    let theirs = Case::new(|| peer.verify(&delivery.body, &headers).expect("authentic"));
    let laps = race(effort, [ours(&delivery), theirs]);
    laps.ratio(|[ours, theirs]| theirs / ours)
}

fn beside_async_stripe(effort: Effort) -> Ratio {
    let delivery = delivery(2 * KB, ONE, 0);
    let body = std::str::from_utf8(&delivery.body).expect("text");
    // It cannot be asked to verify only. It parses after it has verified, and this body is no JSON:
    // that error says that the signature held.
    let theirs = Case::new(|| {
        let event =
            stripe_webhook::Webhook::construct_event(body, delivery.signature(), SECRETS[0]);
        assert!(matches!(event, Err(WebhookError::BadParse(_))));
    });
    let laps = race(effort, [ours(&delivery), theirs]);
    laps.ratio(|[ours, theirs]| theirs / ours)
}

fn candidates(effort: Effort) -> Ratio {
    let (one, four) = (delivery(2 * KB, ONE, 0), delivery(2 * KB, ONE, 3));
    let laps = race(effort, [ours(&one), ours(&four)]);
    laps.ratio(|[one, four]| four / one)
}

fn secrets(effort: Effort) -> Ratio {
    let (one, three) = (delivery(2 * KB, ONE, 0), delivery(2 * KB, &SECRETS, 0));
    let laps = race(effort, [ours(&one), ours(&three), bare(&one)]);
    laps.ratio(|[one, three, bare]| (three - one) / (2.0 * bare))
}

fn delivery(bytes: usize, secrets: &[&str], decoys: usize) -> Delivery {
    Delivery::new(&SystemClock::default(), bytes, secrets, decoys)
}

/// Verify `delivery`: the clock read once, the head judged, the body hashed, the tags compared.
fn ours(delivery: &Delivery) -> Case<'_> {
    let clock = SystemClock::default();
    let head = delivery.head().expect("a head");
    Case::new(move || {
        let verified =
            webhook_benches::verify(&clock, &delivery.keys, &head, delivery.body.clone());
        verified.expect("authentic").signed_at()
    })
}

/// The limit: the tag alone, from a key that was set up before.
fn bare(delivery: &Delivery) -> Case<'_> {
    let keyed = Hmac::<Sha256>::new_from_slice(SECRETS[0].as_bytes()).expect("any key will do");
    let timestamp = delivery.unix_secs.to_string();
    Case::new(move || {
        let mut mac = keyed.clone();
        mac.update(timestamp.as_bytes());
        mac.update(b".");
        mac.update(&delivery.body);
        mac.finalize()
    })
}

/// The head of the same body in the peers' form.
fn standard_headers(delivery: &Delivery, signature: String) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("webhook-id", MESSAGE_ID.to_owned()),
        ("webhook-timestamp", delivery.unix_secs.to_string()),
        ("webhook-signature", signature),
    ] {
        headers.insert(name, value.parse().expect("a header value"));
    }
    headers
}

const MESSAGE_ID: &str = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
