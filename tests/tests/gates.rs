//! What reaches the ledger over HTTP, and what does not.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use webhook_core::{KeyConfig, Keyring, Provider as _, SecretFormat, Signing};
use webhook_github::GitHub;
use webhook_mailgun::Mailgun;
use webhook_meta::Meta;
use webhook_slack::Slack;
use webhook_sns::Sns;
use webhook_stripe::Stripe;
use webhook_tests::app::{
    App, CERTIFICATE, CERTIFIED, NOW, SECRET, TOPIC, Tuning, block_on, custom, eventually, signed,
};
use webhook_tests::on_both;
use webhook_tests::stores::Store;
use webhook_tests::wire::{Answer, connect, head, post, raw, read};
use webhook_timestamped::Timestamped;

type Headers = Vec<(String, String)>;

on_both!(
    an_accepted_event_takes_effect_once_and_its_copy_is_a_duplicate,
    every_refusal_is_the_same_answer_and_claims_nothing,
    the_window_is_inclusive_at_300_seconds_on_both_sides,
    g2_sizes_up_to_the_cap_are_accepted_and_one_byte_more_is_413,
    no_malformed_header_reaches_the_ledger,
    authentic_bytes_that_are_no_event_are_400_and_claim_nothing,
    d9_awkward_but_authentic_bodies_are_events,
    other_codings_media_and_methods_are_refused,
    d1_d2_d14_github_identity_is_claimed_with_its_content,
    slack_challenges_are_answered_only_when_signed,
    a_get_is_a_challenge_or_nothing_and_claims_nothing,
    an_envelope_in_the_body_claims_its_token_and_its_content,
    a_certificate_that_a_body_names_is_asked_for_and_no_tenant,
    a_slow_body_is_408_and_a_broken_one_claims_nothing,
    g1_the_unauthenticated_budget_drops_the_slowest,
    d8_what_is_not_for_this_endpoint_is_acknowledged_and_not_claimed,
    f3_unlisted_events_of_a_provider_that_never_retries_are_kept,
    a_refused_connection_is_closed_however_its_body_comes,
    a_body_in_crumbs_is_408,
);

fn start<S: Store>(tuning: Tuning) -> (Arc<S>, App) {
    let store = Arc::new(block_on(S::fresh()));
    let app = App::start(&store, tuning);
    (store, app)
}

fn effects<S: Store>(store: &S) -> i64 {
    block_on(store.number("select count(*) from effect"))
}

fn rows<S: Store>(store: &S) -> (i64, i64, i64) {
    block_on(async {
        (
            store.number("select count(*) from webhook.claim").await,
            store.number("select count(*) from webhook.inbox").await,
            store
                .number("select count(*) from webhook.quarantine")
                .await,
        )
    })
}

fn replaced(headers: &[(String, String)], name: &str, value: &str) -> Headers {
    headers
        .iter()
        .map(|(own, old)| {
            let new = if own.eq_ignore_ascii_case(name) {
                value
            } else {
                old
            };
            (own.clone(), new.to_owned())
        })
        .collect()
}

fn without(headers: &[(String, String)], name: &str) -> Headers {
    headers
        .iter()
        .filter(|(own, _)| !own.eq_ignore_ascii_case(name))
        .cloned()
        .collect()
}

fn with(headers: &[(String, String)], name: &str, value: &str) -> Headers {
    let mut headers = headers.to_vec();
    headers.push((name.to_owned(), value.to_owned()));
    headers
}

fn value<'h>(headers: &'h [(String, String)], name: &str) -> &'h str {
    let found = headers
        .iter()
        .find(|(own, _)| own.eq_ignore_ascii_case(name));
    &found.expect("the header is there").1
}

const SIGNATURE: &str = "X-Webhook-Signature";
const TIMESTAMP: &str = "X-Webhook-Timestamp";

fn an_accepted_event_takes_effect_once_and_its_copy_is_a_duplicate<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let (headers, body) = custom("one", "note.created");
    for _ in 0..3 {
        let answer = post(app.address, "/custom", &headers, &body);
        assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    }
    eventually("the effect is there", || effects(&*store) == 1);
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (1, (1, 1, 0)));
}

fn every_refusal_is_the_same_answer_and_claims_nothing<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let (headers, body) = custom("refused", "note.created");
    let good = value(&headers, SIGNATURE).to_owned();
    let hex = good.strip_prefix("k1=").unwrap();
    let stale = signed("custom", &Timestamped, &body, NOW - 3600);
    let future = signed("custom", &Timestamped, &body, NOW + 365 * 24 * 3600);
    let forged = format!(
        "k1={}{}",
        if hex.starts_with('0') { "1" } else { "0" },
        &hex[1..]
    );
    let mut tampered = body.clone();
    let last = tampered.len() - 2;
    tampered[last] ^= 1;
    let cases: Vec<(&str, Headers, &[u8])> = vec![
        ("no signature", without(&headers, SIGNATURE), &body),
        ("no timestamp", without(&headers, TIMESTAMP), &body),
        ("empty signature", replaced(&headers, SIGNATURE, ""), &body),
        ("forged", replaced(&headers, SIGNATURE, &forged), &body),
        (
            "truncated",
            replaced(&headers, SIGNATURE, &good[..40]),
            &body,
        ),
        (
            "upper case",
            replaced(&headers, SIGNATURE, &format!("k1={}", hex.to_uppercase())),
            &body,
        ),
        (
            "unknown key",
            replaced(&headers, SIGNATURE, &format!("k2={hex}")),
            &body,
        ),
        ("same line twice", with(&headers, SIGNATURE, &good), &body),
        ("another line", with(&headers, SIGNATURE, &forged), &body),
        (
            "two timestamps",
            with(&headers, TIMESTAMP, &NOW.to_string()),
            &body,
        ),
        (
            "another timestamp",
            replaced(&headers, TIMESTAMP, &(NOW + 1).to_string()),
            &body,
        ),
        (
            "padded timestamp",
            replaced(&headers, TIMESTAMP, &format!("0{NOW}")),
            &body,
        ),
        (
            "signed timestamp",
            replaced(&headers, TIMESTAMP, &format!("+{NOW}")),
            &body,
        ),
        (
            "400 digits",
            replaced(&headers, TIMESTAMP, &"9".repeat(400)),
            &body,
        ),
        ("stale and signed", stale.clone(), &body),
        (
            "stale and forged",
            replaced(&stale, SIGNATURE, &forged),
            &body,
        ),
        ("future and signed", future, &body),
        ("tampered", headers.clone(), &tampered),
        ("empty body", headers.clone(), b""),
        (
            "too many headers",
            (0..70).fold(headers.clone(), |h, n| with(&h, &format!("x-{n}"), "1")),
            &body,
        ),
        (
            "large headers",
            with(&headers, "x-large", &"x".repeat(20_000)),
            &body,
        ),
    ];
    let mut answers: Vec<(&str, Answer)> = Vec::new();
    for (name, headers, body) in cases {
        answers.push((name, post(app.address, "/custom", &headers, body)));
    }
    let (_, first) = answers.first().cloned().unwrap();
    assert_eq!((first.status, first.body.as_str()), (401, "refused\n"));
    for (name, mut answer) in answers {
        // Whether the connection stays open depends on how much of the body was read.
        answer
            .headers
            .retain(|line| !line.starts_with("connection: "));
        let mut first = first.clone();
        first
            .headers
            .retain(|line| !line.starts_with("connection: "));
        assert_eq!(answer, first, "{name}");
    }
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (0, (0, 0, 0)));
}

fn the_window_is_inclusive_at_300_seconds_on_both_sides<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    for (shift, status) in [(-301, 401), (-300, 200), (300, 200), (301, 401)] {
        let body = format!(r#"{{"id":"at{shift}","type":"note.created"}}"#);
        let headers = signed("custom", &Timestamped, body.as_bytes(), NOW + shift);
        assert_eq!(
            post(app.address, "/custom", &headers, body.as_bytes()).status,
            status,
            "{shift}"
        );
    }
    app.stop();
    assert_eq!(rows(&*store).1, 2);
}

fn g2_sizes_up_to_the_cap_are_accepted_and_one_byte_more_is_413<S: Store>() {
    const CAP: usize = 1024 * 1024;
    let (store, app) = start::<S>(Tuning::default());
    for (size, status) in [
        (200 << 10, 200),
        (300 << 10, 200),
        (CAP, 200),
        (CAP + 1, 413),
    ] {
        let start = format!(r#"{{"id":"{size}","type":"note.created","pad":""#);
        let body = format!("{start}{}\"}}", "x".repeat(size - start.len() - 2));
        assert_eq!(body.len(), size);
        let headers = signed("custom", &Timestamped, body.as_bytes(), NOW);
        assert_eq!(
            post(app.address, "/custom", &headers, body.as_bytes()).status,
            status,
            "{size}"
        );
    }
    // Over the cap without saying so beforehand.
    let (headers, _) = custom("chunked", "note.created");
    let mut stream = connect(app.address);
    let request = head("/custom", &headers) + "Transfer-Encoding: chunked\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    for _ in 0..20 {
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    assert_eq!(read(&mut stream).status, 413);
    // A length near 2^63 allocates nothing and ends nothing.
    let request = head("/custom", &headers) + "Content-Length: 9223372036854775807\r\n\r\nhello";
    assert_eq!(raw(app.address, request.as_bytes()).status, 413);
    // A short length before a long body: the rest is another, broken request.
    let request = head("/custom", &headers) + "Content-Length: 5\r\n\r\n" + &"x".repeat(100_000);
    assert_eq!(raw(app.address, request.as_bytes()).status, 401);
    let (headers, body) = custom("alive", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    app.stop();
    assert_eq!(rows(&*store).1, 4);
}

fn no_malformed_header_reaches_the_ledger<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let (headers, body) = custom("never", "note.created");
    let good = value(&headers, SIGNATURE).to_owned();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    // Bytes a header value may hold on the wire, near the good value and far from it.
    let text = prop_oneof![
        "[ -~]{0,120}",
        "k1=[0-9a-f]{0,70}",
        "[a-z0-9=,]{0,200}",
        "\\PC{0,40}"
    ];
    let cut = (0..good.len(), 0..good.len(), "[ -~]{1,3}");
    let result = runner.run(
        &(text, cut, any::<bool>()),
        |(text, (from, to, patch), random)| {
            let value = if random {
                text
            } else {
                let (from, to) = (from.min(to), from.max(to));
                format!("{}{patch}{}", &good[..from], &good[to..])
            };
            prop_assume!(value.trim() != good && !value.contains(['\r', '\n']));
            let answer = post(
                app.address,
                "/custom",
                &replaced(&headers, SIGNATURE, &value),
                &body,
            );
            prop_assert!(matches!(answer.status, 400 | 401), "{value:?}: {answer:?}");
            Ok(())
        },
    );
    result.unwrap();
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (0, (0, 0, 0)));
}

fn authentic_bytes_that_are_no_event_are_400_and_claim_nothing<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let long = "x".repeat(256);
    let bodies = [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{".to_owned(),
        r#"{"id":"a","type":"note.created"} x"#.to_owned(),
        r#"{"type":"note.created"}"#.to_owned(),
        r#"{"id":"a"}"#.to_owned(),
        r#"{"id":"","type":"note.created"}"#.to_owned(),
        r#"{"id":"a","type":""}"#.to_owned(),
        r#"{"id":7,"type":"note.created"}"#.to_owned(),
        r#"{"id":"a\u0000","type":"note.created"}"#.to_owned(),
        r#"{"id":"a","id":"b","type":"note.created"}"#.to_owned(),
        format!(r#"{{"id":"{long}","type":"note.created"}}"#),
        format!(r#"{{"id":"a","type":"{long}"}}"#),
    ];
    for body in bodies {
        let headers = signed("custom", &Timestamped, body.as_bytes(), NOW);
        let answer = post(app.address, "/custom", &headers, body.as_bytes());
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (400, "refused\n"),
            "{body}"
        );
    }
    // Not text at all: refused without and with a bad signature, past that gate with a good one.
    let bytes = b"\xff\xfe\x00";
    let headers = signed("custom", &Timestamped, bytes, NOW);
    assert_eq!(
        post(app.address, "/custom", &without(&headers, SIGNATURE), bytes).status,
        401
    );
    let bad = replaced(&headers, SIGNATURE, &format!("k1={}", "0".repeat(64)));
    assert_eq!(post(app.address, "/custom", &bad, bytes).status, 401);
    assert_eq!(post(app.address, "/custom", &headers, bytes).status, 400);
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (0, (0, 0, 0)));
}

fn d9_awkward_but_authentic_bodies_are_events<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let bodies: Vec<Vec<u8>> = vec![
        br#"{"id":"escapes","type":"note.created","s":"\u001B\/"}"#.to_vec(),
        br#"{"type":"note.created","n":[1.0,1e2],"id":"order"}"#.to_vec(),
        b"\xef\xbb\xbf{\"id\":\"bom\",\"type\":\"note.created\"}".to_vec(),
        b"{\r\n\"id\":\"crlf\",\r\n\"type\":\"note.created\"}\r\n".to_vec(),
        br#"{"id":"dollars","type":"note.created","s":"$& $$ $1"}"#.to_vec(),
        br#"{"id":"large","type":"note.created","n":1e400,"m":123456789012345678901234567890}"#
            .to_vec(),
        br#"{"id":"surrogate","type":"note.created","s":"\ud800"}"#.to_vec(),
        format!(r#"{{"id":"deep","type":"note.created","s":{deep}}}"#).into_bytes(),
        r#"{"id":" spaces ","type":"note.created"}"#.as_bytes().to_vec(),
        "{\"id\":\"nfc-\u{e9}\",\"type\":\"note.created\"}"
            .as_bytes()
            .to_vec(),
        "{\"id\":\"nfc-e\u{301}\",\"type\":\"note.created\"}"
            .as_bytes()
            .to_vec(),
        format!(r#"{{"id":"{}","type":"note.created"}}"#, "x".repeat(255)).into_bytes(),
    ];
    for body in &bodies {
        let headers = signed("custom", &Timestamped, body, NOW);
        let answer = post(app.address, "/custom", &headers, body);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(body));
    }
    // A character split between two chunks.
    let body = "{\"id\":\"split\",\"type\":\"note.created\",\"s\":\"\u{1f980}\"}".as_bytes();
    let middle = body.iter().position(|byte| *byte == 0xf0).unwrap() + 2;
    let (one, two) = body.split_at(middle);
    let mut request = head("/custom", &signed("custom", &Timestamped, body, NOW)).into_bytes();
    request.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
    let mut stream = connect(app.address);
    stream.write_all(&request).unwrap();
    for part in [one, two] {
        stream
            .write_all(format!("{:x}\r\n", part.len()).as_bytes())
            .unwrap();
        stream.write_all(part).unwrap();
        stream.write_all(b"\r\n").unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(read(&mut stream).status, 200);
    let all = i64::try_from(bodies.len()).unwrap() + 1;
    eventually("every event took effect", || effects(&*store) == all);
    app.stop();
    assert_eq!(rows(&*store), (all, all, 0));
}

fn other_codings_media_and_methods_are_refused<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let (headers, body) = custom("media", "note.created");
    let send = |headers: &Headers| post(app.address, "/custom", headers, &body).status;
    for coding in ["gzip", "br", "deflate", "zstd", "gzip, identity", "x"] {
        assert_eq!(
            send(&with(&headers, "Content-Encoding", coding)),
            415,
            "{coding}"
        );
    }
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/jsonx",
    ] {
        assert_eq!(
            send(&replaced(&headers, "Content-Type", media)),
            415,
            "{media}"
        );
    }
    let get = b"GET /custom HTTP/1.1\r\nHost: test\r\n\r\n";
    assert_eq!(raw(app.address, get).status, 405);
    assert_eq!(rows(&*store), (0, 0, 0));
    let plain = with(&headers, "Content-Encoding", "identity");
    let plain = replaced(&plain, "Content-Type", "Application/JSON; charset=utf-8");
    assert_eq!(send(&plain), 200);
    assert_eq!(send(&without(&headers, "Content-Type")), 200);
    // Header names in any case, and strays that mean something elsewhere.
    let shouted: Headers = headers
        .iter()
        .map(|(n, v)| (n.to_uppercase(), v.clone()))
        .collect();
    assert_eq!(send(&with(&shouted, "Idempotency-Key", "another")), 200);
    app.stop();
    assert_eq!(rows(&*store), (1, 1, 0));
}

fn a_get_is_a_challenge_or_nothing_and_claims_nothing<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let send = |method: &str, target: &str, rest: &str| {
        let request = format!("{method} {target} HTTP/1.1\r\nHost: test\r\n{rest}");
        raw(app.address, request.as_bytes())
    };
    let good = format!("/meta?hub.mode=subscribe&hub.challenge=42&hub.verify_token={SECRET}");
    let answer = send("GET", &good, "\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "42"));
    for line in [
        "content-type: text/plain; charset=utf-8",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
    ] {
        assert!(answer.headers.iter().any(|own| own == line), "{answer:?}");
    }
    // An authentic event in the body of a GET is not even read.
    let body = r#"{"object":"page","entry":[]}"#;
    let signed = signed("meta", &Meta::verified_by(SECRET), body.as_bytes(), NOW);
    let event = head("/meta", &signed).replacen("POST", "GET", 1);
    let event = format!("{event}Content-Length: {}\r\n\r\n{body}", body.len());
    assert_eq!(raw(app.address, event.as_bytes()).status, 403);
    let refused = send("GET", "/meta", "\r\n");
    assert_eq!((refused.status, refused.body.as_str()), (403, "refused\n"));
    for target in [
        &good.replace(SECRET, "another"),
        &good.replace("42", "%3Cb%3E"),
        &format!("{good}&hub.challenge=43"),
    ] {
        assert_eq!(send("GET", target, "\r\n"), refused, "{target}");
    }
    for method in ["HEAD", "PUT", "DELETE", "OPTIONS"] {
        assert_eq!(send(method, &good, "\r\n").status, 405, "{method}");
    }
    let elsewhere = good.replace("/meta", "/custom");
    assert_eq!(send("GET", &elsewhere, "\r\n").status, 405);
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (0, (0, 0, 0)));
}

/// A body of Mailgun, whose signature covers a token and no event.
fn mailgun(event: &str, at: i64) -> String {
    let key = KeyConfig::new(format!("{SECRET}-mailgun"));
    let keys = Keyring::build(SecretFormat::Text { prefix: "" }, [key]).unwrap();
    let signing = Signing::new(&keys, event.as_bytes(), at);
    let body = Mailgun::dangerous_unsigned_events().enclose(&signing);
    String::from_utf8(body.unwrap()).unwrap()
}

fn an_envelope_in_the_body_claims_its_token_and_its_content<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let json = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    let send = |body: &str| post(app.address, "/mailgun", &json, body.as_bytes());
    let event = r#"{"event":"delivered","recipient":"ann@acme.example"}"#;
    let good = mailgun(event, NOW);
    let wrong = good.replace("1750000000", "1750000001");
    let twice = good.replacen('{', r#"{"signature":{},"#, 1);
    let refused = send(&wrong);
    assert_eq!((refused.status, refused.body.as_str()), (401, "refused\n"));
    let none = "{}".to_owned();
    for body in [
        twice,
        none,
        "x".to_owned(),
        mailgun(event, NOW - 301),
        mailgun(event, NOW + 301),
    ] {
        assert_eq!(send(&body), refused, "{body}");
    }
    assert_eq!(send(&" ".repeat(1024 * 1024 + 1)).status, 413);
    assert_eq!(rows(&*store), (0, 0, 0));
    for _ in 0..2 {
        assert_eq!(send(&good).status, 200);
    }
    eventually("the effect is there", || effects(&*store) == 1);
    // Another event under its token; then its event under another token: both are kept, neither runs.
    assert_eq!(send(&good.replace("ann@", "eve@")).status, 200);
    let (head, _) = good.split_once(r#","event-data""#).unwrap();
    let other = mailgun(r#"{"event":"delivered"}"#, NOW);
    let (other_head, _) = other.split_once(r#","event-data""#).unwrap();
    assert_eq!(send(&good.replace(head, other_head)).status, 200);
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (1, (2, 1, 2)));
}

fn a_certificate_that_a_body_names_is_asked_for_and_no_tenant<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let text = vec![(
        "Content-Type".to_owned(),
        "text/plain; charset=UTF-8".to_owned(),
    )];
    let send = |body: &str| post(app.address, "/sns", &text, body.as_bytes());
    let key = KeyConfig::new(CERTIFIED.trim());
    let keys = Keyring::build(SecretFormat::RsaSpki, [key]).unwrap();
    let body = Sns::of([TOPIC])
        .enclose(&Signing::new(&keys, b"7", NOW))
        .unwrap();
    let body = String::from_utf8(body).unwrap();
    let certified = |url: &str| body.replacen('{', &format!(r#"{{"SigningCertURL":"{url}","#), 1);
    let good = certified(CERTIFICATE);
    // SNS never sends again what was answered with a 4xx: what may be a key of ours that is missing is "unavailable".
    for (other, status) in [
        (certified("https://evil.example/known.pem"), 503),
        (good.replace(r#""Message":"7""#, r#""Message":"8""#), 503),
        (body.clone(), 503),
        (certified(""), 503),
        (certified(&"x".repeat(256)), 503),
        (good.replacen('{', r#"{"SigningCertURL":"","#, 1), 401),
        ("x".to_owned(), 401),
    ] {
        let refused = send(&other);
        assert_eq!(
            (refused.status, &*refused.body),
            (status, "refused\n"),
            "{other}"
        );
        assert_eq!(refused.comes_again, status == 503, "{other}");
    }
    assert_eq!(rows(&*store), (0, 0, 0));
    for _ in 0..2 {
        assert_eq!(send(&good).status, 200);
    }
    eventually("the effect is there", || effects(&*store) == 1);
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (1, (1, 1, 0)));
}

fn github(id: &str, event: &str, body: &[u8]) -> Headers {
    let headers = with(
        &signed("github", &GitHub, body, NOW),
        "X-GitHub-Delivery",
        id,
    );
    with(&headers, "X-GitHub-Event", event)
}

const PUSH: &[u8] = include_bytes!("../../providers/github/testdata/payloads/push.json");
const PING: &[u8] = include_bytes!("../../providers/github/testdata/payloads/ping.json");

fn d1_d2_d14_github_identity_is_claimed_with_its_content<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let send = |headers: &Headers, body| post(app.address, "/github", headers, body).status;
    let quarantined = || rows(&*store).2;
    assert_eq!(send(&github("a-1", "push", PUSH), PUSH), 200);
    eventually("the push took effect", || effects(&*store) == 1);
    assert_eq!(send(&github("a-1", "push", PUSH), PUSH), 200); // its redelivery
    assert_eq!(quarantined(), 0);
    assert_eq!(send(&github("a-2", "push", PUSH), PUSH), 200); // a captured body under a fresh id
    assert_eq!(quarantined(), 1);
    assert_eq!(send(&github("a-3", "push", PUSH), PUSH), 200); // again: the same row
    assert_eq!(quarantined(), 1);
    assert_eq!(send(&github("a-1", "ping", PUSH), PUSH), 200); // under another label
    assert_eq!(quarantined(), 2);
    // The quarantined ids are free for the real deliveries.
    assert_eq!(send(&github("a-2", "ping", PING), PING), 200);
    eventually("the ping took effect", || effects(&*store) == 2);
    // A label that the body does not bear, seen before the real delivery: no key is spent.
    let other: Vec<u8> = [PING, b" "].concat();
    assert_eq!(send(&github("b-1", "push", &other), &other), 200);
    assert_eq!(send(&github("b-1", "ping", &other), &other), 200);
    eventually("the real one took effect", || effects(&*store) == 3);
    // Never without an id or a type.
    let fresh: Vec<u8> = [PUSH, b"\n"].concat();
    for name in ["X-GitHub-Delivery", "X-GitHub-Event"] {
        assert_eq!(
            send(&without(&github("c-1", "push", &fresh), name), &fresh),
            400
        );
        assert_eq!(
            send(&with(&github("c-1", "push", &fresh), name, "d"), &fresh),
            400
        );
    }
    for id in ["", &"a".repeat(3000), "a b", "a\u{e9}"] {
        assert_eq!(send(&github(id, "push", &fresh), &fresh), 400, "{id}");
    }
    // Only the SHA-256 header counts.
    let sha1 = with(
        &without(&github("c-1", "push", &fresh), "X-Hub-Signature-256"),
        "X-Hub-Signature",
        "sha1=0",
    );
    assert_eq!(send(&sha1, &fresh), 401);
    app.stop();
    assert_eq!(effects(&*store), 3);
}

fn slack_challenges_are_answered_only_when_signed<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let challenge =
        |text: &str| serde_json::json!({"type": "url_verification", "challenge": text}).to_string();
    let body = challenge("<script>3eZbrw1a</script>");
    let headers = signed("slack", &Slack, body.as_bytes(), NOW);
    assert_eq!(
        post(
            app.address,
            "/slack",
            &without(&headers, "X-Slack-Signature"),
            body.as_bytes()
        )
        .status,
        401
    );
    let answer = post(app.address, "/slack", &headers, body.as_bytes());
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, "<script>3eZbrw1a</script>")
    );
    assert!(
        answer
            .headers
            .iter()
            .any(|line| line == "content-type: text/plain; charset=utf-8")
    );
    assert!(
        answer
            .headers
            .iter()
            .any(|line| line == "x-content-type-options: nosniff")
    );
    let long = challenge(&"x".repeat(100 * 1024));
    let headers = signed("slack", &Slack, long.as_bytes(), NOW);
    assert_eq!(
        post(app.address, "/slack", &headers, long.as_bytes()).status,
        400
    );
    app.stop();
    assert_eq!(rows(&*store), (0, 0, 0));
}

fn a_slow_body_is_408_and_a_broken_one_claims_nothing<S: Store>() {
    let (store, app) = start::<S>(Tuning {
        body_timeout: Duration::from_millis(400),
        ..Tuning::default()
    });
    let (headers, body) = custom("slow", "note.created");
    let request = head("/custom", &headers) + &format!("Content-Length: {}\r\n\r\n", body.len());
    let mut stream = connect(app.address);
    stream.write_all(request.as_bytes()).unwrap();
    let began = Instant::now();
    for byte in &body {
        if stream.write_all(&[*byte]).is_err() || began.elapsed() > Duration::from_secs(1) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(read(&mut stream).status, 408);
    // A client that hangs up half-way.
    let mut stream = connect(app.address);
    stream.write_all(request.as_bytes()).unwrap();
    stream.write_all(&body[..body.len() / 2]).unwrap();
    drop(stream);
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    app.stop();
    assert_eq!(rows(&*store).1, 1);
}

fn g1_the_unauthenticated_budget_drops_the_slowest<S: Store>() {
    let (_store, app) = start::<S>(Tuning {
        unauthenticated_bytes: 1024 * 1024,
        ..Tuning::default()
    });
    // Four uploads stall after 300 KiB each: together more than the budget.
    let (headers, _) = custom("stalled", "note.created");
    let request = head("/custom", &headers) + "Content-Length: 1000000\r\n\r\n";
    let mut stalled: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = connect(app.address);
            stream.write_all(request.as_bytes()).unwrap();
            stream.write_all(&vec![b'x'; 300 * 1024]).unwrap();
            std::thread::sleep(Duration::from_millis(100));
            stream
        })
        .collect();
    assert_eq!(read(stalled.first_mut().unwrap()).status, 503);
    // Whoever sends at once gets through.
    let (headers, body) = custom("honest", "note.created");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    drop(stalled);
}

fn d8_what_is_not_for_this_endpoint_is_acknowledged_and_not_claimed<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let (headers, body) = custom("unlisted", "nobody.wants.this");
    assert_eq!(post(app.address, "/custom", &headers, &body).status, 200);
    let body = br#"{"data":{"object":{}},"livemode":false,"type":"customer.created","id":"evt_1"}"#;
    let headers = signed("stripe", &Stripe::any_mode(), body, NOW);
    assert_eq!(post(app.address, "/stripe", &headers, body).status, 200);
    // Of an account that the endpoint does not serve.
    let body = br#"{"data":{"object":{}},"account":"acct_1","livemode":false,"type":"invoice.paid","id":"evt_2"}"#;
    let headers = signed("stripe", &Stripe::any_mode(), body, NOW);
    assert_eq!(post(app.address, "/stripe", &headers, body).status, 200);
    app.stop();
    assert_eq!((effects(&*store), rows(&*store)), (0, (0, 0, 0)));
}

fn f3_unlisted_events_of_a_provider_that_never_retries_are_kept<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let headers = github("s-1", "star", PUSH);
    for _ in 0..2 {
        assert_eq!(post(app.address, "/github", &headers, PUSH).status, 200);
    }
    app.stop();
    let ignored = "select count(*) from webhook.inbox where state = 'ignored'";
    assert_eq!(block_on(store.number(ignored)), 1);
    assert_eq!((effects(&*store), rows(&*store).1), (0, 1));
}

/// Whoever is refused cannot hold the connection by dripping on.
fn a_refused_connection_is_closed_however_its_body_comes<S: Store>() {
    let (_store, app) = start::<S>(Tuning::default());
    let stray = [("X-Stray".to_owned(), "1".to_owned())];
    for framing in [
        "Transfer-Encoding: chunked\r\n\r\n",
        "Content-Length: 100000\r\n\r\n",
    ] {
        let mut stream = connect(app.address);
        stream
            .write_all((head("/custom", &stray) + framing).as_bytes())
            .unwrap();
        let began = Instant::now();
        let drip = if framing.starts_with("Transfer") {
            "1\r\nA\r\n"
        } else {
            "A"
        };
        while stream.write_all(drip.as_bytes()).is_ok() {
            assert!(began.elapsed() < Duration::from_secs(20), "{framing:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn a_body_in_crumbs_is_408<S: Store>() {
    let (store, app) = start::<S>(Tuning::default());
    let (headers, _) = custom("crumbs", "note.created");
    let request = head("/custom", &headers) + "Transfer-Encoding: chunked\r\n\r\n";
    let mut stream = connect(app.address);
    stream.write_all(request.as_bytes()).unwrap();
    for _ in 0..100 {
        // One-byte chunks, each a turn of the event loop; some arrive together.
        if stream
            .write_all("1\r\nA\r\n".repeat(100).as_bytes())
            .is_err()
        {
            break;
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    assert_eq!(read(&mut stream).status, 408);
    app.stop();
    assert_eq!(rows(&*store), (0, 0, 0));
}
