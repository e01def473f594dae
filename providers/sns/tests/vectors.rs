//! The scheme: vectors, what is signed and what is not, the window, the round trip.

use webhook_core::{Malformed, Rejection};
use webhook_sns::Sns;
use webhook_vectors::{Receiver, reads_what_it_signs, run};

const TOPIC: &str = "arn:aws:sns:eu-west-1:123456789012:orders";

#[test]
fn vectors_come_out_as_written() {
    let vectors = include_str!("../testdata/vectors.json");
    assert_eq!(run(&Sns::of([TOPIC]), vectors), 45);
}

/// PKCS#8 of a key that signs; AWS's own is nobody's.
const PRIVATE: &str = include_str!("../testdata/private.b64");

/// Every byte that is signed, and every one of the signature.
#[test]
fn only_signed_texts_verify() {
    let sns = Sns::of([TOPIC]);
    let receiver = Receiver::new(&sns, &[PRIVATE.trim()], 1_750_000_000);
    let good = receiver.sign("7");
    assert!(receiver.receive(&good).is_ok());
    for at in 0..good.body.len() {
        for byte in [0, b'0', b'a', b'"', b'\\', 0xff] {
            let mut forged = good.clone();
            if std::mem::replace(&mut forged.body[at], byte) != byte {
                assert!(receiver.receive(&forged).is_err(), "{at} {byte}");
            }
        }
        let mut cut_off = good.clone();
        cut_off.body.truncate(at);
        let refused = receiver.receive(&cut_off).unwrap_err();
        assert_eq!(refused, Rejection::Malformed(Malformed::Body), "{at}");
    }
}

#[test]
fn the_window_reaches_as_far_back_as_retries_do() {
    use webhook_core::DynProvider as _;
    let sns = Sns::of([TOPIC]);
    let window = sns.spec().window().unwrap();
    assert_eq!(
        (window.past().as_secs(), window.future().as_secs()),
        (3600, 300)
    );
    let mut receiver = Receiver::new(&sns, &[PRIVATE.trim()], 1_750_000_000);
    let signed = receiver.sign("7");
    for (now, is_good) in [(3600, true), (3601, false), (-300, true), (-301, false)] {
        receiver.now = 1_750_000_000 + now;
        assert_eq!(receiver.receive(&signed).is_ok(), is_good, "{now}");
    }
}

#[test]
fn what_is_signed_is_read_back() {
    reads_what_it_signs(&Sns::of([TOPIC]), b"7", false);
}
