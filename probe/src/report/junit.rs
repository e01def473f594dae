//! For build servers: a suite a group. What is not judged is skipped, what stopped a run is an error.

use std::fmt::Write as _;

use super::{Finding, Report, escaped};
use crate::case::Verdict;

pub(super) fn junit(report: &Report) -> String {
    let mut out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"webhook probe\">\n"
            .to_owned();
    for (group, findings) in report.groups() {
        let count = |is: fn(&Verdict) -> bool| {
            findings
                .iter()
                .filter(|finding| is(&finding.verdict))
                .count()
        };
        let _ = writeln!(
            out,
            "  <testsuite name=\"{group}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\" timestamp=\"{}\">",
            findings.len(),
            count(Verdict::is_failed),
            count(|verdict| matches!(verdict, Verdict::NotJudged(_) | Verdict::NotApplicable(_))),
            escaped(&report.began),
        );
        for finding in findings {
            out.push_str(&case(finding));
        }
        out.push_str("  </testsuite>\n");
    }
    if let Some(why) = &report.stopped {
        let _ = writeln!(
            out,
            "  <testsuite name=\"run\" tests=\"1\" failures=\"0\" skipped=\"0\" errors=\"1\">\n    \
             <testcase classname=\"webhook.probe.run\" name=\"finished\"><error message=\"{}\"/></testcase>\n  </testsuite>",
            escaped(why),
        );
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(finding: &Finding) -> String {
    let open = format!(
        "    <testcase classname=\"webhook.probe.{}\" name=\"{}\" time=\"{:.3}\"",
        finding.group,
        finding.name,
        finding.took.as_secs_f64(),
    );
    let reason = escaped(finding.verdict.reason().unwrap_or_default());
    match finding.verdict {
        Verdict::Passed => format!("{open}/>\n"),
        Verdict::NotJudged(_) | Verdict::NotApplicable(_) => {
            format!(
                "{open}><skipped message=\"{}: {reason}\"/></testcase>\n",
                finding.verdict.word()
            )
        }
        Verdict::Failed(_) => {
            let mut told = format!(
                "sent: {}\nsafe: {}\nwhy: {}\n",
                finding.sent, finding.safe, finding.why
            );
            for exchange in &finding.exchanges {
                let _ = writeln!(
                    told,
                    "{}: {}\n{}",
                    exchange.what, exchange.outcome, exchange.curl
                );
            }
            for effects in &finding.effects {
                let _ = writeln!(told, "effects: {}", effects.words());
            }
            format!(
                "{open}><failure message=\"{reason}\">{}</failure></testcase>\n",
                escaped(&told)
            )
        }
    }
}
