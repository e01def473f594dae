//! The processes that receive, and what is done to them.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::journal::Journal;

/// Where the receivers listen, by number.
pub(crate) type Addresses = Arc<Mutex<Vec<SocketAddr>>>;

/// What runs, several times.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// Its file, beside this one.
    pub(crate) file: &'static str,
    /// What each is called, with its number, in logs and by the server.
    pub(crate) called: &'static str,
    /// After the database's URL.
    pub(crate) arguments: Vec<String>,
}

/// All processes of one program in one run. They die with it.
#[derive(Debug)]
pub(crate) struct Receivers {
    url: String,
    program: Program,
    folder: PathBuf,
    journal: Journal,
    addresses: Addresses,
    /// None while one is down.
    running: Vec<Option<Child>>,
    findings: Vec<String>,
}

impl Receivers {
    /// Start `count` of them.
    pub(crate) fn start(
        url: String,
        program: Program,
        count: usize,
        folder: &Path,
        journal: &Journal,
    ) -> Self {
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut receivers = Self {
            url,
            program,
            folder: folder.to_owned(),
            journal: journal.clone(),
            addresses: Arc::new(Mutex::new(vec![nowhere; count])),
            running: (0..count).map(|_| None).collect(),
            findings: Vec::new(),
        };
        for number in 0..count {
            receivers.revive(number);
        }
        receivers
    }

    pub(crate) fn addresses(&self) -> Addresses {
        self.addresses.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.running.len()
    }

    pub(crate) fn is_running(&self, number: usize) -> bool {
        self.running[number].is_some()
    }

    /// Start this one if it is down, and wait until it listens. It may need several attempts while the
    /// database is away.
    pub(crate) fn revive(&mut self, number: usize) {
        let began = Instant::now();
        while self.running[number].is_none() {
            if let Some((child, address)) = self.launch(number) {
                self.journal.note(&format!(
                    "{} {number} is up, {address}",
                    self.program.called
                ));
                self.addresses.lock().unwrap()[number] = address;
                self.running[number] = Some(child);
            } else if began.elapsed() > COMES_UP_WITHIN {
                panic!("{} {number} does not come up", self.program.called);
            } else {
                thread::sleep(Duration::from_millis(200));
            }
        }
    }

    fn launch(&self, number: usize) -> Option<(Child, SocketAddr)> {
        let this = std::env::current_exe().unwrap();
        // By this name the server tells them apart.
        let called = self.program.called;
        let url = match self.url.split_once('?') {
            Some((base, query)) => format!("{base}?application_name={called}-{number}&{query}"),
            None => self.url.clone(),
        };
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log(number))
            .unwrap();
        let mut child = Command::new(this.with_file_name(self.program.file))
            .arg(url.trim_end_matches('&'))
            .args(&self.program.arguments)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, said) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = sender.send(line);
        });
        let line = said.recv_timeout(COMES_UP_WITHIN).unwrap_or_default();
        if let Ok(address) = line.trim().parse() {
            return Some((child, address));
        }
        let _ = child.kill();
        let _ = child.wait();
        None
    }

    /// SIGKILL: nothing is flushed, closed or said.
    pub(crate) fn kill(&mut self, number: usize) {
        if let Some(mut child) = self.running[number].take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Send this signal, if it runs.
    pub(crate) fn signal(&self, number: usize, name: &str) {
        if let Some(child) = &self.running[number] {
            // The shell's own, as not every system has the program.
            let line = format!("kill -{name} {}", child.id());
            let sent = Command::new("sh").arg("-c").arg(line).status().unwrap();
            assert!(
                sent.success(),
                "{} {number} cannot be sent SIG{name}",
                self.program.called
            );
        }
    }

    /// Note the ones that ended without being told to, and start them again.
    pub(crate) fn look_after(&mut self) {
        for number in 0..self.count() {
            let ended = self.running[number]
                .as_mut()
                .and_then(|child| child.try_wait().unwrap());
            if let Some(status) = ended {
                self.findings.push(format!(
                    "{} {number} ended by itself: {status}",
                    self.program.called
                ));
                self.running[number] = None;
                self.revive(number);
            }
        }
    }

    /// SIGTERM, and a bounded wait.
    pub(crate) fn stop(&mut self, number: usize) {
        self.signal(number, "TERM");
        let Some(mut child) = self.running[number].take() else {
            return;
        };
        let began = Instant::now();
        while began.elapsed() < STOPS_WITHIN {
            if let Some(status) = child.try_wait().unwrap() {
                if !status.success() {
                    self.findings.push(format!(
                        "{} {number} stopped with {status}",
                        self.program.called
                    ));
                }
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.findings.push(format!(
            "{} {number} did not stop in {STOPS_WITHIN:?}",
            self.program.called
        ));
        let _ = child.kill();
        let _ = child.wait();
    }

    pub(crate) fn stop_in_order(&mut self) {
        for number in 0..self.count() {
            self.signal(number, "CONT");
            self.stop(number);
        }
    }

    pub(crate) fn restart_in_order(&mut self) {
        self.stop_in_order();
        for number in 0..self.count() {
            self.revive(number);
        }
    }

    /// What was wrong with them; also panics that are not their handlers'.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut findings = self.findings.clone();
        for number in 0..self.count() {
            let log = std::fs::read_to_string(self.log(number)).unwrap_or_default();
            // Handlers panic on purpose, and a receiver that finds no database at its start does too.
            let panics = log
                .lines()
                .filter(|line| line.contains("panicked at") && !line.contains("tests/src/"));
            findings.extend(panics.map(|line| format!("{} {number}: {line}", self.program.called)));
        }
        findings
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder
            .join(format!("{}-{number}.log", self.program.called))
    }
}

impl Drop for Receivers {
    fn drop(&mut self) {
        for number in 0..self.count() {
            self.kill(number);
        }
    }
}

const COMES_UP_WITHIN: Duration = Duration::from_mins(1);
const STOPS_WITHIN: Duration = Duration::from_secs(20);
