//! `cargo xtask differential`: official libraries of providers as oracles. `tools/` does the comparing.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{cargo, run as run_step, say, workspace};
use crate::failure::Failure;

/// How much is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    /// Requests a library.
    cases: u64,
    /// Of the generator; 0 for a new one each time.
    seed: u64,
}

impl Options {
    /// Enough for every rule to occur, in seconds. The same requests each time: whether a rare rule occurs among so few is
    /// else a matter of chance.
    pub(crate) const fn quick() -> Self {
        Self {
            cases: 4_000,
            seed: 1,
        }
    }

    /// # Errors
    ///
    /// Says what is wrong with the command line.
    pub(crate) fn parse(words: &[OsString]) -> Result<Self, String> {
        let mut options = Self {
            cases: 100_000,
            seed: 0,
        };
        let mut words = words.iter().map(|word| word.to_string_lossy());
        while let Some(word) = words.next() {
            let mut number = || {
                let number = words.next().and_then(|number| number.parse().ok());
                number.ok_or_else(|| format!("`{word}` takes a number"))
            };
            match &*word {
                "--cases" => options.cases = number()?,
                "--quick" => options = Self::quick(),
                "--seed" => options.seed = number()?,
                _ => return Err(format!("`differential` does not know `{word}`")),
            }
        }
        Ok(options)
    }
}

/// Install the libraries under `target/`, as pinned with their hashes, and compare.
///
/// # Errors
///
/// Fails without Python 3, Node or npm, without a package index the first time, or if a disagreement is not documented.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let ours = workspace().join("tools").join("oracles");
    let target = workspace().join("target").join("differential");
    let (python, node) = (target.join("python"), target.join("node"));
    copy(&ours.join("python"), &python)?;
    copy(&ours.join("node"), &node)?;
    once(&python, "requirements.txt", install_python)?;
    once(&node, "package-lock.json", install_node)?;
    let numbers = [options.cases, options.seed].map(|number| number.to_string());
    let mut compare = cargo(["run", "--quiet", "--locked", "--package", "webhook-tools"]);
    compare.args(["--bin", "differential", "--"]);
    run_step(compare.arg(&target).args(numbers))
}

/// Copy the files of a folder: interpreters look for libraries beside their scripts.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = || Failure::cannot(format!("copy `{}`", from.display()));
    fs::create_dir_all(to).map_err(failed())?;
    for entry in fs::read_dir(from).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        fs::copy(entry.path(), to.join(entry.file_name())).map_err(failed())?;
    }
    Ok(())
}

/// Install, unless what was installed here last is what `pins` names.
fn once(
    folder: &Path,
    pins: &str,
    install: fn(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let done = folder.join("installed");
    let wanted = fs::read(folder.join(pins)).map_err(Failure::cannot("read what is pinned"))?;
    if fs::read(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    say(&format!(
        "installing the libraries that tools/oracles/.../{pins} pins, in target/differential"
    ));
    install(folder)?;
    fs::write(done, wanted).map_err(Failure::cannot("note what is installed"))
}

fn install_python(folder: &Path) -> Result<(), Failure> {
    let venv = folder.join("venv");
    run_step(Command::new("python3").arg("-m").arg("venv").arg(&venv))?;
    let mut pip = Command::new(venv.join("bin").join("python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
        "-r",
    ]);
    run_step(pip.arg(folder.join("requirements.txt")))
}

fn install_node(folder: &Path) -> Result<(), Failure> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    run_step(npm.current_dir(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_are_numbers() {
        let some = Options { cases: 7, seed: 9 };
        assert_eq!(parse("--seed 9 --cases 7"), Ok(some));
        assert_eq!(parse("--quick"), Ok(Options::quick()));
        let seeded = Options {
            seed: 9,
            ..Options::quick()
        };
        assert_eq!(parse("--quick --seed 9"), Ok(seeded));
        assert_eq!(parse("").map(|options| options.cases), Ok(100_000));
        for bad in ["--cases", "--cases x", "--slow", "stripe"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
