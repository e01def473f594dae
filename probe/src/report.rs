//! What was found, and how it is told.

mod html;
mod json;
mod junit;
mod text;

use std::time::Duration;

use crate::case::{Group, Verdict};
use crate::stage::{Exchange, Watched};

/// What became of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// What was probed.
    pub url: String,
    /// As whose deliveries.
    pub provider: String,
    /// When it began, RFC 3339.
    pub began: String,
    /// How long it took.
    pub took: Duration,
    /// Whether effects were counted.
    pub counts_effects: bool,
    /// What was found, in the order of the cases.
    pub findings: Vec<Finding>,
    /// Why it ended before its end, if it did: the report is partial.
    pub stopped: Option<String>,
}

/// What became of a case.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finding {
    /// The case's name.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// What was sent.
    pub sent: &'static str,
    /// What a safe receiver does.
    pub safe: &'static str,
    /// Why.
    pub why: &'static str,
    /// What this one did.
    pub verdict: Verdict,
    /// What was sent and answered.
    pub exchanges: Vec<Exchange>,
    /// Effects before and after.
    pub effects: Vec<Watched>,
    /// Further evidence, such as statistics.
    pub notes: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// How many of each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) not_judged: usize,
    pub(crate) not_applicable: usize,
}

impl Report {
    /// Whether it came to its end and no case failed.
    pub fn is_success(&self) -> bool {
        self.stopped.is_none()
            && !self
                .findings
                .iter()
                .any(|finding| finding.verdict.is_failed())
    }

    /// A table for a terminal of any width, without colours.
    pub fn text(&self) -> String {
        text::text(self)
    }

    /// One JSON object.
    pub fn json(&self) -> serde_json::Value {
        json::json(self)
    }

    /// `JUnit`'s XML, as build servers read it.
    pub fn junit(&self) -> String {
        junit::junit(self)
    }

    /// One page of HTML that needs nothing else, runs no script and can be printed.
    pub fn html(&self) -> String {
        html::html(self)
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for finding in &self.findings {
            let count = match finding.verdict {
                Verdict::Passed => &mut tally.passed,
                Verdict::Failed(_) => &mut tally.failed,
                Verdict::NotJudged(_) => &mut tally.not_judged,
                Verdict::NotApplicable(_) => &mut tally.not_applicable,
            };
            *count = count.saturating_add(1);
        }
        tally
    }

    /// What is to be said before everything else.
    pub(crate) fn caveat(&self) -> Option<&'static str> {
        (!self.counts_effects).then_some(
            "Effects were not counted: this is what answers can show, and no answer shows that an event ran once.",
        )
    }

    /// The groups that were tried, with their findings.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Group, &[Finding])> {
        let groups = self.findings.chunk_by(|a, b| a.group == b.group);
        groups.filter_map(|findings| Some((findings.first()?.group, findings)))
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            passed,
            failed,
            not_judged,
            not_applicable,
        } = self;
        write!(
            f,
            "{passed} passed, {failed} failed, {not_judged} not judged, {not_applicable} not applicable"
        )
    }
}

/// `text` without what a terminal or a format would obey: control characters become spaces, but for line ends.
pub(crate) fn plain(text: &str) -> String {
    let shown = |char: char| match char {
        '\n' => '\n',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        char if char.is_control() => '\u{fffd}',
        char => char,
    };
    text.chars().map(shown).collect()
}

/// The same for XML and HTML, in text and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in plain(text).chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A report with each verdict, and with what somebody would like to break out with.
    pub(crate) fn sample() -> Report {
        let evil = "</code><script>document.title='broken out'</script>]]>\u{1b}[2J'\"&";
        let finding = |name, group, verdict| Finding {
            name,
            group,
            sent: "something",
            safe: "4xx, and no effect",
            why: "because",
            verdict,
            exchanges: vec![Exchange {
                what: "the delivery".to_owned(),
                status: Some(200),
                outcome: "200".to_owned(),
                took: Duration::from_millis(3),
                curl: evil.to_owned(),
            }],
            effects: vec![Watched {
                ids: vec![evil.to_owned()],
                before: Some(0),
                wanted: 0,
                after: Some(1),
                fault: None,
            }],
            notes: vec![evil.to_owned()],
            took: Duration::from_millis(12),
        };
        Report {
            url: format!("http://127.0.0.1/?{evil}"),
            provider: "stripe".to_owned(),
            began: "2026-01-01T00:00:00Z".to_owned(),
            took: Duration::from_secs(3),
            counts_effects: false,
            findings: vec![
                finding("a", Group::Authenticity, Verdict::Passed),
                finding("b", Group::Authenticity, Verdict::Failed(evil.to_owned())),
                finding("c", Group::Answers, Verdict::NotJudged(evil.to_owned())),
                finding(
                    "d",
                    Group::Answers,
                    Verdict::NotApplicable("not here".to_owned()),
                ),
            ],
            stopped: Some(evil.to_owned()),
        }
    }

    #[test]
    fn success_is_all_of_it() {
        let mut report = sample();
        assert!(!report.is_success());
        report.stopped = None;
        assert!(!report.is_success());
        report.findings.remove(1);
        assert!(report.is_success());
        report.stopped = Some("interrupted".to_owned());
        assert!(!report.is_success());
    }

    #[test]
    fn nothing_breaks_out() {
        let report = sample();
        for text in [report.text(), report.junit(), report.html()] {
            assert!(!text.contains('\u{1b}'));
        }
        for text in [report.junit(), report.html()] {
            assert!(!text.contains("<script"), "{text}");
            assert!(!text.contains("]]>"), "{text}");
        }
        let json = report.json().to_string();
        assert!(!json.contains('\u{1b}'));
    }
}
