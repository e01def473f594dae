//! Which events an endpoint wants.

use super::event::is_event_type;

/// Event types and prefixes that an endpoint wants. Never empty; at most 100 patterns.
///
/// A pattern is a type (`invoice.paid`), a prefix of whole parts (`invoice.*`: every type that begins
/// with `invoice.`), or `*` for all. Case counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(Vec<String>);

/// A pattern that is none.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFilter {
    /// No pattern, or more than 100.
    #[error("a filter has 1 to 100 patterns")]
    Count,
    /// Not an event type, a prefix and `.*`, or `*`.
    #[error("pattern {0} is neither an event type, nor a prefix and `.*`, nor `*`")]
    Pattern(usize),
}

impl Filter {
    /// Every event.
    pub fn all() -> Self {
        Self(vec!["*".to_owned()])
    }

    /// Events that match one of `patterns`. Positions in errors count from 1.
    ///
    /// # Errors
    ///
    /// [`InvalidFilter`].
    pub fn new<T: Into<String>>(
        patterns: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidFilter> {
        let patterns: Vec<String> = patterns.into_iter().take(101).map(Into::into).collect();
        if patterns.is_empty() || patterns.len() > 100 {
            return Err(InvalidFilter::Count);
        }
        for (position, pattern) in (1usize..).zip(&patterns) {
            let name = pattern.strip_suffix(".*").unwrap_or(pattern);
            if pattern != "*" && !is_event_type(name) {
                return Err(InvalidFilter::Pattern(position));
            }
        }
        Ok(Self(patterns))
    }

    /// The patterns, for stores that match them themselves.
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// Whether an event of this type is wanted.
    pub fn matches(&self, event_type: &str) -> bool {
        self.0.iter().any(|pattern| {
            pattern == "*"
                || pattern == event_type
                || pattern
                    .strip_suffix('*')
                    .is_some_and(|prefix| !prefix.is_empty() && event_type.starts_with(prefix))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_at_a_dot() {
        let filter = Filter::new(["invoice.*", "ping"]).unwrap();
        for (event_type, wanted) in [
            ("invoice.paid", true),
            ("invoice.paid.late", true),
            ("invoice", false),
            ("invoices.paid", false),
            ("ping", true),
            ("ping.pong", false),
            ("Ping", false),
        ] {
            assert_eq!(filter.matches(event_type), wanted, "{event_type}");
        }
        assert!(Filter::all().matches("anything.at.all"));
    }

    #[test]
    fn what_is_no_pattern_is_refused_by_its_position() {
        for pattern in ["", ".*", "a*", "*.a", "a.*.b", "a..*", "**", "a b"] {
            let filter = Filter::new(["a", pattern]);
            assert_eq!(filter, Err(InvalidFilter::Pattern(2)), "{pattern}");
        }
        assert_eq!(Filter::new(Vec::<String>::new()), Err(InvalidFilter::Count));
        assert_eq!(Filter::new(vec!["a"; 101]), Err(InvalidFilter::Count));
        assert!(Filter::new(vec!["a"; 100]).is_ok());
    }
}
