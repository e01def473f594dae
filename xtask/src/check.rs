//! `cargo xtask check`: everything CI asks for except the tests and the comparison with official libraries.

use crate::command::{cargo, run, say, succeeds};
use crate::failure::Failure;
use crate::new_provider;

/// # Errors
///
/// Fails as the first step that does.
pub(crate) fn check() -> Result<(), Failure> {
    require("fmt", "rustfmt")?;
    require("clippy", "clippy")?;

    run(&mut cargo(["fmt", "--all", "--check"]))?;
    run(&mut cargo([
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-Dwarnings",
    ]))?;
    run(cargo(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-Dwarnings"))?;
    new_provider::check()?;
    each_feature_alone()?;
    dependencies()
}

fn each_feature_alone() -> Result<(), Failure> {
    for (package, feature) in FEATURES {
        run(&mut cargo([
            "clippy",
            "--package",
            package,
            "--no-default-features",
            "--features",
            feature,
            "--locked",
            "--",
            "-Dwarnings",
        ]))?;
    }
    Ok(())
}

fn dependencies() -> Result<(), Failure> {
    if succeeds(&mut cargo(["deny", "--version"])) {
        // Not `advisories`: those need a database from the network, and fail without a change here.
        run(&mut cargo(["deny", "check", "bans", "licenses", "sources"]))
    } else {
        say("skipped: cargo deny check (cargo-deny is not installed)");
        Ok(())
    }
}

fn require(subcommand: &str, component: &str) -> Result<(), Failure> {
    if succeeds(&mut cargo([subcommand, "--version"])) {
        return Ok(());
    }
    Err(Failure::Message(format!(
        "`cargo {subcommand}` is not installed: run `rustup component add {component}`"
    )))
}

const FEATURES: [(&str, &str); 7] = [
    ("webhook-core", "public-keys"),
    ("webhook-core", "sha1"),
    ("webhook-sqlx", "postgres"),
    ("webhook-sqlx", "sqlite"),
    ("webhook-testkit", "harness"),
    ("webhook-testkit", "provider"),
    ("webhook-testkit", "sqlite"),
];
