//! The rules of a provider, as tests that any implementation runs.
//!
//! ```
//! use webhook_paddle::Paddle;
//!
//! webhook_testkit::provider_conformance! {
//!     provider: Paddle,
//!     secret: "pdl_ntfset_only-for-tests-0123456789",
//!     body: r#"{"event_id":"evt_1","event_type":"product.created"}"#,
//!     headers: [("Paddle-Signature", "ts=17500000[0-9]{2}(;h[12]=[0-9a-f]{63,65}){1,2}")],
//!     window: 5,
//!     lists: true,
//! }
//! ```
//!
//! | test | shows |
//! | --- | --- |
//! | `only_signed_bytes_verify` | no other byte verifies, in a header that counts or in the body; other headers, their order and the case of their names do not count |
//! | `nothing_at_random_verifies` | random headers, and headers that fit the shapes given, neither verify nor panic |
//! | `random_bodies_are_no_panic` | neither do random bodies, signed, where an event is read from them |
//! | `the_window_is_kept` | a timestamp is good at each end of the window, and refused a second beyond |
//! | `what_is_signed_is_read_back` | signing is the dual of verifying, with one key and with two |
//!
//! What a provider *means* by its scheme no suite knows: vectors from its own documents and libraries do. See
//! `webhook_vectors::run`, and `AUTHORING.md` beside the providers.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use webhook_core::DynProvider;
pub use webhook_vectors::{
    Receiver, keeps_a_window_of, reads_what_it_signs, resist_random_headers, resist_tampering, run,
};

/// Make the tests of a provider. See [the module](crate::provider).
///
/// | member | is |
/// | --- | --- |
/// | `provider` | the provider, an expression |
/// | `secret` | a secret in its form |
/// | `body` | a body that it signs |
/// | `headers` | each header that carries the signature, and a regular expression of values that nearly fit |
/// | `window` | its window in seconds on both sides; anything for a provider without timestamps |
/// | `lists` | whether its grammar has room for several signatures |
#[macro_export]
macro_rules! provider_conformance {
    (
        provider: $provider:expr,
        secret: $secret:expr,
        body: $body:expr,
        headers: [$(($header:expr, $shape:expr)),+ $(,)?],
        window: $window:expr,
        lists: $lists:expr $(,)?
    ) => {
        #[test]
        fn only_signed_bytes_verify() {
            let provider = $provider;
            let receiver = $crate::provider::Receiver::new(&provider, &[$secret], 1_750_000_000);
            let good = receiver.sign($body).header("User-Agent", "conformance");
            $crate::provider::resist_tampering(&receiver, &good, &[$($header),+]);
        }

        #[test]
        fn nothing_at_random_verifies() {
            let provider = $provider;
            let receiver = $crate::provider::Receiver::new(&provider, &[$secret], 1_750_000_000);
            let good = receiver.sign($body);
            $crate::provider::resist_random_headers(&receiver, &good, &[$(($header, $shape)),+]);
        }

        #[test]
        fn random_bodies_are_no_panic() {
            $crate::provider::reads_any_body(&$provider, $secret, $body.as_ref());
        }

        #[test]
        fn the_window_is_kept() {
            $crate::provider::keeps_a_window_of(&$provider, $body.as_ref(), $window);
        }

        #[test]
        fn what_is_signed_is_read_back() {
            $crate::provider::reads_what_it_signs(&$provider, $body.as_ref(), $lists);
        }
    };
}

/// Sign random bodies, and bodies that are nearly `good`, and let the provider read who they are: it may refuse, and
/// must not panic.
///
/// # Panics
///
/// If it does.
pub fn reads_any_body(provider: &dyn DynProvider, secret: &str, good: &[u8]) {
    let receiver = Receiver::new(provider, &[secret], 1_750_000_000);
    let random = proptest::collection::vec(any::<u8>(), 0..300);
    // A piece of it, with a few bytes put in its midst.
    let near = (
        0..=good.len(),
        proptest::collection::vec(any::<u8>(), 0..4),
        0..=good.len(),
    );
    let near = near.prop_map(|(to, between, from)| [&good[..to], &between, &good[from..]].concat());
    let mut runner = TestRunner::new(Config::with_cases(2000));
    let done = runner.run(&prop_oneof![random, near], |body| {
        let request = receiver.sign(body);
        // Refused or not: what is asked is that it returns.
        if let Ok(received) = receiver.receive(&request) {
            drop((received.events, received.handshake));
        }
        Ok(())
    });
    done.unwrap_or_else(|failure| panic!("{failure}"));
}
