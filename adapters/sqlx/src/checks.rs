//! What both stores find in the same way.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use webhook_core::Clock;
use webhook_core::ledger::{Check, CheckVerdict, LedgerError, Notice, Registration};

/// The endpoints that this process has prepared for.
#[derive(Default)]
pub(crate) struct Served(Mutex<Vec<String>>);

impl Served {
    pub(crate) fn set(&self, registration: &Registration) {
        let names = registration.endpoints.iter();
        let names = names.map(|endpoint| endpoint.name.to_string()).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.clone()
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

pub(crate) fn good(name: &'static str, detail: impl Into<String>) -> Check {
    Check::new(name, CheckVerdict::Good, detail)
}

pub(crate) fn warning(name: &'static str, detail: impl Into<String>) -> Check {
    Check::new(name, CheckVerdict::Warning, detail)
}

pub(crate) fn bad(name: &'static str, detail: impl Into<String>) -> Check {
    Check::new(name, CheckVerdict::Bad, detail)
}

/// Refuse what is bad, and say what is not good.
pub(crate) fn refuse(checks: Vec<Check>) -> Result<(), LedgerError> {
    for check in checks {
        match check.verdict {
            CheckVerdict::Good => {}
            CheckVerdict::Warning => {
                tracing::warn!(
                    check = check.name,
                    "the store is bearable: {}",
                    check.detail
                );
            }
            CheckVerdict::Bad => return Err(LedgerError::unfit(check.detail)),
        }
    }
    Ok(())
}

/// A store that could not be asked.
pub(crate) fn unreachable(fault: &LedgerError) -> Vec<Check> {
    vec![bad("store", fault.to_string())]
}

/// A clock read before and after the store's, so that the way there and back is not taken for an
/// offset.
pub(crate) struct Reading<'c> {
    clock: &'c dyn Clock,
    before: i64,
}

impl<'c> Reading<'c> {
    pub(crate) fn begin(clock: &'c dyn Clock) -> Self {
        Self {
            clock,
            before: clock.unix_secs(),
        }
    }

    /// `store` is in Unix milliseconds.
    pub(crate) fn end(self, store: i64) -> Check {
        verdict(self.before, store, self.clock.unix_secs())
    }
}

/// Between `before` and the end of the second `after` the store's clock was at `store`.
fn verdict(before: i64, store: i64, after: i64) -> Check {
    let ahead = before.saturating_mul(1000).saturating_sub(store);
    let behind = store.saturating_sub(after.saturating_add(1).saturating_mul(1000));
    let (offset, side) = if ahead > behind {
        (ahead, "ahead of")
    } else {
        (behind, "behind")
    };
    let detail = format!(
        "this process' clock is {}.{:03} s {side} the store's: have both synchronised",
        offset.div_euclid(1000),
        offset.rem_euclid(1000)
    );
    if offset <= WARNING {
        good(CLOCK, "within two seconds of the store's")
    } else if offset <= BAD {
        warning(CLOCK, detail)
    } else {
        bad(CLOCK, detail)
    }
}

/// How the version of the schema stands, with the oldest library that may use it.
pub(crate) fn schema(found: Option<(i64, i64)>, ours: i64) -> Check {
    match found {
        None => bad(SCHEMA, "there is no schema: prepare the ledger"),
        Some((_, min_reader)) if min_reader > ours => bad(
            SCHEMA,
            format!(
                "its schema asks for a library that reads version {min_reader}, this one reads \
                 {ours}: deploy a newer one"
            ),
        ),
        Some((version, _)) if version < ours => bad(
            SCHEMA,
            format!("the schema has version {version}, this library needs {ours}: prepare it"),
        ),
        Some((version, _)) => good(SCHEMA, format!("version {version}")),
    }
}

/// Endpoints for which events wait although nobody serves them, with their number.
pub(crate) fn waiting(orphans: &[(String, i64)]) -> Check {
    if orphans.is_empty() {
        return good(WAITING, "no event waits for an endpoint that nobody serves");
    }
    let found: Vec<String> = orphans
        .iter()
        .map(|(endpoint, waiting)| format!("{waiting} for `{endpoint}`"))
        .collect();
    warning(
        WAITING,
        format!(
            "events wait for endpoints that nobody serves: {}",
            found.join(", ")
        ),
    )
}

/// The same, for who starts.
pub(crate) fn orphans(orphans: Vec<(String, i64)>) -> Vec<Notice> {
    let notice = |(endpoint, waiting): (String, i64)| Notice::Orphans {
        endpoint,
        waiting: waiting.unsigned_abs(),
    };
    orphans.into_iter().map(notice).collect()
}

/// How much room is left where the store's file is, in bytes; `None` where that cannot be known.
pub(crate) fn room(free: Option<u64>) -> Check {
    match free {
        None => good(ROOM, "not known here: watch the disk of the store"),
        Some(free) if free < LEAST_ROOM => warning(
            ROOM,
            format!(
                "{} MiB are left on the disk of the store: below {} MiB it soon refuses what it is sent",
                free.div_euclid(MIB),
                LEAST_ROOM.div_euclid(MIB)
            ),
        ),
        Some(free) => good(ROOM, format!("{} MiB are left", free.div_euclid(MIB))),
    }
}

const CLOCK: &str = "clock";
const ROOM: &str = "room";
const SCHEMA: &str = "schema";
const WAITING: &str = "waiting";

const MIB: u64 = 1024 * 1024;
/// About twenty of the largest bodies.
const LEAST_ROOM: u64 = 512 * MIB;
/// Milliseconds beyond which an offset is worth a word, and beyond which it is not borne.
const WARNING: i64 = 2000;
const BAD: i64 = 30_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e4_an_offset_is_what_the_way_does_not_explain() {
        let verdict = |before, store, after| super::verdict(before, store, after).verdict;
        // Read within a second, or within a slow answer's ten.
        assert_eq!(verdict(100, 100_999, 100), CheckVerdict::Good);
        assert_eq!(verdict(100, 100_000, 100), CheckVerdict::Good);
        assert_eq!(verdict(100, 109_000, 110), CheckVerdict::Good);
        // Ahead.
        assert_eq!(verdict(100, 98_000, 100), CheckVerdict::Good);
        assert_eq!(verdict(100, 97_999, 100), CheckVerdict::Warning);
        assert_eq!(verdict(100, 70_000, 100), CheckVerdict::Warning);
        assert_eq!(verdict(100, 69_999, 100), CheckVerdict::Bad);
        // Behind.
        assert_eq!(verdict(100, 103_000, 100), CheckVerdict::Good);
        assert_eq!(verdict(100, 103_001, 100), CheckVerdict::Warning);
        assert_eq!(verdict(100, 131_001, 100), CheckVerdict::Bad);
        assert_eq!(verdict(i64::MIN, i64::MAX, i64::MIN), CheckVerdict::Bad);
    }

    #[test]
    fn f13_a_schema_says_who_may_use_it() {
        assert_eq!(schema(None, 1).verdict, CheckVerdict::Bad);
        assert_eq!(schema(Some((1, 1)), 1).verdict, CheckVerdict::Good);
        assert_eq!(schema(Some((1, 1)), 2).verdict, CheckVerdict::Bad);
        assert_eq!(schema(Some((3, 1)), 2).verdict, CheckVerdict::Good);
        assert_eq!(schema(Some((3, 3)), 2).verdict, CheckVerdict::Bad);
    }

    #[test]
    fn little_room_is_told() {
        assert_eq!(room(Some(LEAST_ROOM)).verdict, CheckVerdict::Good);
        let little = room(Some(LEAST_ROOM - 1));
        assert_eq!(little.verdict, CheckVerdict::Warning);
        assert!(little.detail.starts_with("511 MiB"), "{}", little.detail);
        assert_eq!(room(Some(0)).verdict, CheckVerdict::Warning);
        assert!(room(None).detail.starts_with("not known"));
    }

    #[test]
    fn the_first_bad_finding_is_the_refusal() {
        let refused = refuse(vec![good("a", "x"), warning("b", "y"), bad("c", "z")]);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.ends_with(": z"), "{refused}");
        assert!(refuse(vec![good("a", "x"), warning("b", "y")]).is_ok());
    }
}
