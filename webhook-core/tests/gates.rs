//! The gates in order: grammar, time, key, signature, and what each refuses.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use bytes::Bytes;
use support::{Badge, NOW, Ticket, ring, signed, verify};
use webhook_core::danger::trusted_arrival;
use webhook_core::{
    Algorithm, Candidate, Envelope, EventId, Freshness, Head, Identities, InvalidEvent, Judged,
    KeyConfig, Keyring, Malformed, Provider, Rejection, SecretFormat, Segment, Signed, Signing,
    Spec, Tag, Timestamp, Verified, Window,
};

const BODY: &[u8] = br#"{"id":"1","type":"a"}"#;

#[test]
fn a_signed_request_verifies_whatever_its_chunks() {
    let keys = ring(&["0123456789abcdef"]);
    let headers = signed(&Ticket, &keys, BODY, NOW);
    let body = verify(&Ticket, &keys, &headers, BODY, NOW, |verified| {
        verified.body().clone()
    });
    assert_eq!(body.unwrap(), BODY);
}

#[test]
fn a_key_proves_itself_only_where_the_provider_asks() {
    let keys = ring(&["0123456789abcdef"]);
    let headers = signed(&Ticket, &keys, BODY, NOW);
    let proof = verify(&Ticket, &keys, &headers, BODY, NOW, |verified| {
        verified.proof("challenge").is_some()
    });
    assert_eq!(proof, Ok(false));
}

#[test]
fn the_matching_key_is_recorded_wherever_it_stands() {
    let all = ring(&["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"]);
    for secret in ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"] {
        let one = ring(&[secret]);
        let headers = signed(&Ticket, &one, BODY, NOW);
        let found = verify(&Ticket, &all, &headers, BODY, NOW, |v| {
            v.key().fingerprint()
        })
        .unwrap();
        assert_eq!(Some(found), one.fingerprints().next());
    }
}

#[test]
fn e5_stale_and_future_never_verify_but_say_whether_they_are_authentic() {
    let keys = ring(&["0123456789abcdef"]);
    let other = ring(&["fedcba9876543210"]);
    for (at, ring, authentic) in [(NOW - 301, &keys, true), (NOW - 301, &other, false)] {
        let headers = signed(&Ticket, ring, BODY, at);
        let rejection = verify(&Ticket, &keys, &headers, BODY, NOW, |_| ()).unwrap_err();
        assert_eq!(
            rejection,
            Rejection::Stale {
                by_secs: 301,
                authentic
            }
        );
    }
    for (at, ring, authentic) in [(NOW + 301, &keys, true), (NOW + 301, &other, false)] {
        let headers = signed(&Ticket, ring, BODY, at);
        let rejection = verify(&Ticket, &keys, &headers, BODY, NOW, |_| ()).unwrap_err();
        assert_eq!(
            rejection,
            Rejection::Future {
                by_secs: 301,
                authentic
            }
        );
    }
    for at in [NOW - 300, NOW + 300] {
        let headers = signed(&Ticket, &keys, BODY, at);
        verify(&Ticket, &keys, &headers, BODY, NOW, |_| ()).unwrap();
    }
}

#[test]
fn a_retired_key_is_refused_even_when_fresh() {
    let format = SecretFormat::Text { prefix: "" };
    let old = KeyConfig::new("bbbbbbbbbbbbbbbb").retire_at(NOW);
    let keys = Keyring::build(format, [KeyConfig::new("aaaaaaaaaaaaaaaa"), old]).unwrap();
    let headers = signed(&Ticket, &ring(&["bbbbbbbbbbbbbbbb"]), BODY, NOW);
    let rejection = verify(&Ticket, &keys, &headers, BODY, NOW, |_| ()).unwrap_err();
    assert_eq!(rejection, Rejection::SignatureMismatch);
    verify(&Ticket, &keys, &headers, BODY, NOW - 1, |_| ()).unwrap();
}

#[test]
fn the_cap_is_exact_and_nothing_is_truncated() {
    let keys = ring(&["0123456789abcdef"]);
    let headers = signed(&Badge, &keys, &[b'x'; 100], NOW);
    let fields: Vec<_> = headers
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_bytes()))
        .collect();
    let head = Head::new("POST", "/", fields).unwrap();
    let now = trusted_arrival(NOW);
    let verifier = |cap| {
        let judged = Judged::judge(&Badge, &head, Window::FIVE_MINUTES, now).unwrap();
        assert_eq!(judged.freshness(), Freshness::Fresh);
        judged.keyed(&keys, now, cap).unwrap()
    };
    let mut exact = verifier(100);
    exact.update(Bytes::from(vec![b'x'; 60])).unwrap();
    exact.update(Bytes::from(vec![b'x'; 40])).unwrap();
    exact.finish(&head).unwrap();
    let mut over = verifier(99);
    over.update(Bytes::from(vec![b'x'; 60])).unwrap();
    assert_eq!(
        over.update(Bytes::from(vec![b'x'; 40])),
        Err(Rejection::TooLarge { max_bytes: 99 })
    );
}

#[test]
fn heads_are_bounded() {
    let field = ("a", &b"b"[..]);
    assert!(Head::new("POST", "/", vec![field; 64]).is_ok());
    assert_eq!(
        Head::new("POST", "/", vec![field; 65]).unwrap_err(),
        Malformed::HeadTooLarge
    );
    let long = vec![b'x'; 16 * 1024];
    assert_eq!(
        Head::new("POST", "/", [("a", &long[..])]).unwrap_err(),
        Malformed::HeadTooLarge
    );
}

#[test]
fn names_compare_without_case_and_repeats_are_seen() {
    let head = Head::new(
        "POST",
        "/",
        [("X-A", &b"1"[..]), ("x-a", b"2"), ("X-B", b"\xff")],
    )
    .unwrap();
    assert_eq!(head.all("x-A").count(), 2);
    assert_eq!(head.one("x-a"), Err(Malformed::Repeated("x-a")));
    assert_eq!(head.one("x-b"), Err(Malformed::Grammar("x-b")));
    assert_eq!(head.one("x-c"), Err(Malformed::Missing("x-c")));
}

/// A provider whose author got the envelope wrong.
#[derive(Debug)]
struct Careless(Author);

type Author = for<'h, 'r> fn(&'h Head<'r>) -> Envelope<'r>;

static CARELESS: Spec = Spec::timestamped("careless", Window::FIVE_MINUTES);

impl Provider for Careless {
    type Identity = Signed;
    fn spec(&self) -> &Spec {
        &CARELESS
    }
    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Ok((self.0)(head))
    }
    fn sign(&self, _: &Signing<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    fn identities(&self, _: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        Err(InvalidEvent::Body)
    }
}

fn candidate() -> Candidate<'static> {
    let tag = Tag::from_hex(Algorithm::HmacSha256, &"0".repeat(64)).unwrap();
    Candidate::unnamed(Algorithm::HmacSha256, tag)
}

fn now_text() -> Timestamp<'static> {
    Timestamp::seconds("1750000000").unwrap()
}

fn event_id() -> EventId {
    EventId::new("evt_1").unwrap()
}

/// Right but for what `content` says of an id.
fn stamped<const N: usize>(content: [Segment<'_>; N]) -> Envelope<'_> {
    let content = content.into_iter().chain([Segment::Timestamp]);
    Envelope::new(content).at(now_text()).candidate(candidate())
}

#[test]
fn an_envelope_that_leaves_something_unsigned_is_refused() {
    let cases: [(Author, Malformed); 9] = [
        (
            |_| {
                Envelope::new([Segment::Body])
                    .at(now_text())
                    .candidate(candidate())
            },
            Malformed::Timestamp,
        ),
        (
            |_| Envelope::new([Segment::Timestamp, Segment::Body]).candidate(candidate()),
            Malformed::Timestamp,
        ),
        (
            |_| Envelope::new([Segment::Body]).candidate(candidate()),
            Malformed::Timestamp,
        ),
        (
            |_| {
                Envelope::new([Segment::Timestamp])
                    .at(now_text())
                    .candidate(candidate())
            },
            Malformed::Candidates,
        ),
        (
            |_| Envelope::new([Segment::Timestamp, Segment::Body]).at(now_text()),
            Malformed::Candidates,
        ),
        (
            |_| {
                (0..17).fold(
                    Envelope::new([Segment::Timestamp, Segment::Body]).at(now_text()),
                    |e, _| e.candidate(candidate()),
                )
            },
            Malformed::Candidates,
        ),
        (|_| stamped([Segment::Body]).id(event_id()), Malformed::Id),
        (
            |_| stamped([Segment::Id, Segment::text("."), Segment::Body]),
            Malformed::Id,
        ),
        (
            |_| stamped([Segment::Id, Segment::Id, Segment::Body]).id(event_id()),
            Malformed::Id,
        ),
    ];
    let head = Head::new("POST", "/", []).unwrap();
    for (envelope, why) in cases {
        let judged = Judged::judge(
            &Careless(envelope),
            &head,
            Window::FIVE_MINUTES,
            trusted_arrival(NOW),
        );
        assert_eq!(judged.unwrap_err(), Rejection::Malformed(why));
    }
}
