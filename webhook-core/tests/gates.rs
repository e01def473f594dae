//! The gates in order: grammar, time, key, signature, and what each refuses.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::borrow::Cow;

use bytes::Bytes;
use support::{Badge, NOW, Ticket, ring, signed, verify};
use webhook_core::danger::trusted_arrival;
use webhook_core::{
    Algorithm, Candidate, Envelope, EventId, Freshness, Head, Identities, InvalidEvent, Judged,
    KeyConfig, Keyring, Malformed, Provider, ReadBody, Rejection, SecretFormat, Segment, Signed,
    Signing, Spec, Tag, Timestamp, UntrustedBody, Verified, Window,
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

/// An untimestamped provider that is nothing but its envelope.
#[derive(Debug, Clone, Copy)]
struct Bare(Contents);

type Contents = fn() -> Vec<Vec<Segment<'static>>>;

static BARE: Spec = Spec::untimestamped("bare");

impl Provider for Bare {
    type Identity = Signed;
    fn spec(&self) -> &Spec {
        &BARE
    }
    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        let tag = Tag::from_hex(Algorithm::HmacSha256, head.one("x-tag")?);
        let tag = tag.ok_or(Malformed::Grammar("x-tag"))?;
        let candidate = Candidate::unnamed(Algorithm::HmacSha256, tag);
        let mut contents = (self.0)().into_iter();
        let first = Envelope::new(contents.next().unwrap_or_default());
        Ok(contents.fold(first, Envelope::or).candidate(candidate))
    }
    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        let segments = with.body();
        vec![("x-tag", hex(with, &[Segment::bytes(segments)]))]
    }
    fn identities(&self, _: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        Err(InvalidEvent::Body)
    }
}

/// A tag over these bytes alone.
fn hex(with: &Signing<'_>, content: &[Segment<'_>]) -> String {
    let tags = with.tags(Algorithm::HmacSha256, content);
    tags.first().map(|signed| signed.tag.to_hex()).unwrap()
}

/// Present `body` under a signature of `content`.
fn present(envelope: Contents, content: &str, body: &[u8]) -> Result<(), Rejection> {
    let keys = ring(&["fedcba9876543210", "0123456789abcdef"]);
    let headers = signed(
        &Bare(envelope),
        &ring(&["0123456789abcdef"]),
        content.as_bytes(),
        NOW,
    );
    verify(&Bare(envelope), &keys, &headers, body, NOW, |verified| {
        assert_eq!(verified.body(), body);
        assert_eq!(verified.unsigned_body(), None);
    })
}

#[test]
fn the_body_stands_in_the_content_as_its_digest_or_as_its_parameters() {
    // SHA-256 of "abc", FIPS 180-2, appendix B.1.
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let by_digest = || {
        vec![vec![
            Segment::text("<"),
            Segment::BodySha256Hex,
            Segment::text(">"),
        ]]
    };
    assert_eq!(present(by_digest, &format!("<{digest}>"), b"abc"), Ok(()));
    let mismatch = Err(Rejection::SignatureMismatch);
    assert_eq!(present(by_digest, &format!("<{digest}>"), b"abd"), mismatch);
    assert_eq!(present(by_digest, "<abc>", b"abc"), mismatch);

    let by_form = || vec![vec![Segment::text("/?"), Segment::BodyForm]];
    for (content, body) in [
        ("/?", &b""[..]),
        ("/?A1b x", b"b=+x&A=1"),
        ("/?a1a2", b"a=2&a=1&a=2"),
    ] {
        assert_eq!(present(by_form, content, body), Ok(()), "{content}");
    }
    assert_eq!(present(by_form, "/?a1a2", b"a=1&a=3"), mismatch);
    for body in [&b"a"[..], b"{}", b"a=%", b"a=\xff"] {
        let malformed = Err(Rejection::Malformed(Malformed::Body));
        assert_eq!(present(by_form, "/?", body), malformed);
    }
}

/// A checksum vouches for nothing: the body beside it is not what was verified.
#[test]
fn a_body_under_its_checksum_is_not_authentic() {
    let by_crc: Contents = || vec![vec![Segment::text("id|"), Segment::BodyCrc32]];
    let headers = signed(
        &Bare(by_crc),
        &ring(&["0123456789abcdef"]),
        b"id|3421780262",
        NOW,
    );
    let keys = ring(&["0123456789abcdef"]);
    // CRC-32 of "123456789" is 0xcbf43926.
    for (body, expected) in [
        (&b"123456789"[..], Ok(())),
        (b"123456780", Err(Rejection::SignatureMismatch)),
    ] {
        let verified = verify(&Bare(by_crc), &keys, &headers, body, NOW, |verified| {
            assert_eq!(verified.body(), &b""[..]);
            assert_eq!(verified.unsigned_body().unwrap(), body);
        });
        assert_eq!(verified, expected);
    }
}

#[test]
fn either_of_two_contents_may_be_signed_by_any_key() {
    let either: Contents = || {
        vec![
            vec![Segment::text("a"), Segment::Body, Segment::text("x")],
            vec![Segment::text("b"), Segment::Body],
        ]
    };
    for content in ["a{}x", "b{}"] {
        assert_eq!(present(either, content, b"{}"), Ok(()), "{content}");
    }
    for content in ["a{}", "b{}x", "{}", "a{}xb{}"] {
        let mismatch = Err(Rejection::SignatureMismatch);
        assert_eq!(present(either, content, b"{}"), mismatch, "{content}");
    }
    let bad: [Contents; 5] = [
        || vec![vec![Segment::Body], vec![Segment::text("a")]],
        || vec![vec![Segment::Body], vec![Segment::BodyForm]],
        || vec![vec![Segment::Body]; 3],
        || vec![vec![Segment::Body, Segment::BodySha256Hex]],
        || vec![vec![]],
    ];
    for envelope in bad {
        let malformed = Err(Rejection::Malformed(Malformed::Candidates));
        assert_eq!(present(envelope, "{}", b"{}"), malformed);
    }
}

/// Signs two members of the body, and leaves the rest unsigned.
#[derive(Debug)]
struct Letter(Spec);

static LETTER_SPEC: Spec = LETTER;
const LETTER: Spec = Spec::timestamped("letter", Window::FIVE_MINUTES).envelope_in_body();

fn read_letter(body: UntrustedBody<'_>) -> Result<Envelope<'_>, Malformed> {
    let [sent, token, tag] = body.texts(&["seal"], ["sent", "token", "tag"])?;
    let (Some(Cow::Borrowed(sent)), Some(token), Some(tag)) = (sent, token, tag) else {
        return Err(Malformed::Body);
    };
    let tag = Tag::from_hex(Algorithm::HmacSha256, &tag).ok_or(Malformed::Body)?;
    let content = [Segment::Timestamp, Segment::text("."), Segment::text(token)];
    Ok(Envelope::new(content)
        .at(Timestamp::seconds(sent)?)
        .candidate(Candidate::unnamed(Algorithm::HmacSha256, tag)))
}

impl Provider for Letter {
    type Identity = Signed;
    fn spec(&self) -> &Spec {
        &self.0
    }
    fn envelope<'r>(&self, _: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Ok(Envelope::in_body(read_letter))
    }
    fn sign(&self, _: &Signing<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    fn enclose(&self, with: &Signing<'_>) -> Option<Vec<u8>> {
        let content = [Segment::Timestamp, Segment::text(".token")];
        let (sent, tag) = (with.timestamp(), hex(with, &content));
        let seal = format!(r#"{{"sent":"{sent}","token":"token","tag":"{tag}"}}"#);
        let event = std::str::from_utf8(with.body()).ok()?;
        Some(format!(r#"{{"event":{event},"seal":{seal}}}"#).into())
    }
    fn identities(&self, _: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        Err(InvalidEvent::Body)
    }
}

fn letter(at: i64) -> String {
    let keys = ring(&["0123456789abcdef"]);
    let body = Letter(LETTER)
        .enclose(&Signing::new(&keys, b"1", at))
        .unwrap();
    String::from_utf8(body).unwrap()
}

fn open_letter(body: &str) -> Result<Bytes, Rejection> {
    let keys = ring(&["fedcba9876543210", "0123456789abcdef"]);
    verify(
        &Letter(LETTER),
        &keys,
        &[],
        body.as_bytes(),
        NOW,
        |verified| {
            assert_eq!(verified.unsigned_body().unwrap(), body.as_bytes());
            assert_eq!(verified.signed_at(), Some(NOW));
            verified.body().clone()
        },
    )
}

#[test]
fn of_an_envelope_in_the_body_only_the_signed_members_are_authentic() {
    let good = letter(NOW);
    let signed = "1750000000.token";
    assert_eq!(open_letter(&good).unwrap(), signed);
    // What is not signed can be anything, and is never in what was verified.
    let forged = good.replace(r#""event":1"#, r#""event":"forged""#);
    assert_eq!(open_letter(&forged).unwrap(), signed);
    for (old, new, why) in [
        (
            r#""token":"token""#,
            r#""token":"tokem""#,
            Rejection::SignatureMismatch,
        ),
        ("1750000000", "1750000001", Rejection::SignatureMismatch),
        (
            r#""token":"token""#,
            r#""t":"token""#,
            Rejection::Malformed(Malformed::Body),
        ),
        (
            r#""seal""#,
            r#""sea1""#,
            Rejection::Malformed(Malformed::Body),
        ),
        (
            r#""sent":""#,
            r#""sent":"0"#,
            Rejection::Malformed(Malformed::Timestamp),
        ),
        ("}}", "}", Rejection::Malformed(Malformed::Body)),
    ] {
        assert_eq!(open_letter(&good.replace(old, new)), Err(why), "{new}");
    }
    let (by_secs, authentic) = (301, true);
    let stale = Rejection::Stale { by_secs, authentic };
    assert_eq!(open_letter(&letter(NOW - 301)), Err(stale));
    let future = Rejection::Future { by_secs, authentic };
    assert_eq!(open_letter(&letter(NOW + 301)), Err(future));
    assert_eq!(
        open_letter(&"x".repeat(1 << 20)),
        Err(Rejection::Malformed(Malformed::Body))
    );
    let too_large = Rejection::TooLarge { max_bytes: 1 << 20 };
    assert_eq!(open_letter(&"x".repeat((1 << 20) + 1)), Err(too_large));
}

#[test]
fn an_envelope_stands_where_its_provider_says_or_nowhere() {
    let undeclared = Letter(Spec::timestamped("letter", Window::FIVE_MINUTES));
    let untimed = Letter(Spec::untimestamped("letter").envelope_in_body());
    let keys = ring(&["0123456789abcdef"]);
    let body = letter(NOW);
    for (provider, why) in [
        (undeclared, Malformed::Candidates),
        (untimed, Malformed::Timestamp),
    ] {
        let opened = verify(&provider, &keys, &[], body.as_bytes(), NOW, |_| ());
        assert_eq!(opened, Err(Rejection::Malformed(why)));
    }
    // None that was read from a body is over the body, or puts off the reading once more.
    let reads: [ReadBody; 3] = [
        |_| {
            Ok(Envelope::new([Segment::Timestamp, Segment::Body])
                .at(now_text())
                .candidate(candidate()))
        },
        |_| Ok(Envelope::new([Segment::Timestamp]).at(now_text())),
        |_| Ok(Envelope::in_body(read_letter)),
    ];
    for read in reads {
        let provider = Postponed(read);
        let opened = verify(&provider, &keys, &[], body.as_bytes(), NOW, |_| ());
        assert_eq!(opened, Err(Rejection::Malformed(Malformed::Candidates)));
    }
}

#[derive(Debug)]
struct Postponed(ReadBody);

impl Provider for Postponed {
    type Identity = Signed;
    fn spec(&self) -> &Spec {
        &LETTER_SPEC
    }
    fn envelope<'r>(&self, _: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Ok(Envelope::in_body(self.0))
    }
    fn sign(&self, _: &Signing<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    fn identities(&self, _: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        Err(InvalidEvent::Body)
    }
}

/// Shows its secret.
#[derive(Debug)]
struct Shown(Spec);

impl Provider for Shown {
    type Identity = Signed;
    fn spec(&self) -> &Spec {
        &self.0
    }
    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Ok(Envelope::dangerous_plain_token(head.one("x-token")?))
    }
    fn sign(&self, _: &Signing<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    fn identities(&self, _: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        Err(InvalidEvent::Body)
    }
}

#[test]
fn a_plain_token_is_the_whole_secret_and_makes_no_byte_authentic() {
    let shown = Shown(Spec::untimestamped("shown").plain_token());
    let secret = "fedcba9876543210";
    let long = "x".repeat(100);
    let keys = ring(&["0123456789abcdef", secret, &long]);
    let show = |token: &str| {
        let headers = [("x-token".to_owned(), token.to_owned())];
        verify(&shown, &keys, &headers, BODY, NOW, |verified| {
            assert_eq!(verified.body(), &b""[..]);
            assert_eq!(verified.unsigned_body().unwrap(), BODY);
        })
    };
    assert_eq!(show(secret), Ok(()));
    assert_eq!(show(&long), Ok(()));
    for other in [
        "",
        "fedcba987654321",
        "fedcba9876543210 ",
        "FEDCBA9876543210",
        &long[1..],
    ] {
        assert_eq!(show(other), Err(Rejection::SignatureMismatch), "{other}");
    }
    let undeclared = Shown(Spec::untimestamped("shown"));
    let headers = [("x-token".to_owned(), secret.to_owned())];
    let refused = verify(&undeclared, &keys, &headers, BODY, NOW, |_| ());
    assert_eq!(refused, Err(Rejection::Malformed(Malformed::Candidates)));
}
