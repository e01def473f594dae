//! `cargo xtask sdk`: requests signed by the official Python libraries against the quickstart.

use std::process::Command;

use crate::command::{cargo, run as run_step, workspace};
use crate::failure::Failure;

/// Build the quickstart, install the libraries into a folder under `target/`, and run the comparison.
///
/// # Errors
///
/// Fails without Python 3, without the package index, or if one answer is wrong.
pub(crate) fn run() -> Result<(), Failure> {
    run_step(&mut cargo(["build", "--locked", "--package", "quickstart"]))?;
    let root = workspace();
    let folder = root.join("tests").join("sdk");
    let python = root.join("target").join("sdk-venv");
    if !python.exists() {
        run_step(Command::new("python3").arg("-m").arg("venv").arg(&python))?;
    }
    let python = python.join("bin").join("python");
    let requirements = folder.join("requirements.txt");
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-r",
    ];
    run_step(Command::new(&python).args(install).arg(requirements))?;
    let quickstart = root.join("target").join("debug").join("quickstart");
    run_step(
        Command::new(&python)
            .arg(folder.join("run.py"))
            .arg(quickstart),
    )
}
