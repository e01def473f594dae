//! `cargo xtask test`: all tests, against a real PostgreSQL.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdout, Stdio};

use crate::browser;
use crate::command::{announce, cannot_run, cargo, run as run_step, say, succeeds};
use crate::failure::Failure;
use crate::new_provider;
use crate::postgres::{Binaries, Cluster, TEST_DATABASE_URL};
use crate::summary::Summary;
use crate::torture;

/// Run `cargo test` with `arguments` in place of `--workspace`; without any, also the tests of the example provider,
/// which is a workspace of its own, and a minute of torture.
///
/// # Errors
///
/// Fails as the test runner does, after the summary is printed, or if torture finds something.
pub(crate) fn run(arguments: &[OsString]) -> Result<(), Failure> {
    // Look first: who has no browser should not wait for the build to hear of it.
    browser::find_or_install(arguments)?;
    let Some(url) = env::var_os(TEST_DATABASE_URL).filter(|url| !url.is_empty()) else {
        // Likewise.
        let binaries = Binaries::find_or_install()?;
        build(arguments)?;
        let mut cluster = Cluster::start(&binaries)?;
        let url = OsString::from(cluster.url());
        return test(arguments, &url, Some(&mut cluster));
    };
    let shown = url.to_str().and_then(without_secrets);
    say(&format!(
        "using the database that {TEST_DATABASE_URL} names{}",
        shown.map_or_else(String::new, |place| format!(": {place}")),
    ));
    build(arguments)?;
    test(arguments, &url, None)
}

/// What the tests start as processes of their own, or need offline.
fn build(arguments: &[OsString]) -> Result<(), Failure> {
    // The compile-fail tests run cargo offline.
    let fetched = succeeds(&mut cargo(["fetch", "--locked", "--offline"]));
    if !fetched && run_step(&mut cargo(["fetch", "--locked"])).is_err() {
        say("not everything could be fetched; going on with what is here");
    }

    if !needs_binaries(arguments) {
        return Ok(());
    }
    let mut bins = cargo(["build", "--workspace", "--bins", "--locked"]);
    if own(arguments).any(|word| word == "--release" || word == "-r") {
        bins.arg("--release");
    }
    run_step(&mut bins)
}

fn test(arguments: &[OsString], url: &OsStr, cluster: Option<&mut Cluster>) -> Result<(), Failure> {
    let mut command = cargo(["test"]);
    if arguments.is_empty() {
        command.arg("--workspace");
    }
    // Cargo refuses these twice.
    for flag in ["--locked", "--no-fail-fast"] {
        if !own(arguments).any(|word| word == flag) {
            command.arg(flag);
        }
    }
    command.args(arguments);
    announce(&command);
    command.env(TEST_DATABASE_URL, url).stdout(Stdio::piped());

    let mut child = command.spawn().map_err(cannot_run(&command))?;
    let mut summary = Summary::default();
    if let Some(stdout) = child.stdout.take() {
        pass_through(stdout, &mut summary)?;
    }
    let status = child.wait().map_err(cannot_run(&command))?;

    say(&format!("summary ({status})"));
    print!("{summary}");
    Failure::check(status)?;
    if arguments.is_empty() {
        new_provider::prove()?;
        torture::run_short(url, cluster)?;
    }
    Ok(())
}

/// Copy the runner's output to ours as it comes, and let `summary` see it.
fn pass_through(stdout: ChildStdout, summary: &mut Summary) -> Result<(), Failure> {
    let mut runner = BufReader::new(stdout);
    let mut ours = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = runner
            .read_until(b'\n', &mut line)
            .map_err(Failure::cannot("read the tests' output"))?;
        if length == 0 {
            return Ok(());
        }
        ours.write_all(&line)
            .and_then(|()| ours.flush())
            .map_err(Failure::cannot("pass on the tests' output"))?;
        summary.observe(&String::from_utf8_lossy(&line));
    }
}

/// The cross-crate tests run the examples. Other packages, chosen by name, are not made to wait.
fn needs_binaries(arguments: &[OsString]) -> bool {
    let mut words = own(arguments).map(|word| word.to_string_lossy());
    let chosen = words
        .clone()
        .any(|word| word.starts_with("-p") || word.starts_with("--package"));
    !chosen || words.any(|word| word.contains("webhook-tests"))
}

/// Cargo's arguments, without the test binaries'.
fn own(arguments: &[OsString]) -> impl Iterator<Item = &OsString> + Clone {
    arguments.iter().take_while(|word| *word != "--")
}

// Input: `postgres://user:secret@host:5432/name?password=other`
// Output: `host:5432/name`, or nothing if the parts cannot be told apart for sure
fn without_secrets(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.matches('@').count() > 1 || path.contains('@') {
        return None;
    }
    let place = rest.split(['?', '#']).next()?;
    Some(place.split_once('@').map_or(place, |(_, place)| place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_urls_are_not_shown() {
        for (url, shown) in [
            ("postgres://u:secret@host:5432/db", Some("host:5432/db")),
            ("postgres://u:secret@host", Some("host")),
            ("postgres://host/db?password=secret", Some("host/db")),
            ("postgres://host?password=secret", Some("host")),
            ("postgres://u:se@cret@host/db", None),
            ("postgres://u:se/cret@host/db", None),
            ("postgres://u:se?cret@host/db", None),
            ("postgres://host/db?password=se@cret", None),
            ("password=secret host=h", None),
        ] {
            assert_eq!(without_secrets(url), shown, "{url}");
        }
    }

    #[test]
    fn binaries_are_built_unless_other_packages_are_chosen() {
        for (line, needed) in [
            ("", true),
            ("claim", true),
            ("--release --profile x", true),
            ("-- -p", true),
            ("-p webhook-core", false),
            ("--package=webhook-core --lib", false),
            ("-p webhook-core -p webhook-tests", true),
        ] {
            let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(needs_binaries(&arguments), needed, "{line}");
        }
    }

    #[test]
    fn arguments_after_dashes_are_not_cargos() {
        let arguments = ["--release", "--", "--locked"].map(OsString::from);
        assert_eq!(own(&arguments).collect::<Vec<_>>(), ["--release"]);
    }
}
