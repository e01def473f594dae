//! For people at a terminal.

use std::fmt::Write as _;

use super::{Finding, Report, plain};
use crate::case::Verdict;

pub(super) fn text(report: &Report) -> String {
    let mut out = String::new();
    for (group, findings) in report.groups() {
        let _ = writeln!(out, "{group}");
        for finding in findings {
            out.push_str(&line(finding));
        }
        out.push('\n');
    }
    let failed = report
        .findings
        .iter()
        .filter(|finding| finding.verdict.is_failed());
    for finding in failed {
        out.push_str(&details(finding));
    }
    if let Some(caveat) = report.caveat() {
        let _ = writeln!(out, "{caveat}\n");
    }
    if let Some(why) = &report.stopped {
        let _ = writeln!(out, "Not finished: {}\n", plain(why));
    }
    let _ = writeln!(
        out,
        "{} in {:.1} s",
        report.tally(),
        report.took.as_secs_f64()
    );
    out
}

fn line(finding: &Finding) -> String {
    let mark = match finding.verdict {
        Verdict::Passed => "pass",
        Verdict::Failed(_) => "FAIL",
        Verdict::NotJudged(_) => "?",
        Verdict::NotApplicable(_) => "-",
    };
    let reason = plain(finding.verdict.reason().unwrap_or_default());
    let line = format!("  {mark:4}  {:30}  {reason}", finding.name);
    format!("{}\n", line.trim_end())
}

fn details(finding: &Finding) -> String {
    let mut out = format!(
        "FAIL {}/{}: {}\n  sent    {}\n  safe    {}\n  why     {}\n",
        finding.group,
        finding.name,
        plain(finding.verdict.reason().unwrap_or_default()),
        finding.sent,
        finding.safe,
        finding.why,
    );
    for exchange in &finding.exchanges {
        let _ = writeln!(
            out,
            "  {}: {} after {} ms",
            exchange.what,
            plain(&exchange.outcome),
            exchange.took.as_millis()
        );
        let _ = writeln!(out, "  again   {}", plain(&shortened(&exchange.curl)));
    }
    for effects in &finding.effects {
        let _ = writeln!(out, "  effects {}", effects.words());
    }
    for note in &finding.notes {
        let _ = writeln!(out, "  note    {}", plain(note));
    }
    out.push('\n');
    out
}

/// The whole line is in the other formats.
fn shortened(curl: &str) -> String {
    if curl.chars().count() <= 2000 {
        return curl.to_owned();
    }
    let start: String = curl.chars().take(2000).collect();
    format!("{start}…")
}
