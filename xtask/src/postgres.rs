//! A PostgreSQL cluster that lives as long as one task.
//!
//! The task does not own the cluster itself: it starts a second process, the
//! *keeper*, which does, and holds the write end of a pipe to it. However the task
//! ends, Ctrl-C and SIGKILL included, the pipe closes, and the keeper stops the
//! server and deletes its files. What a killed keeper leaves behind, the next one
//! cleans up, see [`leftovers`].
//!
//! Durability is PostgreSQL's default: the framework refuses a server that has
//! `fsync` or `synchronous_commit` turned off.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::args::KEEP_POSTGRES;
use crate::command::{announce, cannot_run, say};
use crate::failure::Failure;

mod account;
mod binaries;
mod install;
mod keeper;
mod leftovers;
mod platform;
mod server;

pub(crate) use binaries::Binaries;
pub(crate) use install::Rights;
pub(crate) use leftovers::random_hex;

/// A running cluster. Dropping it stops the server and deletes its files.
#[derive(Debug)]
pub(crate) struct Cluster {
    keeper: Child,
    /// Open for as long as the keeper is to keep. A line is the wish for a crash.
    hold: Option<ChildStdin>,
    says: Option<BufReader<ChildStdout>>,
    url: String,
}

impl Cluster {
    /// Start a new cluster and wait until it answers.
    ///
    /// # Errors
    ///
    /// Fails if the server does not come up; the keeper has then said why.
    pub(crate) fn start(binaries: &Binaries) -> Result<Self, Failure> {
        Self::start_by(binaries, |_| {})
    }

    /// The same with a variable in the server's environment.
    ///
    /// # Errors
    ///
    /// As [`Cluster::start`].
    pub(crate) fn start_with(
        binaries: &Binaries,
        variable: &str,
        value: &Path,
    ) -> Result<Self, Failure> {
        Self::start_by(binaries, |keeper| {
            keeper.env(variable, value);
        })
    }

    fn start_by(binaries: &Binaries, adapt: impl FnOnce(&mut Command)) -> Result<Self, Failure> {
        let this = env::current_exe().map_err(Failure::cannot("find this program's own file"))?;
        let mut command = Command::new(this);
        command
            .arg(KEEP_POSTGRES)
            .arg(binaries.directory())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // Ctrl-C is for the task. The keeper hears of it when the pipe closes.
        platform::own_process_group(&mut command);
        adapt(&mut command);
        let mut keeper = command.spawn().map_err(cannot_run(&command))?;

        let hold = keeper.stdin.take();
        let says = keeper.stdout.take().map(BufReader::new);
        let mut cluster = Self {
            keeper,
            hold,
            says,
            url: String::new(),
        };
        cluster.url = cluster.hear()?;
        if cluster.url.is_empty() {
            return Err(Failure::Message("PostgreSQL was not started".to_owned()));
        }
        Ok(cluster)
    }

    /// End the server as a crash would, start it again at the same place, and wait until it answers.
    ///
    /// # Errors
    ///
    /// Fails if the server does not come back; the keeper has then said why.
    pub(crate) fn crash(&mut self) -> Result<(), Failure> {
        if let Some(hold) = &mut self.hold {
            writeln!(hold, "crash").map_err(Failure::cannot("reach the cluster"))?;
        }
        if self.hear()?.is_empty() {
            return Err(Failure::Message("PostgreSQL is gone".to_owned()));
        }
        Ok(())
    }

    /// What the keeper says next; nothing if it is gone.
    fn hear(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if let Some(says) = &mut self.says {
            says.read_line(&mut line)
                .map_err(Failure::cannot("hear from the cluster"))?;
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }

    /// Wait until the cluster is gone without being told to go.
    fn wait(&mut self) -> Result<(), Failure> {
        // `Child::wait` would close the pipe, had it not been taken out.
        let status = self
            .keeper
            .wait()
            .map_err(Failure::cannot("wait for the cluster"))?;
        match status.code() {
            Some(_) => Failure::check(status),
            None => Err(Failure::Message(format!("the cluster is gone: {status}"))),
        }
    }

    /// A superuser's, with password.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.hold.take());
        // The keeper says itself what it could not clean up.
        let _ = self.keeper.wait();
    }
}

/// `cargo xtask postgres`: run `command` with a cluster, or keep one until Ctrl-C.
///
/// # Errors
///
/// Fails as the command does, or if there is no PostgreSQL.
pub(crate) fn run(command: &[OsString]) -> Result<(), Failure> {
    let mut cluster = Cluster::start(&Binaries::find_or_install()?)?;
    let Some((program, arguments)) = command.split_first() else {
        println!("{TEST_DATABASE_URL}={}", cluster.url());
        say("running until Ctrl-C");
        return cluster.wait();
    };
    let mut command = Command::new(program);
    command.args(arguments);
    announce(&command);
    command.env(TEST_DATABASE_URL, cluster.url());
    Failure::check(command.status().map_err(cannot_run(&command))?)
}

/// The keeper's whole life. It ends when standard input does.
///
/// # Errors
///
/// Fails if the server cannot be started, or stops by itself.
pub(crate) fn keep(binaries: PathBuf) -> Result<(), Failure> {
    keeper::keep(&Binaries::in_directory(binaries))
}

/// What tests read. Tests that need PostgreSQL fail without it.
pub(crate) const TEST_DATABASE_URL: &str = "TEST_DATABASE_URL";
