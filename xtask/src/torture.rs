//! `cargo xtask torture`: receivers killed, stopped and cut off under load, then judged by SQL; with
//! `--outbound` the same of senders.
//!
//! The work is done by the program `torture` of the crate `webhook-tests`. This task gives it a
//! database and a folder, and crashes the database's server when it asks for that.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::command::{announce, cannot_run, cargo, run as run_step, workspace};
use crate::failure::Failure;
use crate::postgres::{Binaries, Cluster, TEST_DATABASE_URL, random_hex};

/// What the command line asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Torture senders instead of receivers.
    pub(crate) is_outbound: bool,
    /// Receivers, or senders. Default: 3 on PostgreSQL, 1 on SQLite.
    pub(crate) processes: Option<u32>,
    /// How long the chaos lasts, on each store. Default: 60 s.
    pub(crate) seconds: Option<u32>,
    /// Default: another one each time.
    pub(crate) seed: Option<u64>,
    /// Default: both.
    pub(crate) store: Option<Store>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Postgres,
    Sqlite,
}

impl Options {
    /// # Errors
    ///
    /// Says what is wrong with the command line.
    pub(crate) fn parse(words: &[OsString]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter().map(|word| word.to_str().unwrap_or_default());
        while let Some(name) = words.next() {
            if name == "--outbound" {
                options.is_outbound = true;
                continue;
            }
            let value = words.next().ok_or(format!("`{name}` needs a value"))?;
            let number = || {
                let number = value.parse::<u64>();
                number.map_err(|_| format!("`{name}` needs a number, not `{value}`"))
            };
            let small = || u32::try_from(number()?).map_err(|_| format!("{value} is too many"));
            match (name, value) {
                ("--processes", _) => options.processes = Some(small()?),
                ("--seconds", _) => options.seconds = Some(small()?),
                ("--seed", _) => options.seed = Some(number()?),
                ("--store", "postgres") => options.store = Some(Store::Postgres),
                ("--store", "sqlite") => options.store = Some(Store::Sqlite),
                ("--store", _) => return Err(format!("no store is called `{value}`")),
                _ => return Err(format!("`torture` has no option `{name}`")),
            }
        }
        if options.processes == Some(0) {
            return Err("at least one process is needed".to_owned());
        }
        Ok(options)
    }
}

/// One run on one store.
#[derive(Debug, Clone, Copy)]
struct Run {
    is_outbound: bool,
    seconds: u32,
    seed: u64,
}

/// Torture the stores asked for, one after the other.
///
/// # Errors
///
/// Fails if there is a finding.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    run_step(&mut cargo([
        "build",
        "--locked",
        "--package",
        "webhook-tests",
        "--bins",
    ]))?;
    let seed = options.seed.map_or_else(random_seed, Ok)?;
    let run = Run {
        is_outbound: options.is_outbound,
        seconds: options.seconds.unwrap_or(60),
        seed,
    };
    let wants = |store| options.store.is_none_or(|only| only == store);
    if wants(Store::Postgres) {
        let processes = options.processes.unwrap_or(3);
        if let Some(url) = env::var_os(TEST_DATABASE_URL).filter(|url| !url.is_empty()) {
            torture_postgres(&url, None, run, processes)?;
        } else {
            let mut cluster = Cluster::start(&Binaries::find_or_install()?)?;
            let url = OsString::from(cluster.url());
            torture_postgres(&url, Some(&mut cluster), run, processes)?;
        }
    }
    if wants(Store::Sqlite) {
        torture_sqlite(run, options.processes.unwrap_or(1))?;
    }
    Ok(())
}

/// A minute's worth of it, for `cargo xtask test`, on programs built already. A server that is not
/// ours is not crashed.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn run_short(url: &OsStr, mut cluster: Option<&mut Cluster>) -> Result<(), Failure> {
    let short = |is_outbound, seconds| -> Result<Run, Failure> {
        Ok(Run {
            is_outbound,
            seconds,
            seed: random_seed()?,
        })
    };
    let inbound = short(false, SHORT_POSTGRES_SECS)?;
    torture_postgres(url, cluster.as_deref_mut(), inbound, 3)?;
    torture_sqlite(short(false, SHORT_SQLITE_SECS)?, 1)?;
    torture_postgres(url, cluster, short(true, SHORT_OUTBOUND_SECS)?, 3)
}

fn torture_postgres(
    url: &OsStr,
    cluster: Option<&mut Cluster>,
    run: Run,
    processes: u32,
) -> Result<(), Failure> {
    let mut driver = driver("postgres", run, processes)?;
    driver.env(TEST_DATABASE_URL, url);
    if cluster.is_some() {
        driver.arg("crashes");
    }
    drive(driver, cluster)
}

fn torture_sqlite(run: Run, processes: u32) -> Result<(), Failure> {
    drive(driver("sqlite", run, processes)?, None)
}

fn driver(store: &str, run: Run, processes: u32) -> Result<Command, Failure> {
    let Run { seconds, seed, .. } = run;
    let this = env::current_exe().map_err(Failure::cannot("find this program's own file"))?;
    let evidence = workspace()
        .join("target")
        .join("torture-evidence")
        .join(format!("{store}-{seed}"));
    let mut command = Command::new(this.with_file_name("torture"));
    command
        .args(run.is_outbound.then_some("outbound"))
        .arg(store)
        .args([seconds.to_string(), seed.to_string(), processes.to_string()])
        .arg(evidence);
    Ok(command)
}

/// Run the driver, pass on what it says, and crash the server for it.
fn drive(mut command: Command, mut cluster: Option<&mut Cluster>) -> Result<(), Failure> {
    announce(&command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut driver = command.spawn().map_err(cannot_run(&command))?;
    let mut answers = driver.stdin.take();
    let says = driver.stdout.take().map(BufReader::new);
    for line in says.into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(Failure::cannot("hear from the driver"))?;
        match (line.as_str(), &mut cluster, &mut answers) {
            ("crash", Some(cluster), Some(answers)) => {
                cluster.crash()?;
                // A driver that is gone meanwhile has an exit status.
                let _ = writeln!(answers, "back");
            }
            _ => println!("{line}"),
        }
    }
    Failure::check(driver.wait().map_err(cannot_run(&command))?)
}

fn random_seed() -> Result<u64, Failure> {
    // Few digits, to be typed again.
    let hex = random_hex()?;
    let digits = hex
        .get(..8)
        .and_then(|hex| u64::from_str_radix(hex, 16).ok());
    digits.ok_or_else(|| Failure::Message("no random number".to_owned()))
}

/// With settling, 35 s and 25 s.
const SHORT_POSTGRES_SECS: u32 = 25;
const SHORT_SQLITE_SECS: u32 = 17;
/// With settling, 30 s.
const SHORT_OUTBOUND_SECS: u32 = 18;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_are_read() {
        assert_eq!(parse(""), Ok(Options::default()));
        let all = Options {
            is_outbound: true,
            processes: Some(2),
            seconds: Some(9),
            seed: Some(7),
            store: Some(Store::Sqlite),
        };
        let line = "--seed 7 --outbound --store sqlite --seconds 9 --processes 2";
        assert_eq!(parse(line), Ok(all));
    }

    #[test]
    fn nonsense_is_a_fault() {
        for line in [
            "--seconds",
            "--seconds x",
            "--store mysql",
            "--processes 0",
            "--unknown 1",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
