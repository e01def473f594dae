//! What is wrong with a configuration, and where.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A configuration that is refused: the key, its line if it is from a file, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The key, `signature.header` for example.
    pub key: String,
    /// The line, from 1. Of a key that is missing that of its table, if there is one.
    pub line: Option<usize>,
    /// What is expected.
    pub why: String,
}

impl ConfigError {
    pub(crate) fn new(key: &str, why: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            line: None,
            why: why.into(),
        }
    }

    /// What the TOML reader says, which knows a place in the text.
    pub(crate) fn of_reader(fault: &toml::de::Error, text: &str) -> Self {
        let line = fault.span().map(|span| line_of(text, span.start));
        let written = line.and_then(|line| text.lines().nth(line.saturating_sub(1)));
        let key = written.map(|line| line.split('=').next().unwrap_or(line).trim());
        Self {
            key: key.unwrap_or_default().to_owned(),
            line,
            why: fault.message().trim().to_owned(),
        }
    }

    /// The same with the line at which its key stands in `text`.
    pub(crate) fn located(mut self, text: &str) -> Self {
        self.line = DeTable::parse(text).ok().and_then(|table| {
            let at = find(table.get_ref(), &self.key)?;
            Some(line_of(text, at))
        });
        self
    }
}

/// Where the key stands, or the innermost table around it.
fn find(table: &DeTable<'_>, key: &str) -> Option<usize> {
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    let mut entries = table.iter();
    let (name, value): (&Spanned<_>, &Spanned<DeValue<'_>>) =
        entries.find(|(name, _)| name.get_ref() == first)?;
    let inner = value.get_ref().as_table();
    let inner = inner.and_then(|inner| find(inner, rest));
    Some(inner.unwrap_or(name.span().start))
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.matches('\n').count().saturating_add(1)
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "`{}`: {}", self.key, self.why)
    }
}

impl std::error::Error for ConfigError {}
