//! `cargo xtask new-provider`: a crate for one more provider, in a workspace of its own.
//!
//! The template is the example `examples/acme-provider`, so it is compiled and tested as it stands. An instance has
//! other names and no test data: its tests fail until somebody fills that in.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{cargo, run as run_step, say, succeeds, workspace};
use crate::failure::Failure;

/// What to make, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    name: Name,
    /// `None`: beside the other providers.
    folder: Option<PathBuf>,
}

/// A provider's name: lower case, words parted by dashes.
#[derive(Debug, PartialEq, Eq)]
struct Name(String);

impl Options {
    /// # Errors
    ///
    /// Says what is wrong with the command line.
    pub(crate) fn parse(words: &[OsString]) -> Result<Self, String> {
        let (name, folder) = match words {
            [name] => (name, None),
            [name, folder] => (name, Some(PathBuf::from(folder))),
            _ => return Err("`new-provider` takes a name, and perhaps a folder".to_owned()),
        };
        let name = name.to_str().unwrap_or_default();
        Ok(Self {
            name: Name::parse(name)?,
            folder,
        })
    }
}

/// Make the crate, and say what comes next.
///
/// # Errors
///
/// Fails if the folder is already there, or cannot be written.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let (folder, framework) = match &options.folder {
        None => {
            let folder = workspace().join("providers").join(&options.name.0);
            (folder, PathBuf::from("../.."))
        }
        Some(folder) => {
            let framework = workspace().canonicalize();
            let framework = framework.map_err(Failure::cannot("find the workspace"))?;
            (folder.clone(), framework)
        }
    };
    instantiate(&options.name, &folder, &framework)?;
    let manifest = folder.join("Cargo.toml");
    say(&format!("made {}", folder.display()));
    say("its tests fail until testdata is filled in: see providers/AUTHORING.md");
    if options.folder.is_none() {
        say("a member of this workspace needs fixtures as well: fixtures/src/catalogue.rs");
    }
    say(&format!(
        "cargo test --manifest-path {}",
        manifest.display()
    ));
    Ok(())
}

/// Test the example, as somebody else's crate; then that an instance of it compiles, and that its tests fail.
///
/// # Errors
///
/// Fails as the first step that does, or if an instance's tests pass on no data.
pub(crate) fn prove() -> Result<(), Failure> {
    let example = workspace().join(EXAMPLE);
    run_step(cargo_in(&example, "test")?.arg("--no-fail-fast"))?;

    let folder = workspace().join("target/new-provider");
    let stale = fs::remove_dir_all(&folder);
    if folder.exists() {
        stale.map_err(Failure::cannot(format!("remove {}", folder.display())))?;
    }
    let framework = workspace().canonicalize();
    let framework = framework.map_err(Failure::cannot("find the workspace"))?;
    instantiate(&Name("sample-pay".to_owned()), &folder, &framework)?;
    run_step(cargo_in(&folder, "test")?.arg("--no-run"))?;
    for test in ["vectors", "events"] {
        if succeeds(cargo_in(&folder, "test")?.args(["--test", test])) {
            let fault = format!("a new provider's tests pass without test data: {test}");
            return Err(Failure::Message(fault));
        }
    }
    say("a new provider compiles, and its tests fail until its test data is filled in");
    Ok(())
}

/// The lints and the format of the example, which no step of the workspace sees.
///
/// # Errors
///
/// Fails as the first step that does.
pub(crate) fn check() -> Result<(), Failure> {
    let example = workspace().join(EXAMPLE);
    run_step(cargo_in(&example, "fmt")?.arg("--check"))?;
    run_step(cargo_in(&example, "clippy")?.args(["--all-targets", "--", "-Dwarnings"]))
}

/// `cargo TASK` in a workspace beside ours, with our versions and our target folder.
fn cargo_in(folder: &Path, task: &str) -> Result<Command, Failure> {
    let lock = workspace().join("Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock"))
        .map_err(Failure::cannot("lend the other workspace our Cargo.lock"))?;
    let mut command = cargo([task, "--manifest-path"]);
    command.arg(folder.join("Cargo.toml"));
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        command.env("CARGO_TARGET_DIR", workspace().join("target"));
    }
    Ok(command)
}

/// Write the template to `folder`, under `name`, with `framework` where the workspace is.
fn instantiate(name: &Name, folder: &Path, framework: &Path) -> Result<(), Failure> {
    if folder.exists() {
        let fault = format!("{} is already there", folder.display());
        return Err(Failure::Message(fault));
    }
    for (path, text) in TEMPLATE {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        let written = fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, render(text, name, framework)));
        written.map_err(Failure::cannot(format!("write {}", path.display())))?;
    }
    Ok(())
}

// Input: `use webhook_acme::Acme;`
// Output: `use webhook_sample_pay::SamplePay;`
fn render(text: &str, name: &Name, framework: &Path) -> String {
    text.replace("\"../..", &format!("\"{}", framework.display()))
        .replace(
            "webhook_acme",
            &format!("webhook_{}", name.0.replace('-', "_")),
        )
        .replace("Acme", &name.type_name())
        .replace("acme", &name.0)
}

impl Name {
    fn parse(text: &str) -> Result<Self, String> {
        let is_word = |word: &str| {
            let bytes = word.as_bytes();
            bytes.first().is_some_and(u8::is_ascii_lowercase)
                && bytes
                    .iter()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        if text.len() <= 32 && text.split('-').all(is_word) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "`{text}` is no provider's name: write words of lower-case letters and digits, parted by `-`"
        ))
    }

    fn type_name(&self) -> String {
        let words = self.0.split('-').map(|word| {
            let (first, rest) = word.split_at(1.min(word.len()));
            first.to_ascii_uppercase() + rest
        });
        words.collect()
    }
}

const EXAMPLE: &str = "examples/acme-provider";

macro_rules! example {
    ($path:literal) => {
        (
            $path,
            include_str!(concat!("../../examples/acme-provider/", $path)),
        )
    };
}

const TEMPLATE: [(&str, &str); 10] = [
    example!(".gitignore"),
    example!("Cargo.toml"),
    example!("src/envelope.rs"),
    example!("src/event.rs"),
    example!("src/lib.rs"),
    example!("src/payloads.rs"),
    example!("tests/events.rs"),
    example!("tests/vectors.rs"),
    ("testdata/payloads/order.paid.json", "{}\n"),
    ("testdata/vectors.json", "[]\n"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options, String> {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        Options::parse(&words)
    }

    #[test]
    fn names_are_words() {
        for good in ["mailgun", "sample-pay", "s3", "a-b-c"] {
            assert_eq!(
                parse(&[good]).map(|options| options.name.0),
                Ok(good.to_owned())
            );
        }
        let long = "a".repeat(33);
        for bad in [
            "", "-", "a-", "-a", "a--b", "Mailgun", "a_b", "3m", "a-3", "é", "../a", &long,
        ] {
            assert!(parse(&[bad]).is_err(), "{bad}");
        }
        assert!(parse(&[]).is_err());
        assert!(parse(&["a", "b", "c"]).is_err());
        assert_eq!(
            parse(&["a", "b"]).map(|options| options.folder),
            Ok(Some("b".into()))
        );
    }

    #[test]
    fn nothing_of_the_example_is_left_in_an_instance() {
        let name = Name("sample-pay".to_owned());
        for (path, text) in TEMPLATE {
            let text = render(text, &name, Path::new("/elsewhere"));
            assert!(!text.to_lowercase().contains("acme"), "{path}");
            assert!(!text.contains("\"../.."), "{path}");
        }
        let rendered = render(
            r#"use webhook_acme::Acme; "webhook-acme" "acme-signature" { path = "../../webhook-core" }"#,
            &name,
            Path::new("/elsewhere"),
        );
        assert_eq!(
            rendered,
            r#"use webhook_sample_pay::SamplePay; "webhook-sample-pay" "sample-pay-signature" { path = "/elsewhere/webhook-core" }"#
        );
    }

    #[test]
    fn what_is_there_is_not_written_over() {
        let name = Name("core".to_owned());
        let there = workspace().join("webhook-core");
        assert!(instantiate(&name, &there, Path::new("../..")).is_err());
    }
}
