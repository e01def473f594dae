//! All cases, a table for each group. A new case is a new row.

mod answers;
mod authenticity;
mod freshness;
mod limits;
mod raw_bytes;
mod rotation;
mod single_use;
mod splice;

use crate::case::{Case, Group};

/// All cases, in the order in which they are played.
pub(crate) fn all() -> impl Iterator<Item = &'static Case> {
    let tables = [
        authenticity::CASES,
        freshness::CASES,
        raw_bytes::CASES,
        single_use::CASES,
        limits::CASES,
        answers::CASES,
        rotation::CASES,
    ];
    tables.into_iter().flatten()
}

/// The names of all cases, with their groups.
pub fn cases() -> impl Iterator<Item = (Group, &'static str)> {
    all().map(|case| (case.group, case.name))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use webhook_fixtures::Mutation;

    use super::all;
    use crate::case::{Group, Play};

    #[test]
    fn every_case_has_a_name_of_its_own_and_says_why() {
        let mut names = HashSet::new();
        for case in all() {
            assert!(names.insert(case.name), "{case:?}");
            assert!(
                case.name
                    .chars()
                    .all(|c| c == '-' || c.is_ascii_lowercase() || c.is_ascii_digit()),
                "{case:?}"
            );
            assert!(!case.why.is_empty() && !case.safe.is_empty(), "{case:?}");
            assert!(
                Group::ALL.iter().all(|group| group.name() != case.name),
                "{case:?}"
            );
            let is_mutation = matches!(case.play, Play::Mutation);
            assert_eq!(is_mutation, case.sent.is_empty(), "{case:?}");
            assert!(
                !is_mutation || Mutation::named(case.name).is_some(),
                "{case:?}"
            );
        }
        assert!(
            Group::ALL
                .iter()
                .all(|group| all().any(|case| case.group == *group))
        );
    }
}
