//! One field changed at a time, and fields at random: nothing but the bytes that were signed verifies.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::receiver::{Receiver, Request};
use crate::samples::signing_keys;

/// Change `good` in one place after another and check that it is refused, or, where the change does not count, that
/// it is not. `counts` names the header fields that carry the signature.
///
/// # Panics
///
/// If a forgery is accepted, a harmless change refused, or `good` is not authentic.
pub fn resist_tampering(receiver: &Receiver<'_>, good: &Request, counts: &[&str]) {
    let accepts = |request: &Request| receiver.receive(request).is_ok();
    assert!(accepts(good), "the request is authentic");
    for (at, (name, value)) in good.headers.iter().enumerate() {
        let counted = counts.iter().any(|other| other.eq_ignore_ascii_case(name));
        for forged in changes(value, 0..=255) {
            let mut request = good.clone();
            request.headers[at].1 = forged;
            assert_eq!(accepts(&request), !counted, "{name}: {request:?}");
        }
        let mut without = good.clone();
        without.headers.remove(at);
        assert_eq!(accepts(&without), !counted, "without {name}");
        let twice = good.clone().header(&name.to_uppercase(), value.as_slice());
        assert_eq!(accepts(&twice), !counted, "{name} twice");
        let beside = good.clone().header(name, "");
        assert_eq!(
            accepts(&beside),
            !counted,
            "{name} with an empty one beside"
        );
    }
    for forged in changes(&good.body, [1, b'0', b' ', b'"', 0xff]) {
        let mut request = good.clone();
        request.body = forged;
        assert!(!accepts(&request), "{request:?}");
    }
    let mut reordered = good.clone();
    reordered.headers.reverse();
    assert!(accepts(&reordered), "the order of fields does not count");
    for respell in [str::to_lowercase, str::to_uppercase] {
        let mut respelled = good.clone();
        let names = respelled.headers.iter_mut();
        names.for_each(|(name, _)| *name = respell(name));
        assert!(
            accepts(&respelled),
            "the case of field names does not count"
        );
    }
    let [.., stranger] = signing_keys(receiver.provider.spec().secret());
    let stranger = Receiver::new(receiver.provider, &[stranger], receiver.now);
    assert!(stranger.receive(good).is_err(), "another key");
}

/// Put random values, and values of the grammar's `shapes` (regular expressions), into each header field that
/// counts and into all at once: nothing panics, nothing verifies.
///
/// # Panics
///
/// If a value panics or verifies.
pub fn resist_random_headers(receiver: &Receiver<'_>, good: &Request, shapes: &[(&str, &str)]) {
    for (name, shape) in shapes {
        let value = prop_oneof![
            vec(any::<u8>(), 0..200),
            shape.prop_map(String::into_bytes),
            "[ -~]{0,100}".prop_map(String::into_bytes),
        ];
        let mut runner = TestRunner::new(Config::with_cases(1000));
        let done = runner.run(&value, |value| {
            let mut one = good.clone();
            let mut all = good.clone();
            for (at, (field, original)) in good.headers.iter().enumerate() {
                if field.eq_ignore_ascii_case(name) {
                    prop_assume!(original != &value);
                    one.headers[at].1.clone_from(&value);
                }
                if shapes
                    .iter()
                    .any(|(other, _)| field.eq_ignore_ascii_case(other))
                {
                    all.headers[at].1.clone_from(&value);
                }
            }
            prop_assert!(receiver.receive(&one).is_err());
            prop_assert!(receiver.receive(&all).is_err());
            Ok(())
        });
        done.unwrap_or_else(|failure| panic!("{name}: {failure}"));
    }
}

/// `value` with each byte replaced, left out or doubled, cut at each length, and lengthened on both sides.
fn changes(value: &[u8], bytes: impl IntoIterator<Item = u8> + Clone) -> Vec<Vec<u8>> {
    let mut changed = Vec::new();
    for at in 0..value.len() {
        for byte in bytes.clone() {
            let mut other = value.to_vec();
            other[at] = byte;
            changed.push(other);
        }
        changed.push([&value[..at], &value[at + 1..]].concat());
        changed.push([&value[..=at], &value[at..]].concat());
        changed.push(value[..at].to_vec());
    }
    for byte in bytes {
        changed.push([value, &[byte]].concat());
        changed.push([&[byte], value].concat());
    }
    changed.retain(|other| other != value);
    changed
}
