//! What compiles and what does not: `ui/pass` is all that is documented, `ui/fail` one fault a file.
//!
//! The words hold for the pinned compiler only. `TRYBUILD=overwrite` writes them anew: read the diff.
//! One case alone: `cargo test -p webhook-tests --test compile -- ui trybuild=not-async.rs`.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*/*.rs");
    cases.compile_fail("ui/fail/*/*.rs");
}
