//! The scheme: vectors, tampering, the window, the round trip.

use webhook_core::{EventId, Malformed, Rejection, Signing};
use webhook_twitch::Twitch;
use webhook_vectors::{
    Receiver, Request, keeps_a_window_of, reads_what_it_signs, resist_random_headers,
    resist_tampering, run,
};

const SECRET: &str = "s3cre77890ab";
const BODY: &str = r#"{"subscription":{"type":"stream.online"},"event":{}}"#;
const COUNTS: [&str; 3] = [
    "twitch-eventsub-message-id",
    "twitch-eventsub-message-timestamp",
    "twitch-eventsub-message-signature",
];

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Twitch, vectors), 31);
}

#[test]
fn only_signed_bytes_verify() {
    let receiver = Receiver::new(&Twitch, &[SECRET], 1_750_000_000);
    let good = receiver
        .sign(BODY)
        .header("Twitch-Eventsub-Message-Retry", "0")
        .header("Twitch-Eventsub-Message-Type", "notification");
    resist_tampering(&receiver, &good, &COUNTS);
    let shapes = [
        (COUNTS[0], "[0-9a-f]{8}-[0-9a-fZ:T-]{4,30}"),
        (
            COUNTS[1],
            "2025-06-15T15:0[0-9]:[0-6][0-9](\\.[0-9]{0,10})?Z?",
        ),
        (COUNTS[2], "sha(256|1)=[0-9a-f]{63,65}"),
    ];
    resist_random_headers(&receiver, &good, &shapes);
}

#[test]
fn the_window_is_ten_minutes_on_both_sides() {
    keeps_a_window_of(&Twitch, BODY.as_bytes(), 600);
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Twitch, BODY.as_bytes(), false);
}

/// One signed content, cut wherever it can be: only the sender's cut is read.
#[test]
fn bytes_do_not_move_between_id_timestamp_and_body() {
    let receiver = Receiver::new(&Twitch, &[SECRET], 1_750_000_000);
    // A body that begins with a timestamp of its own.
    let body = format!("2025-06-15T15:06:41Z{BODY}");
    let id = EventId::new("2025-06-15T15").unwrap();
    let signing = Signing::new(&receiver.keys, body.as_bytes(), receiver.now).id(id);
    let good = Request::new(receiver.provider.sign(&signing), body.as_str());
    assert!(receiver.receive(&good).is_ok());
    let text = |at: usize| String::from_utf8(good.headers[at].1.clone()).unwrap();
    let content = format!("{}{}{body}", text(0), text(1));
    let mut read = 0;
    for end in 0..=content.len() {
        for start in 0..=end {
            let mut cut = good.clone();
            cut.headers[0].1 = content[..start].into();
            cut.headers[1].1 = content[start..end].into();
            cut.body = content[end..].into();
            match receiver.receive(&cut) {
                Ok(_) => read += 1,
                Err(Rejection::Malformed(Malformed::Grammar(_) | Malformed::Timestamp)) => {}
                Err(other) => panic!("cut at {start} and {end}: {other}"),
            }
        }
    }
    assert_eq!(read, 1);
}
