//! The server's process and files.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::account::Account;
use super::binaries::Binaries;
use crate::command::{cannot_run, say, succeeds};
use crate::failure::Failure;

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Server<'a> {
    account: &'a Account,
    binaries: &'a Binaries,
    child: Child,
    home: PathBuf,
    port: u16,
}

impl<'a> Server<'a> {
    /// Start a server on the data of `home`, on a free port of the loopback address, and wait
    /// until it takes connections.
    ///
    /// # Errors
    ///
    /// Fails with the server's log if it does not come up.
    pub(crate) fn start(
        binaries: &'a Binaries,
        account: &'a Account,
        home: &Path,
    ) -> Result<Self, Failure> {
        for _ in 0..PORTS_TO_TRY {
            let port = free_port().map_err(Failure::cannot("find a free port"))?;
            let mut server = Self {
                account,
                binaries,
                child: launch(binaries, account, home, port)?,
                home: home.to_owned(),
                port,
            };
            if server.wait_until_ready()? {
                return Ok(server);
            }
            // Between our look and the server's start, the port may have gone to somebody else.
            if !server.log_tail().contains("could not bind") {
                return Err(Failure::Message(format!(
                    "PostgreSQL does not start:\n{}",
                    server.log_tail()
                )));
            }
        }
        Err(Failure::Message("no free port found".to_owned()))
    }

    /// Stop the server without letting it finish anything, as a crash would, and start it again at
    /// the same place.
    ///
    /// # Errors
    ///
    /// Fails with the server's log if it does not come back.
    pub(crate) fn crash(&mut self) -> Result<(), Failure> {
        if !stop_in(
            "immediate",
            self.binaries,
            self.account,
            &self.home.join(DATA),
        ) {
            return Err(Failure::Message("PostgreSQL does not stop".to_owned()));
        }
        let _ = self.child.wait();
        let start = Instant::now();
        loop {
            self.child = launch(self.binaries, self.account, &self.home, self.port)?;
            if self.wait_until_ready()? {
                return Ok(());
            }
            // A client that looked for the server may sit on its port for a moment.
            if start.elapsed() > START_TIMEOUT || !self.log_tail().contains("could not bind") {
                return Err(Failure::Message(format!(
                    "PostgreSQL does not come back:\n{}",
                    self.log_tail()
                )));
            }
            thread::sleep(POLL);
        }
    }

    /// False if the server ends instead.
    fn wait_until_ready(&mut self) -> Result<bool, Failure> {
        let start = Instant::now();
        while start.elapsed() < START_TIMEOUT {
            if self.exited()?.is_some() {
                return Ok(false);
            }
            if is_ready(&self.home.join(DATA)) {
                return Ok(true);
            }
            thread::sleep(POLL);
        }
        Err(Failure::Message(format!(
            "PostgreSQL is not ready after {START_TIMEOUT:?}:\n{}",
            self.log_tail()
        )))
    }

    /// The exit status of a server that has ended by itself.
    ///
    /// # Errors
    ///
    /// Fails if the system cannot tell.
    pub(crate) fn exited(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.child
            .try_wait()
            .map_err(Failure::cannot("watch the server"))
    }

    /// The last lines that the server logged.
    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read(self.home.join(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        let start = lines.len().saturating_sub(LOG_LINES_SHOWN);
        lines.get(start..).unwrap_or_default().join("\n")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        if matches!(self.exited(), Ok(Some(_))) {
            return;
        }
        if !stop(self.binaries, self.account, &self.home.join(DATA)) {
            say("PostgreSQL does not stop when told to; killing it");
            // All we can reach; its own children end when they miss it.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn launch(
    binaries: &Binaries,
    account: &Account,
    home: &Path,
    port: u16,
) -> Result<Child, Failure> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(home.join(LOG))
        .map_err(Failure::cannot("open the server's log"))?;
    let errors = log.try_clone().map_err(Failure::cannot("share a log"))?;
    let data = home.join(DATA);
    let listen = format!("port={port}");
    let mut command = account.command(
        binaries.postgres(),
        [
            "-D".as_ref(),
            data.as_os_str(),
            "-c".as_ref(),
            "listen_addresses=127.0.0.1".as_ref(),
            "-c".as_ref(),
            listen.as_ref(),
            // Their paths are bounded at about 100 bytes, which a temporary one may exceed.
            "-c".as_ref(),
            "unix_socket_directories=".as_ref(),
            "-c".as_ref(),
            "max_connections=300".as_ref(),
            "-c".as_ref(),
            "shared_buffers=64MB".as_ref(),
        ],
    );
    command
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .map_err(cannot_run(&command))
}

/// Stop the server that runs on `data`, at first politely.
pub(crate) fn stop(binaries: &Binaries, account: &Account, data: &Path) -> bool {
    ["fast", "immediate"]
        .iter()
        .any(|mode| stop_in(mode, binaries, account, data))
}

fn stop_in(mode: &str, binaries: &Binaries, account: &Account, data: &Path) -> bool {
    succeeds(&mut account.command(
        binaries.pg_ctl(),
        [
            "stop".as_ref(),
            "-D".as_ref(),
            data.as_os_str(),
            "-w".as_ref(),
            "-t".as_ref(),
            STOP_TIMEOUT_SECS.as_ref(),
            "-m".as_ref(),
            mode.as_ref(),
        ],
    ))
}

/// The process id in the server's lock file.
pub(crate) fn postmaster(data: &Path) -> Option<String> {
    lock_file_line(data, 1).filter(|pid| pid.parse::<u32>().is_ok())
}

/// What `pg_ctl start` waits for, too.
fn is_ready(data: &Path) -> bool {
    lock_file_line(data, 8).is_some_and(|status| status == "ready")
}

fn lock_file_line(data: &Path, number: usize) -> Option<String> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let line = text.lines().nth(number.checked_sub(1)?)?;
    Some(line.trim().to_owned())
}

fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// Below the cluster's home.
pub(crate) const DATA: &str = "data";
const LOG: &str = "server.log";
const LOG_LINES_SHOWN: usize = 30;
const POLL: Duration = Duration::from_millis(20);
const PORTS_TO_TRY: usize = 5;
const START_TIMEOUT: Duration = Duration::from_mins(1);
const STOP_TIMEOUT_SECS: &str = "30";
