//! The rules as `docs/differential.md` lists them.
#![cfg(test)]

use std::fmt::Write as _;

use crate::oracle::LIBRARIES;
use crate::rules::RULES;

const DOCUMENT: &str = include_str!("../../../../docs/differential.md");

fn rendered() -> String {
    let mut text = String::from("| rule | libraries | what |\n| --- | --- | --- |\n");
    for rule in RULES {
        let libraries: Vec<_> = rule.with.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            rule.name,
            libraries.join(", "),
            rule.says
        );
    }
    text
}

#[test]
fn the_document_lists_the_rules() {
    let rendered = rendered();
    assert!(
        DOCUMENT.contains(&rendered),
        "docs/differential.md should have:\n\n{rendered}"
    );
}

#[test]
fn rules_name_libraries_that_are_asked() {
    for rule in RULES {
        assert!(!rule.with.is_empty(), "{}", rule.name);
        for name in rule.with {
            assert!(
                LIBRARIES.iter().any(|library| library.name == *name),
                "{name}"
            );
        }
    }
}
