//! What all test binaries of one run said, added up.

use std::fmt::{self, Display};

/// Fed with the runner's output line by line; printed at the end.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// The runner's closing lines, as printed, of binaries in which a test was found.
    closing: Vec<String>,
    /// Binaries, and crates whose doc tests were looked for, without a test.
    empty: u64,
    failed: u64,
    failed_names: Vec<String>,
    filtered_out: u64,
    ignored: u64,
    /// With the reason, where the attribute has one.
    ignored_names: Vec<String>,
    passed: u64,
}

impl Summary {
    /// Take note of one line of output, if it is the runner's.
    pub(crate) fn observe(&mut self, line: &str) {
        let line = line.trim_end();
        if let Some(result) = line.strip_prefix("test result: ") {
            self.add(line, result);
        } else if let Some(test) = line.strip_prefix("test ") {
            self.note(test);
        }
    }

    // Input: `ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`
    // Output: 5, 0, 1 and 0 in the sums
    fn add(&mut self, line: &str, result: &str) {
        let Some((_, counts)) = result.split_once(". ") else {
            return;
        };
        let mut tests: u64 = 0;
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            let sum = match what {
                "failed" => &mut self.failed,
                "filtered out" => &mut self.filtered_out,
                "ignored" => &mut self.ignored,
                "passed" => &mut self.passed,
                _ => continue,
            };
            *sum = sum.saturating_add(number);
            tests = tests.saturating_add(number);
        }
        if tests == 0 {
            self.empty = self.empty.saturating_add(1);
        } else {
            self.closing.push(line.to_owned());
        }
    }

    // Input: `race::two_claims ... ignored, needs a second machine`
    fn note(&mut self, test: &str) {
        let Some((name, outcome)) = test.rsplit_once(" ... ") else {
            return;
        };
        if outcome == "FAILED" {
            self.failed_names.push(name.to_owned());
        } else if let Some(reason) = outcome.strip_prefix("ignored") {
            self.ignored_names.push(format!("{name}{reason}"));
        }
    }
}

impl Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.closing.is_empty() && self.empty == 0 {
            // It did not compile, or was not meant to run.
            return writeln!(f, "no test was run");
        }
        for line in &self.closing {
            writeln!(f, "{line}")?;
        }
        if self.empty > 0 {
            writeln!(f, "({} more without a test)", self.empty)?;
        }
        list(f, "ignored", &self.ignored_names)?;
        list(f, "failed", &self.failed_names)?;
        if self.filtered_out > 0 {
            writeln!(f, "{} not selected", self.filtered_out)?;
        }
        // This form, alone on its line, is what tools that read many runners look for.
        writeln!(
            f,
            "total: {} passed, {} failed, {} skipped",
            self.passed, self.failed, self.ignored
        )
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, names: &[String]) -> fmt::Result {
    if !names.is_empty() {
        writeln!(f, "{title}:")?;
    }
    names.iter().try_for_each(|name| writeln!(f, "    {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(lines: &[&str]) -> Summary {
        let mut summary = Summary::default();
        for line in lines {
            summary.observe(line);
        }
        summary
    }

    #[test]
    fn counts_are_added_up_and_closing_lines_kept() {
        let first = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s";
        let second = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s";
        let summary = summary(&["running 6 tests", first, "", second]);
        assert_eq!(summary.closing, [first, second]);
        assert_eq!((summary.passed, summary.failed, summary.ignored), (8, 2, 1));
        assert_eq!(summary.filtered_out, 2);
        assert!(
            summary
                .to_string()
                .ends_with("\ntotal: 8 passed, 2 failed, 1 skipped\n")
        );
    }

    #[test]
    fn binaries_without_tests_are_counted_only() {
        let summary = summary(&[
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ]);
        assert_eq!(summary.closing, [""; 0]);
        assert_eq!(
            summary.to_string(),
            "(1 more without a test)\ntotal: 0 passed, 0 failed, 0 skipped\n"
        );
    }

    #[test]
    fn no_result_is_not_a_result_of_nothing() {
        assert_eq!(Summary::default().to_string(), "no test was run\n");
    }

    #[test]
    fn failed_and_ignored_tests_are_named() {
        let summary = summary(&[
            "test fine ... ok",
            "test broken ... FAILED",
            "test later ... ignored",
            "test slow ... ignored, needs an hour",
            "test src/lib.rs - Claim (line 9) - compile ... ok",
        ]);
        assert_eq!(summary.failed_names, ["broken"]);
        assert_eq!(summary.ignored_names, ["later", "slow, needs an hour"]);
    }

    #[test]
    fn what_is_not_the_runners_is_left_alone() {
        let summary = summary(&[
            "test result: unknown",
            "test result: ok. many passed; x",
            "testing ... FAILED",
            "test without an outcome",
        ]);
        assert_eq!(summary.passed, 0);
        assert!(summary.failed_names.is_empty());
    }
}
