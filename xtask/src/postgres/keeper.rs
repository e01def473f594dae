//! The process that owns the cluster.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::account::Account;
use super::binaries::Binaries;
use super::leftovers::{Home, random_hex, sweep};
use super::server::{DATA, Server};
use crate::command::{cannot_run, say};
use crate::failure::Failure;

/// Start a cluster, print its URL, and keep it until standard input ends. Each line on it crashes the
/// server; a line is printed when it is back.
///
/// # Errors
///
/// Fails if the server cannot be started, or stops by itself.
pub(crate) fn keep(binaries: &Binaries) -> Result<(), Failure> {
    let task = watch_task();
    let account = Account::for_server()?;
    sweep(binaries, &account)?;

    // Dropped in the opposite order: the server is stopped, then its files are deleted.
    let home = Home::create(&account)?;
    let password = random_hex()?;
    initialise(binaries, &account, home.path(), &password)?;
    let mut server = Server::start(binaries, &account, home.path())?;

    let place = format!("127.0.0.1:{}", server.port());
    match &account {
        Account::Other { user, .. } => say(&format!("PostgreSQL runs on {place} as {user}")),
        Account::Own => say(&format!("PostgreSQL runs on {place}")),
    }
    let mut stdout = io::stdout();
    writeln!(stdout, "postgres://{SUPERUSER}:{password}@{place}/postgres")
        .and_then(|()| stdout.flush())
        .map_err(Failure::cannot("pass on the cluster's URL"))?;

    loop {
        match task.recv_timeout(WATCH) {
            Ok(()) => {
                server.crash()?;
                writeln!(stdout, "back")
                    .and_then(|()| stdout.flush())
                    .map_err(Failure::cannot("say that the cluster is back"))?;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = server.exited()? {
                    return Err(Failure::Message(format!(
                        "PostgreSQL ended by itself ({status}):\n{}",
                        server.log_tail()
                    )));
                }
            }
        }
    }
}

/// A message for each line of the task that started us. The channel closes when that is done, or dead.
fn watch_task() -> Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in io::stdin().lines() {
            if line.is_err() || sender.send(()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn initialise(
    binaries: &Binaries,
    account: &Account,
    home: &Path,
    password: &str,
) -> Result<(), Failure> {
    let data = home.join(DATA);
    let password_file = home.join("password");
    File::create_new(&password_file)
        .and_then(|mut file| writeln!(file, "{password}"))
        .map_err(Failure::cannot("write the password"))?;
    if !account.take_over(home) {
        return Err(Failure::Message(format!(
            "cannot hand {} over to the server",
            home.display()
        )));
    }
    let mut command = account.command(
        binaries.initdb(),
        [
            "-D".as_ref(),
            data.as_os_str(),
            "--username".as_ref(),
            SUPERUSER.as_ref(),
            "--pwfile".as_ref(),
            password_file.as_os_str(),
            // In clear, over the loopback: tests open many connections, and a client built
            // without optimisation takes three times as long for one with SCRAM.
            "--auth=password".as_ref(),
            "--encoding=UTF8".as_ref(),
            "--locale=C".as_ref(),
            // For the files it creates, not for the server that runs on them.
            "--no-sync".as_ref(),
        ],
    );
    let output = command.output().map_err(cannot_run(&command))?;
    let _ = fs::remove_file(&password_file);
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::Message(format!(
        "initdb fails ({}):\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    )))
}

const SUPERUSER: &str = "postgres";
const WATCH: Duration = Duration::from_millis(200);
