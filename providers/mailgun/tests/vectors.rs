//! The scheme: vectors, what is signed and what is not, the window, the round trip.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use webhook_core::{Malformed, Rejection};
use webhook_mailgun::Mailgun;
use webhook_vectors::{Receiver, Request, keeps_its_window, reads_what_it_signs, run};

const MAILGUN: Mailgun = Mailgun::dangerous_unsigned_events();
const SECRET: &str = "b9cb3ab408a3ee66619c4f991fd2e60a";
const EVENT: &str = r#"{"event":"delivered","id":"7tQMy4lgi2oXhLclVT8x5c"}"#;

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&MAILGUN, vectors), 15);
}

fn receiver() -> Receiver<'static> {
    Receiver::new(&MAILGUN, &[SECRET], 1_750_000_000)
}

/// The body in which `old` is `new`.
fn changed(old: &str, new: &str) -> Request {
    let good = receiver().sign(EVENT);
    let body = String::from_utf8(good.body).unwrap();
    assert!(body.contains(old), "{body}");
    Request::new(
        [("Content-Type", "application/json")],
        body.replacen(old, new, 1),
    )
}

/// Byte by byte: nothing of the three texts can be another.
#[test]
fn only_signed_texts_verify() {
    let receiver = receiver();
    let good = receiver.sign(EVENT);
    let end = good.body.len() - r#","event-data":}"#.len() - EVENT.len();
    let quotes = |byte: &u8| *byte == b'"';
    for at in 0..end {
        for byte in [0, b'0', b'1', b'a', b'"', b'\\', 0xff] {
            let mut forged = good.clone();
            if std::mem::replace(&mut forged.body[at], byte) == byte {
                continue;
            }
            assert!(receiver.receive(&forged).is_err(), "{at} {byte}");
        }
        let mut shorter = good.clone();
        if !quotes(&shorter.body.remove(at)) {
            assert!(receiver.receive(&shorter).is_err(), "without {at}");
        }
    }
    for cut in 0..good.body.len() {
        let mut cut_off = good.clone();
        cut_off.body.truncate(cut);
        let refused = receiver.receive(&cut_off).unwrap_err();
        assert_eq!(refused, Rejection::Malformed(Malformed::Body));
    }
}

#[test]
fn no_digit_moves_between_timestamp_and_token() {
    let good = String::from_utf8(receiver().sign(EVENT).body).unwrap();
    let token = good
        .split(r#""token":""#)
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for (timestamp, token) in [
        (format!("1750000000{}", &token[..1]), &token[1..]),
        ("175000000".to_owned(), &*format!("0{token}")),
    ] {
        let signature = format!(r#""timestamp":"{timestamp}","token":"{token}""#);
        let old = good.split(r#","signature":""#).next().unwrap();
        let old = &old[old.find(r#""timestamp""#).unwrap()..];
        let refused = receiver().receive(&changed(old, &signature)).unwrap_err();
        assert_eq!(
            refused,
            Rejection::Malformed(Malformed::Body),
            "{signature}"
        );
    }
}

#[test]
fn what_could_be_read_in_two_ways_is_malformed() {
    for (old, new) in [
        (
            r#"{"signature":"#,
            r#"{"signature":{"token":"x"},"signature":"#,
        ),
        (r#""token""#, r#""token":"x","token""#),
        (r#""token""#, r#""t\u006fken":"x","token""#),
        (r#""timestamp":"1750000000""#, r#""timestamp":1750000000"#),
        (
            r#""timestamp":"1750000000""#,
            r#""timestamp":"175000000\u0030""#,
        ),
        (r#""timestamp""#, r#""Timestamp""#),
        (r#""signature":{"#, r#""signature":[{"#),
    ] {
        let refused = receiver().receive(&changed(old, new)).unwrap_err();
        assert_eq!(refused, Rejection::Malformed(Malformed::Body), "{new}");
    }
}

#[test]
fn the_window_is_five_minutes_on_both_sides() {
    keeps_its_window(&MAILGUN, EVENT.as_bytes());
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&MAILGUN, EVENT.as_bytes(), false);
}
