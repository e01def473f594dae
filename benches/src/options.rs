//! The command line of both programs: `[ROW..] [--quick] [--json | --markdown]`.

use std::time::Duration;

use crate::goal::{GOALS, Row};

/// Which rows, how long, and how they are printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Names of rows or beginnings of them, `outbound` for those that begin with `O`; none means all.
    pub rows: Vec<String>,
    /// Only prove that each row runs.
    pub quick: bool,
    /// One JSON object a line instead of the table.
    pub json: bool,
    /// Lines of the table in `BENCHMARKS.md` instead.
    pub markdown: bool,
}

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effort {
    /// Rounds of a race within one thread.
    pub rounds: usize,
    /// Time that a case gets in each of them.
    pub chunk: Duration,
    /// Rounds of a race between servers.
    pub server_rounds: usize,
    /// Time that a server gets in each of them.
    pub server_chunk: Duration,
    /// Requests in the shorter and in the longer of two counted runs.
    pub counted: (u64, u64),
    /// Rounds of a contest between stores.
    pub bouts: usize,
    /// Time that a contender gets in each of them.
    pub bout: Duration,
    /// How much it does in each instead, whatever time that takes.
    pub bout_size: Option<usize>,
    /// Events in the two tables that have grown.
    pub grown: [u32; 2],
}

impl Options {
    /// Read the words after the program's name.
    ///
    /// # Errors
    ///
    /// Says which word is no option, or names no row.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        for word in words {
            match word.as_str() {
                "--quick" => options.quick = true,
                "--json" => options.json = true,
                "--markdown" => options.markdown = true,
                "--bench" => {} // cargo's, for every bench target
                flag if flag.starts_with('-') => return Err(format!("unknown option `{flag}`")),
                name => {
                    let name = match name.to_ascii_uppercase().as_str() {
                        "OUTBOUND" => "O".to_owned(),
                        name => name.to_owned(),
                    };
                    if !GOALS.iter().any(|row| is_named(row, &name)) {
                        return Err(format!("no row is named `{name}`"));
                    }
                    options.rows.push(name);
                }
            }
        }
        Ok(options)
    }

    /// Whether `row` was asked for.
    pub fn wants(&self, row: &Row) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|name| is_named(row, name))
    }

    /// How long to measure.
    pub fn effort(&self) -> Effort {
        if self.quick {
            Effort {
                rounds: 3,
                chunk: Duration::from_micros(50),
                server_rounds: 2,
                server_chunk: Duration::from_millis(50),
                counted: (10, 20),
                bouts: 1,
                bout: Duration::ZERO,
                bout_size: Some(100),
                grown: [10_000, 100_000],
            }
        } else {
            Effort {
                rounds: 81,
                chunk: Duration::from_millis(1),
                server_rounds: 9,
                server_chunk: Duration::from_secs(1),
                counted: (200, 1200),
                bouts: 5,
                bout: Duration::from_secs(1),
                bout_size: None,
                grown: [1_000_000, 10_000_000],
            }
        }
    }
}

/// `V` and `V4` name families, `V4A` one row.
fn is_named(row: &Row, name: &str) -> bool {
    row.id.to_ascii_uppercase().starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn names_choose_rows_and_families() {
        let chosen = |line| {
            let options = parse(line).unwrap();
            let rows = GOALS.iter().filter(|row| options.wants(row));
            rows.map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(chosen("--bench").len(), GOALS.len());
        assert_eq!(chosen("v4"), ["V4a", "V4b"]);
        assert_eq!(chosen("V4a h2"), ["V4a", "H2"]);
        assert!(chosen("outbound").iter().all(|name| name.starts_with('O')));
    }

    #[test]
    fn faults_are_named() {
        assert!(parse("--quick --json").unwrap().quick);
        assert_eq!(parse("V99").unwrap_err(), "no row is named `V99`");
        assert_eq!(parse("--fast").unwrap_err(), "unknown option `--fast`");
    }
}
