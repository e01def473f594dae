//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::{differential, new_provider, torture};

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Bench {
        arguments: Vec<OsString>,
    },
    Check,
    Ci,
    Differential(differential::Options),
    FieldTest {
        names: Vec<OsString>,
    },
    Help,
    /// Not for people: how [`crate::postgres::Cluster`] starts its keeper.
    KeepPostgres {
        binaries: PathBuf,
    },
    NewProvider(new_provider::Options),
    /// An empty `command` waits for Ctrl-C.
    Postgres {
        command: Vec<OsString>,
    },
    ProviderPages,
    Sdk,
    Test {
        arguments: Vec<OsString>,
    },
    Torture(torture::Options),
}

impl Task {
    /// # Errors
    ///
    /// Says what is wrong with the command line.
    pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut words = words.into_iter();
        let name = words.next().ok_or("which task?")?;
        let rest: Vec<OsString> = words.collect();
        match name.to_str() {
            Some("bench") => Ok(Self::Bench { arguments: rest }),
            Some("check") => without_arguments(Self::Check, "check", &rest),
            Some("ci") => without_arguments(Self::Ci, "ci", &rest),
            Some("differential") => differential::Options::parse(&rest).map(Self::Differential),
            Some("field-test") => Ok(Self::FieldTest { names: rest }),
            Some("help" | "-h" | "--help") => Ok(Self::Help),
            Some(KEEP_POSTGRES) => match <[OsString; 1]>::try_from(rest) {
                Ok([binaries]) => Ok(Self::KeepPostgres {
                    binaries: binaries.into(),
                }),
                Err(_) => Err(format!("`{KEEP_POSTGRES}` takes one directory")),
            },
            Some("new-provider") => new_provider::Options::parse(&rest).map(Self::NewProvider),
            Some("postgres") => Ok(Self::Postgres {
                command: without_leading_dashes(rest),
            }),
            Some("provider-pages") => {
                without_arguments(Self::ProviderPages, "provider-pages", &rest)
            }
            Some("sdk") => without_arguments(Self::Sdk, "sdk", &rest),
            // Here a leading `--` is cargo's: what follows is for the test binaries.
            Some("test") => Ok(Self::Test { arguments: rest }),
            Some("torture") => torture::Options::parse(&rest).map(Self::Torture),
            _ => Err(format!("unknown task `{}`", name.display())),
        }
    }
}

fn without_arguments(task: Task, name: &str, rest: &[OsString]) -> Result<Task, String> {
    if rest.is_empty() {
        Ok(task)
    } else {
        Err(format!("`{name}` takes no arguments"))
    }
}

fn without_leading_dashes(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.first().is_some_and(|word| word == "--") {
        words.remove(0);
    }
    words
}

pub(crate) const KEEP_POSTGRES: &str = "keep-postgres";

pub(crate) const USAGE: &str = "\
usage: cargo xtask TASK

tasks:
  test [ARGS..]             run all tests, or `cargo test ARGS..`, with a throw-away
                            PostgreSQL unless TEST_DATABASE_URL names a database; without
                            ARGS also a minute of torture. Installs a PostgreSQL and a
                            Chromium where there are none, and says so
  check                     formatting, lints, docs, each feature alone, dependencies
  ci                        check, then differential --quick, then test
  differential [--quick] [--cases N] [--seed S]
                            official libraries of providers as oracles: both judge the same
                            100,000 requests a library, or N, or a few thousand; installs the
                            libraries in target/ (Python 3, Node 20 and npm are needed)
  bench [ROW..] [--quick] [--json] [--update]
                            measure all rows of BENCHMARKS.md, or these; --quick only
                            proves that they run, --update enters them into the file
  field-test [NAME..]       probe receivers written as each library's documentation shows, and write
                            FIELD_TEST.md; with names probe those alone (Python 3, Node and npm)
  new-provider NAME [DIR]   make a crate for one more provider, in DIR or providers/NAME; its
                            tests fail until its test data is filled in
  provider-pages            write docs/providers.md anew, from the crates themselves
  sdk                       send requests signed by the official Python libraries, and
                            mutations of them, to the quickstart
  postgres [--] [CMD ARGS..]  run CMD with TEST_DATABASE_URL naming a throw-away
                            PostgreSQL; without CMD keep it until Ctrl-C
  torture [--outbound] [--seconds N] [--store sqlite|postgres] [--seed S] [--processes N]
                            kill, stop and cut off receivers, or senders, under load, crash
                            PostgreSQL, then look for lost, doubled and stuck events
";

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn parse(line: &[&str]) -> Result<Task, String> {
        Task::parse(words(line))
    }

    #[test]
    fn names_select_tasks() {
        assert_eq!(parse(&["check"]), Ok(Task::Check));
        assert_eq!(parse(&["ci"]), Ok(Task::Ci));
        assert_eq!(parse(&["--help"]), Ok(Task::Help));
    }

    #[test]
    fn nothing_and_the_unknown_are_faults() {
        assert_eq!(parse(&[]), Err("which task?".to_owned()));
        assert_eq!(parse(&["tset"]), Err("unknown task `tset`".to_owned()));
    }

    #[test]
    fn tasks_without_arguments_refuse_them() {
        assert!(parse(&["check", "-v"]).is_err());
        assert!(parse(&["ci", "test"]).is_err());
        assert!(parse(&[KEEP_POSTGRES]).is_err());
        assert!(parse(&[KEEP_POSTGRES, "a", "b"]).is_err());
    }

    #[test]
    fn test_hands_everything_to_cargo() {
        assert_eq!(
            parse(&["test", "--", "--ignored"]),
            Ok(Task::Test {
                arguments: words(&["--", "--ignored"])
            })
        );
    }

    #[test]
    fn postgres_takes_a_command_with_or_without_dashes() {
        let command = words(&["cargo", "test", "--", "x"]);
        for line in [
            &["postgres", "--", "cargo", "test", "--", "x"][..],
            &["postgres", "cargo", "test", "--", "x"],
        ] {
            assert_eq!(
                parse(line),
                Ok(Task::Postgres {
                    command: command.clone()
                })
            );
        }
        assert_eq!(parse(&["postgres"]), Ok(Task::Postgres { command: vec![] }));
    }
}
