//! Unsigned headers kept with a stored event.

use crate::head::Head;

/// The unsigned headers a provider asked to keep, with their values. Visible ASCII only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptHeaders(Vec<(String, String)>);

impl KeptHeaders {
    pub(crate) fn read(head: &Head<'_>, names: &[&'static str]) -> Self {
        let kept = names.iter().filter_map(|name| {
            let value = head.one(name).ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        });
        Self(kept.collect())
    }

    /// The value of `name`, without regard to case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .0
            .iter()
            .find(|(kept, _)| kept.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// As the ledger stores them: a JSON array of pairs, or nothing.
    pub fn to_json(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        serde_json::to_string(&self.0).ok()
    }

    /// From the ledger's text. Text that is none reads as no headers.
    pub fn from_json(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }
}
