//! What compiles and what does not: `ui/pass` is all that is documented, `ui/fail` one fault a file.
//!
//! A failing case holds for the pinned compiler only. After a change of words, `TRYBUILD=overwrite`
//! writes the `.stderr` files anew; read the diff. `cargo test -p webhook-tests --test compile --
//! trybuild=NAME.rs` runs one case.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*/*.rs");
    cases.compile_fail("ui/fail/*/*.rs");
}
