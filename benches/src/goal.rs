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
    row("V4a", "verify 2 KB, speed : svix 2.9.1", Goal::AtLeast(4.5)),
    row(
        "V4b",
        "verify 2 KB, speed : standardwebhooks 1.0.1",
        Goal::AtLeast(4.5),
    ),
    row(
        "V5",
        "verify 2 KB, speed : async-stripe-webhook 1.0.0-rc.10",
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
    row(
        "L1a",
        "claims/s, 64 callers, PostgreSQL : inbox by hand",
        Goal::AtLeast(4.0),
    ),
    row("L1b", "L1a on a slow disk", Goal::AtLeast(4.0)),
    row(
        "L2a",
        "99th percentile of L1a : its peer's",
        Goal::AtMost(0.35),
    ),
    row(
        "L2b",
        "99th percentile of L1b : its peer's",
        Goal::AtMost(0.35),
    ),
    row(
        "L3a",
        "claims/s, 8 callers : inbox by hand",
        Goal::AtLeast(1.5),
    ),
    row("L3b", "L3a on a slow disk", Goal::AtLeast(1.5)),
    row(
        "L4",
        "claims/s, 1 caller : inbox by hand",
        Goal::AtLeast(0.95),
    ),
    row(
        "L5a",
        "claims/s, 256 callers : inbox by hand",
        Goal::AtLeast(8.0),
    ),
    row("L5b", "L5a on a slow disk", Goal::AtLeast(8.0)),
    row(
        "L6a",
        "claims/s, 64 callers : rows/s of one COPY",
        Goal::AtLeast(0.33),
    ),
    row(
        "L6b",
        "claims/s, 256 callers : rows/s of one COPY",
        Goal::AtLeast(0.45),
    ),
    row(
        "L7a",
        "claims/s, 64 callers, 2 KB payload : inbox by hand",
        Goal::AtLeast(2.2),
    ),
    row("L7b", "L7a on a slow disk", Goal::AtLeast(2.2)),
    row(
        "L8a",
        "lone claim, idle process, median time : inbox by hand",
        Goal::AtMost(1.05),
    ),
    row(
        "L8b",
        "lone claim, idle process, 99th percentile : inbox by hand",
        Goal::AtMost(1.10),
    ),
    row(
        "S1",
        "claims/s, 64 callers, SQLite : inbox by hand",
        Goal::AtLeast(6.5),
    ),
    row(
        "S2",
        "claims/s, 64 callers, SQLite : rusqlite, 200 rows a transaction",
        Goal::AtLeast(0.65),
    ),
    row(
        "E1a",
        "stored deliveries/s, 64 connections : server by hand",
        Goal::AtLeast(3.5),
    ),
    row(
        "E1b",
        "99th percentile of E1a : its peer's",
        Goal::AtMost(0.4),
    ),
    row(
        "E2",
        "stored deliveries/s, 2.5 KB : raw actix, nothing stored",
        Goal::AtLeast(0.38),
    ),
    row(
        "E3",
        "time a delivery, server alone + ledger alone : both together",
        Goal::AtLeast(0.85),
    ),
    row(
        "E4a",
        "stored deliveries/s, 2.5 KB : server by hand",
        Goal::AtLeast(2.7),
    ),
    row(
        "E4b",
        "stored deliveries/s, 2.5 KB : ids alone, in batches",
        Goal::AtLeast(0.6),
    ),
    row("E5", "E1a on a slow disk", Goal::AtLeast(3.0)),
    row(
        "D1",
        "events/s taken and completed, 4 workers : inbox by hand",
        Goal::AtLeast(8.0),
    ),
    row(
        "D2",
        "events/s taken and completed, 4 workers : deleted, 50 at once",
        Goal::AtLeast(0.45),
    ),
    row(
        "G1a",
        "claims/s into 1 M events : into none",
        Goal::AtLeast(0.85),
    ),
    row(
        "G1b",
        "claims/s into 10 M events : into none",
        Goal::AtLeast(0.55),
    ),
    row(
        "G2",
        "claims/s while old events are forgotten : without",
        Goal::AtLeast(0.85),
    ),
    row("G3", "events forgotten/s : claims/s", Goal::AtLeast(1.0)),
    row(
        "O1",
        "requests/s of the guarded client, signed : reqwest, unsigned",
        Goal::AtLeast(1.15),
    ),
    row(
        "O2",
        "processor time of a guarded request : hyper's connection, signed",
        Goal::AtMost(1.35),
    ),
    row(
        "O3a",
        "2 KB deliveries/s from the outbox to the record : 2000/s",
        Goal::AtLeast(1.0),
    ),
    row(
        "O3b",
        "2 KB deliveries/s from the outbox : requests/s of reqwest",
        Goal::AtLeast(0.2),
    ),
    row("O3c", "commits : deliveries", Goal::AtMost(0.1)),
    row(
        "O3d",
        "kilobytes of log : 2 KB deliveries",
        Goal::AtMost(8.0),
    ),
    row(
        "O4",
        "99th percentile, 1 % of 1000 endpoints hostile : none",
        Goal::AtMost(1.2),
    ),
    row(
        "O5",
        "99th percentile, half of 1000 endpoints hostile : none",
        Goal::AtMost(1.5),
    ),
    row(
        "O6",
        "deliveries/s while 1 M wait for a dead endpoint : none wait",
        Goal::AtLeast(0.8),
    ),
    row(
        "O7",
        "memory at the end of O6 : of the same without the million",
        Goal::AtMost(1.3),
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
