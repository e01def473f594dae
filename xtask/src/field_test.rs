//! `cargo xtask field-test`: receivers as each library's documentation shows them, under the probe.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{cargo, run as run_step, say, workspace};
use crate::failure::Failure;

/// Build ours, install the others under `target/`, probe all of them and write `FIELD_TEST.md`; with names, probe those alone.
///
/// # Errors
///
/// Fails without Python 3, Node or npm, without a package index the first time, or if a receiver does not start. What the
/// probe finds is no failure.
pub(crate) fn run(names: &[OsString]) -> Result<(), Failure> {
    let packages = ["webhook-cli", "quickstart", "field-axum"];
    let packages = packages.iter().flat_map(|package| ["--package", package]);
    run_step(cargo(["build", "--locked"]).args(packages))?;
    let ours = workspace().join("tests").join("field");
    let target = workspace().join("target").join("field");
    let (venv, node) = (target.join("venv"), target.join("node"));
    copy(&ours.join("node"), &node)?;
    once(
        &target,
        &ours.join("python").join("requirements.txt"),
        || {
            run_step(Command::new("python3").arg("-m").arg("venv").arg(&venv))?;
            let mut pip = Command::new(venv.join("bin").join("python"));
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
            ]);
            run_step(pip.arg(ours.join("python").join("requirements.txt")))
        },
    )?;
    once(
        &target,
        &ours.join("node").join("package-lock.json"),
        || {
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
            run_step(npm.current_dir(&node))
        },
    )?;
    let built = workspace().join("target").join("debug");
    let programs = ["webhook", "quickstart", "field-axum"].map(|name| built.join(name));
    run_step(
        Command::new(venv.join("bin").join("python"))
            .arg(ours.join("run.py"))
            .args(programs)
            .arg(&target)
            .arg(workspace().join("FIELD_TEST.md"))
            .args(names),
    )
}

/// Copy the files of a folder: Node looks for libraries beside its scripts.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = || Failure::cannot(format!("copy `{}`", from.display()));
    fs::create_dir_all(to).map_err(failed())?;
    for entry in fs::read_dir(from).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).map_err(failed())?;
        }
    }
    Ok(())
}

/// Install, unless what was installed last is what `pins` names.
fn once(
    target: &Path,
    pins: &Path,
    install: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let name = pins
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let done = target.join(format!("installed.{name}"));
    let wanted = fs::read(pins).map_err(Failure::cannot("read what is pinned"))?;
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say(&format!(
        "installing the libraries that tests/field/.../{name} pins, in target/field"
    ));
    install()?;
    fs::write(done, wanted).map_err(Failure::cannot("note what is installed"))
}
