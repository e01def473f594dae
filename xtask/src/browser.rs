//! A browser for the tests of the probe's report: found, or installed where that needs no question.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::command::{say, succeeds};
use crate::failure::Failure;
use crate::postgres::Rights;

/// Names it where it is not on the path under a name of these.
const CHROMIUM: &str = "CHROMIUM";
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Package managers that have one, all of which want root.
const MANAGERS: [(&str, &str); 3] = [
    (
        "apt-get",
        "apt-get -q update || echo 'going on with the package lists at hand' >&2
DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends chromium",
    ),
    ("dnf", "dnf install -y chromium"),
    ("apk", "apk add chromium"),
];

/// Have a browser, if tests that `arguments` choose need one.
///
/// # Errors
///
/// Fails if there is none and none can be installed. Says what to install by hand.
pub(crate) fn find_or_install(arguments: &[OsString]) -> Result<(), Failure> {
    if !is_needed(arguments) || is_there() {
        return Ok(());
    }
    let installed = |program: &str| succeeds(Command::new(program).arg("--version"));
    let manager = MANAGERS.iter().find(|(program, _)| installed(program));
    let (Some((program, script)), Some(mut shell)) = (manager, shell(Rights::detect())) else {
        return Err(by_hand("is not installed"));
    };
    say(&format!(
        "Chromium, in which the probe's report is tested, is not installed; installing it with {program}:"
    ));
    eprintln!("{script}");
    let status = shell.args(["-c", script]).stdin(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) && is_there() {
        Ok(())
    } else {
        Err(by_hand("could not be installed"))
    }
}

/// Whether the probe's own tests are among those chosen.
fn is_needed(arguments: &[OsString]) -> bool {
    let words = arguments.iter().take_while(|word| *word != "--");
    let mut words = words.map(|word| word.to_string_lossy());
    let mut chosen = words
        .clone()
        .filter(|word| word.starts_with("-p") || word.starts_with("--package"));
    chosen.next().is_none() || words.any(|word| word.contains("webhook-probe"))
}

fn is_there() -> bool {
    let named = env::var_os(CHROMIUM).map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&paths).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    named.into_iter().chain(on_path).any(|path| path.is_file())
}

fn shell(rights: Rights) -> Option<Command> {
    match rights {
        Rights::Ordinary => None,
        Rights::Root => Some(Command::new("sh")),
        Rights::Sudo => {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "sh"]);
            Some(sudo)
        }
    }
}

fn by_hand(what: &str) -> Failure {
    Failure::Message(format!(
        "Chromium {what}. Install it, for example with `apt-get install chromium`, or let {CHROMIUM} name a browser like it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_probes_tests_want_a_browser() {
        for (line, needed) in [
            ("", true),
            ("report", true),
            ("-p webhook-probe", true),
            ("--package=webhook-probe --lib", true),
            ("-p webhook-core", false),
            ("-p webhook-core -- webhook-probe", false),
        ] {
            let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(is_needed(&arguments), needed, "{line}");
        }
    }
}
