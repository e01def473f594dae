//! The table of hazards, beside the names of the tests.

use std::collections::BTreeSet;
use std::path::Path;

/// Every hazard of the table has the test that the table names, and every test that is named for a hazard
/// has it in the table.
#[test]
fn the_table_of_hazards_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut tests = BTreeSet::new();
    webhook_tests::sources::each(&root, &mut |_, text| {
        for function in text.split("fn ").skip(1) {
            let is_over = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
            let name = function.split(is_over).next().unwrap_or_default();
            if !ids(name).is_empty() {
                tests.insert(name.to_owned());
            }
        }
    });
    let table = std::fs::read_to_string(root.join("docs/hazards.md")).unwrap();
    let mut listed = BTreeSet::new();
    for row in table.lines().filter_map(|line| line.strip_prefix("| ")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let (Some(id), Some(held)) = (cells.first(), cells.last()) else {
            continue;
        };
        let id = id.to_lowercase();
        if ids(&format!("{id}_x")).is_empty() {
            continue;
        }
        let held = held.trim_end_matches(" |").trim_matches('`');
        assert!(tests.contains(held), "{id}: no test is called {held}");
        assert!(ids(held).contains(&id), "{id}: {held} is named for others");
        assert!(listed.insert(id.clone()), "{id} stands there twice");
    }
    assert!(listed.len() > 40, "the table is not read: {listed:?}");
    let named: BTreeSet<String> = tests.iter().flat_map(|test| ids(test)).collect();
    let missing: Vec<_> = named.difference(&listed).collect();
    assert!(missing.is_empty(), "not in docs/hazards.md: {missing:?}");
}

/// `d1` and `d14` of `d1_d14_relabelled_content_never_runs`.
fn ids(test: &str) -> Vec<String> {
    let is_id = |word: &&str| {
        let (letter, number) = word.split_at_checked(1).unwrap_or_default();
        let is_number = matches!(number.parse::<u8>(), Ok(1..=15)) && !number.starts_with('0');
        is_number && ("a"..="g").contains(&letter)
    };
    let words: Vec<&str> = test.split('_').collect();
    let ids = words.iter().copied().take_while(is_id);
    let ids: Vec<String> = ids.map(str::to_owned).collect();
    // A helper may be called `a1`.
    if ids.len() < words.len() {
        ids
    } else {
        Vec::new()
    }
}
