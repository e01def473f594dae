//! Signing is the dual of verification.

use std::time::Duration;

use webhook_core::{DynProvider, KeyConfig, Keyring, Rejection, Signing};

use crate::receiver::{Receiver, Request, TARGET};
use crate::samples::signing_keys;

const NOW: i64 = 1_750_000_000;

/// Sign with one key and with two, as during a rotation, and read the result with either. `lists` says whether the
/// grammar has room for several signatures.
///
/// # Panics
///
/// If what was signed is not read, or is read with a key that did not sign.
pub fn reads_what_it_signs(provider: &dyn DynProvider, body: &[u8], lists: bool) {
    let [newest, older, _] = signing_keys(provider.spec().secret());
    let configs = [
        KeyConfig::new(newest).id("2026-01"),
        KeyConfig::new(older).id("2025-06"),
    ];
    let ring = |configs: &[KeyConfig]| {
        Keyring::build(provider.spec().secret(), configs.iter().cloned()).expect("a keyring")
    };
    let [new, old] = configs.each_ref().map(std::slice::from_ref);
    let both = ring(&configs);
    let signing = || Signing::new(&both, body, NOW).to(TARGET);
    let reads = |configs: &[KeyConfig], signing: &Signing<'_>| {
        let receiver = Receiver::with_keys(provider, ring(configs), NOW);
        let enclosed = provider.enclose(signing);
        let request = Request::new(provider.sign(signing), enclosed.unwrap_or(body.to_vec()));
        receiver.receive(&request).is_ok()
    };
    let single = signing();
    assert!(reads(&configs, &single) && reads(new, &single));
    assert!(!reads(old, &single));
    let double = signing().with_every_key();
    assert!(reads(&configs, &double) && reads(new, &double));
    assert_eq!(reads(old, &double), lists);
}

/// As [`keeps_a_window_of`] five minutes.
///
/// # Panics
///
/// If it is otherwise.
pub fn keeps_its_window(provider: &dyn DynProvider, body: &[u8]) {
    keeps_a_window_of(provider, body, 300);
}

/// A signed timestamp is good at each end of a window of `secs` on both sides and refused one second beyond, however
/// authentic; without one, age does not matter.
///
/// # Panics
///
/// If it is otherwise.
pub fn keeps_a_window_of(provider: &dyn DynProvider, body: &[u8], secs: u32) {
    let [secret, ..] = signing_keys(provider.spec().secret());
    let mut receiver = Receiver::new(provider, &[secret], NOW);
    let request = receiver.sign(body);
    let Some(window) = provider.spec().window() else {
        for now in [0, NOW, i64::MAX] {
            receiver.now = now;
            assert!(receiver.receive(&request).is_ok());
        }
        return;
    };
    let side = Duration::from_secs(secs.into());
    assert_eq!((window.past(), window.future()), (side, side));
    let mut at = |now| {
        receiver.now = now;
        receiver.receive(&request).map(drop)
    };
    let (end, authentic) = (i64::from(secs), true);
    let by_secs = u64::from(secs) + 1;
    assert_eq!(at(NOW + end), Ok(()));
    let stale = Rejection::Stale { by_secs, authentic };
    assert_eq!(at(NOW + end + 1), Err(stale));
    assert_eq!(at(NOW - end), Ok(()));
    let future = Rejection::Future { by_secs, authentic };
    assert_eq!(at(NOW - end - 1), Err(future));
}
