//! Signing is the dual of verification.

use std::time::Duration;

use webhook_core::{DynProvider, KeyConfig, Keyring, Rejection, Signing};

use crate::receiver::{Receiver, Request};

const NOW: i64 = 1_750_000_000;

/// Sign with one key and with two, as during a rotation, and read the result with either. `lists` says whether the
/// grammar has room for several signatures.
///
/// # Panics
///
/// If what was signed is not read, or is read with a key that did not sign.
pub fn reads_what_it_signs(provider: &dyn DynProvider, body: &[u8], lists: bool) {
    let configs = [
        KeyConfig::new("whsec_dGhlLW5ldy1zZWNyZXQtMDAwMDAwMDE=").id("2026-01"),
        KeyConfig::new("whsec_dGhlLW9sZC1zZWNyZXQtMDAwMDAwMDE=").id("2025-06"),
    ];
    let ring = |configs: &[KeyConfig]| {
        Keyring::build(provider.spec().secret(), configs.iter().cloned()).expect("a keyring")
    };
    let [new, old] = configs.each_ref().map(std::slice::from_ref);
    let both = ring(&configs);
    let signing = || Signing::new(&both, body, NOW);
    let reads = |configs: &[KeyConfig], signing: &Signing<'_>| {
        let receiver = Receiver::with_keys(provider, ring(configs), NOW);
        let request = Request::new(provider.sign(signing), body);
        receiver.receive(&request).is_ok()
    };
    let single = signing();
    assert!(reads(&configs, &single) && reads(new, &single));
    assert!(!reads(old, &single));
    let double = signing().with_every_key();
    assert!(reads(&configs, &double) && reads(new, &double));
    assert_eq!(reads(old, &double), lists);
}

/// A signed timestamp is good at each end of the window and refused one second beyond, however authentic; without
/// one, age does not matter.
///
/// # Panics
///
/// If it is otherwise.
pub fn keeps_its_window(provider: &dyn DynProvider, body: &[u8]) {
    let mut receiver = Receiver::new(provider, &["whsec_dGhlLW9ubHktc2VjcmV0LTAwMDAwMDE="], NOW);
    let request = receiver.sign(body);
    let Some(window) = provider.spec().window() else {
        for now in [0, NOW, i64::MAX] {
            receiver.now = now;
            assert!(receiver.receive(&request).is_ok());
        }
        return;
    };
    assert_eq!(window.past(), Duration::from_mins(5));
    assert_eq!(window.future(), Duration::from_mins(5));
    let mut at = |now| {
        receiver.now = now;
        receiver.receive(&request).map(drop)
    };
    let (by_secs, authentic) = (301, true);
    assert_eq!(at(NOW + 300), Ok(()));
    assert_eq!(at(NOW + 301), Err(Rejection::Stale { by_secs, authentic }));
    assert_eq!(at(NOW - 300), Ok(()));
    assert_eq!(at(NOW - 301), Err(Rejection::Future { by_secs, authentic }));
}
