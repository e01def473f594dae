//! `cargo xtask bench`: our figures beside peers and limits, see `BENCHMARKS.md`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{announce, cannot_run, cargo, run as run_step, say, succeeds, workspace};
use crate::failure::Failure;
use crate::postgres::{Binaries, Cluster, TEST_DATABASE_URL};

/// Build the benchmarks as they would ship and run the rows that `arguments` name, or all, with two
/// PostgreSQL servers where rows need them: one on the machine's disk, one on a slow one.
///
/// The benchmarks read the command line themselves: `[ROW..] [--quick] [--json]`. Ours is
/// `--update`: enter what was measured into the table of `BENCHMARKS.md`.
///
/// # Errors
///
/// Fails if a benchmark cannot be built or run. A goal that is not met is no failure: the machine may
/// be busy, and `BENCHMARKS.md` says which are met.
pub(crate) fn run(arguments: &[OsString]) -> Result<(), Failure> {
    // First: whoever has no PostgreSQL should not wait for the build to hear of it.
    let binaries = needs_postgres(arguments)
        .then(Binaries::find_or_install)
        .transpose()?;
    run_step(&mut bench(&["--no-run".as_ref()]))?;
    let mut rows = bench(&["--".as_ref()]);
    let is_update = arguments.iter().any(|word| word == UPDATE);
    rows.args(arguments.iter().filter(|word| *word != UPDATE));
    if is_update {
        rows.arg("--markdown");
    }
    let Some(binaries) = binaries else {
        return measure(&mut rows, is_update);
    };

    let is_given = env::var_os(TEST_DATABASE_URL).is_some_and(|url| !url.is_empty());
    let usual = (!is_given).then(|| Cluster::start(&binaries)).transpose()?;
    if let Some(cluster) = &usual {
        rows.env(TEST_DATABASE_URL, cluster.url());
    }
    let library = SlowDisk::build()?;
    let slow = library
        .as_ref()
        .map(|library| Cluster::start_with(&binaries, "LD_PRELOAD", &library.0))
        .transpose()?;
    match &slow {
        Some(cluster) => {
            rows.env(SLOW_DATABASE_URL, cluster.url());
        }
        None => say("no slow disk: that takes Linux and a C compiler called `cc`"),
    }
    measure(&mut rows, is_update)
}

fn bench(more: &[&std::ffi::OsStr]) -> Command {
    let mut bench = cargo([
        "bench",
        "--locked",
        "--package",
        "webhook-benches",
        "--benches",
    ]);
    bench.args(more);
    bench
}

fn measure(rows: &mut Command, is_update: bool) -> Result<(), Failure> {
    if !is_update {
        return run_step(rows);
    }
    announce(rows);
    rows.stdout(Stdio::piped());
    let mut running = rows.spawn().map_err(cannot_run(rows))?;
    let mut measured = Vec::new();
    let lines = running.stdout.take().map(BufReader::new);
    for line in lines.into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(Failure::cannot("hear from the benchmarks"))?;
        println!("{line}");
        measured.push(line);
    }
    Failure::check(running.wait().map_err(cannot_run(rows))?)?;
    let file = workspace().join("BENCHMARKS.md");
    let text = fs::read_to_string(&file).map_err(Failure::cannot("read BENCHMARKS.md"))?;
    fs::write(&file, updated(&text, &measured)).map_err(Failure::cannot("write BENCHMARKS.md"))
}

/// `text` with the table's rows replaced by those that were measured. Its last row is followed by
/// those that it has not had.
fn updated(text: &str, measured: &[String]) -> String {
    let mut new: Vec<&str> = measured.iter().map(String::as_str).collect();
    new.retain(|line| row(line).is_some());
    let is_row = |line: &&str| row(line).is_some();
    let last = text.lines().rfind(is_row).and_then(row);
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let name = row(line);
        let place = new
            .iter()
            .position(|new| name.is_some() && row(new) == name);
        lines.push(place.map_or(line, |place| new.remove(place)));
        if name.is_some() && name == last {
            // What stands further below is still to come to its own place.
            lines.append(&mut new);
        }
    }
    lines.join("\n") + "\n"
}

// Input: `| V4a | verify 2 KB | >= 4.50 | 4.22 | 4.20 to 4.24 | not met |`, or another line
// Output: `V4a`, or nothing
fn row(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("| ")?.split_once(" | ")?;
    let has_family = name.starts_with(|first: char| first.is_ascii_uppercase());
    (has_family && name.contains(|digit: char| digit.is_ascii_digit())).then_some(name)
}

/// All rows but those of verifying, HTTP and SQLite are measured on PostgreSQL.
fn needs_postgres(arguments: &[OsString]) -> bool {
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let rows: Vec<_> = words.filter(|word| !word.starts_with('-')).collect();
    let needs_none = |row: &str| row.starts_with(['V', 'v', 'H', 'h', 'S', 's']);
    rows.is_empty() || !rows.iter().all(|row| needs_none(row))
}

/// The library that makes a server's disk slow, where every user can read it. Deleted when dropped.
struct SlowDisk(PathBuf);

impl SlowDisk {
    /// Nothing where it cannot be built.
    fn build() -> Result<Option<Self>, Failure> {
        if !cfg!(target_os = "linux") {
            return Ok(None);
        }
        let name = format!("webhook-slow-disk-{}.so", std::process::id());
        let library = Self(env::temp_dir().join(name));
        let source = workspace().join("benches").join("slow_disk.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O2", "-o"]);
        compile.arg(&library.0).arg(source).arg("-ldl");
        if !succeeds(&mut compile) {
            return Ok(None);
        }
        make_readable(&library.0)?;
        Ok(Some(library))
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn make_readable(file: &Path) -> Result<(), Failure> {
    run_step(Command::new("chmod").arg("0755").arg(file))
}

const UPDATE: &str = "--update";
/// Read by the benchmarks, beside [`TEST_DATABASE_URL`].
const SLOW_DATABASE_URL: &str = "SLOW_DATABASE_URL";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_replaced_in_place_and_new_ones_follow() {
        let text =
            "# Results\n\n| row | what |\n| --- | --- |\n| V1 | a | 1 |\n| V2 | b | 2 |\n\nEnd\n";
        let measured = ["| L1 | c | 9 |", "| V1 | a | 8 |", "Finished"].map(str::to_owned);
        assert_eq!(
            updated(text, &measured),
            "# Results\n\n| row | what |\n| --- | --- |\n| V1 | a | 8 |\n| V2 | b | 2 |\n| L1 | c | 9 |\n\nEnd\n"
        );
        assert_eq!(updated(text, &[]), text);
    }

    #[test]
    fn verifying_needs_no_database() {
        for (line, needed) in [
            ("", true),
            ("--quick", true),
            ("V H2 s1", false),
            ("V L4", true),
        ] {
            let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(needs_postgres(&arguments), needed, "{line}");
        }
    }
}
