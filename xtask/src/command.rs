//! Running other programs.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The cargo that runs this task, at the workspace's root.
pub(crate) fn cargo<I>(arguments: I) -> Command
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace());
    command
}

/// Announce `command`, run it with this process' own input and output, and wait.
///
/// # Errors
///
/// Fails if the command cannot be run, or as it does.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    announce(command);
    let status = command.status().map_err(cannot_run(command))?;
    Failure::check(status)
}

/// Run `command` and drop what it prints. A program that is not there has not succeeded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The first line that `command` prints, if it succeeds.
pub(crate) fn first_line(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(())?;
    text.lines().next().map(str::to_owned)
}

/// Print a step, as distinct from what the step itself prints.
pub(crate) fn announce(command: &Command) {
    let program = Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or_default().to_owned();
    for argument in command.get_args() {
        line.push(" ");
        line.push(argument);
    }
    say(&line.to_string_lossy());
}

/// Print a note about what the task does.
pub(crate) fn say(note: &str) {
    eprintln!("==> {note}");
}

/// For `map_err`: `command` could not be started.
pub(crate) fn cannot_run(command: &Command) -> impl FnOnce(std::io::Error) -> Failure + use<> {
    let program = command.get_program().to_owned();
    Failure::cannot(format!("run `{}`", program.display()))
}

/// The workspace's root.
pub(crate) fn workspace() -> PathBuf {
    // Cargo sets it at run time too; the value compiled in is wrong once the checkout has moved.
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.join("..")
}
