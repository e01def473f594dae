//! The table of goals: one row for each thing that is promised of our speed.

/// What is measured, and what is promised of it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Its name on the command line and in `BENCHMARKS.md`. The letter names the family.
    pub id: &'static str,
    /// The ratio, as `ours : theirs`.
    pub what: &'static str,
    /// The promise.
    pub goal: Goal,
}

/// A bound of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a bound is above or below")]
pub enum Goal {
    /// How many times faster we are, or what share of a limit we reach.
    AtLeast(f64),
    /// What we cost beyond a limit.
    AtMost(f64),
}

/// All rows.
pub const GOALS: &[Row] = &[
    row(
        "V1",
        "verify 2 KB, time : bare HMAC over the same bytes",
        Goal::AtMost(1.15),
    ),
    row(
        "V2",
        "verify 20 KB, time : bare HMAC over the same bytes",
        Goal::AtMost(1.03),
    ),
    row(
        "V3",
        "verify 0 B, time above bare HMAC : bare HMAC over 2 KB",
        Goal::AtMost(0.15),
    ),
    row(
        "V4a",
        "verify 2 KB, speed : svix, its own form",
        Goal::AtLeast(4.5),
    ),
    row(
        "V4b",
        "verify 2 KB, speed : standardwebhooks, its own form",
        Goal::AtLeast(4.5),
    ),
    row(
        "V5",
        "verify 2 KB, speed : async-stripe-webhook",
        Goal::AtLeast(1.25),
    ),
    row(
        "V6a",
        "verify 2 KB, time with 4 candidates : with 1",
        Goal::AtMost(1.10),
    ),
    row(
        "V6b",
        "verify 2 KB, time that 2 more secrets add : 2 bare HMACs",
        Goal::AtMost(1.05),
    ),
    row("V7", "heap allocations in one verify", Goal::AtMost(0.0)),
    row(
        "H1a",
        "whole request without hash and store, instructions : raw actix",
        Goal::AtMost(1.30),
    ),
    row(
        "H1b",
        "raw actix that verifies, without hash, instructions : raw actix",
        Goal::AtMost(1.12),
    ),
    row(
        "H2",
        "requests/s of an endpoint without store : raw actix",
        Goal::AtLeast(0.82),
    ),
];

impl Goal {
    /// Whether `ratio` keeps the promise.
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(bound) => ratio >= bound,
            Self::AtMost(bound) => ratio <= bound,
        }
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, ">= {bound:.2}"),
            Self::AtMost(bound) => write!(f, "<= {bound:.2}"),
        }
    }
}

const fn row(id: &'static str, what: &'static str, goal: Goal) -> Row {
    Row { id, what, goal }
}
