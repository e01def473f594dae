//! What a store is found to be, for start-up and for readiness probes.

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// What, for example `fsync`.
    pub name: &'static str,
    /// How it stands.
    pub verdict: CheckVerdict,
    /// What was found, and what it should be. Never a secret.
    pub detail: String,
}

/// How a check stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "good, bearable, or not")]
pub enum CheckVerdict {
    /// As promised.
    Good,
    /// Bearable, but somebody should know.
    Warning,
    /// The promises do not hold.
    Bad,
}

impl Check {
    /// A finding.
    pub fn new(name: &'static str, verdict: CheckVerdict, detail: impl Into<String>) -> Self {
        Self {
            name,
            verdict,
            detail: detail.into(),
        }
    }
}
