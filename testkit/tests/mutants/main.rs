//! The suite bites: for each rule a ledger that breaks it, and the cases that must not pass on it.
//!
//! A mutant is the ledger on SQLite with one method replaced. The same cases must pass on a ledger
//! with none replaced, so that a case which fails everywhere proves nothing.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use webhook_testkit::ledger::all;

use crate::broken::Mutant;
use crate::store::Sqlite;

/// One test a mutant: each of these cases fails on it.
macro_rules! caught {
    ($($mutant:ident: $($case:literal)+)*) => {
        $(
            #[test]
            #[expect(non_snake_case, reason = "a mutant's name")]
            fn $mutant() {
                $(super::is_caught::<super::$mutant>($case);)+
            }
        )*

        /// Every case that catches a mutant of this file.
        pub(crate) const CATCHERS: &[&str] = &[$($($case),+),*];
    };
}

mod broken;
mod claiming;
mod forgetting;
mod identifying;
mod leasing;
mod operating;
mod store;

/// Breaks no rule.
#[derive(Debug)]
struct Faithful;

impl Mutant for Faithful {}

/// See that the case `name` passes on a faithful ledger and fails on `M`.
fn is_caught<M: Mutant>(name: &str) {
    assert!(
        passes::<Faithful>(name),
        "{name} fails on a faithful ledger"
    );
    assert!(!passes::<M>(name), "{name} passes on a broken ledger");
}

fn passes<M: Mutant>(name: &str) -> bool {
    let cases = all::<Sqlite<M>>();
    let case = cases.iter().find(|case| case.name() == name);
    let case = case.unwrap_or_else(|| panic!("no case {name}"));
    catch_unwind(|| case.run()).is_ok()
}

#[test]
fn every_theme_catches_a_mutant() {
    let theme = |name: &&'static str| name.split_once(':').unwrap().0;
    let all = all::<Sqlite<Faithful>>();
    let themes: BTreeSet<&str> = all.iter().map(|case| theme(&case.name())).collect();
    let catchers = [
        claiming::caught::CATCHERS,
        forgetting::caught::CATCHERS,
        identifying::caught::CATCHERS,
        leasing::caught::CATCHERS,
        operating::caught::CATCHERS,
    ]
    .concat();
    let catching: BTreeSet<&str> = catchers.iter().map(theme).collect();
    assert_eq!(themes, catching);
}
