//! For programs.

use serde_json::{Value, json};

use super::{Finding, Report};

pub(super) fn json(report: &Report) -> Value {
    let tally = report.tally();
    json!({
        "url": report.url,
        "provider": report.provider,
        "began": report.began,
        "took_ms": millis(report.took),
        "counts_effects": report.counts_effects,
        "stopped": report.stopped,
        "success": report.is_success(),
        "passed": tally.passed,
        "failed": tally.failed,
        "not_judged": tally.not_judged,
        "not_applicable": tally.not_applicable,
        "cases": report.findings.iter().map(case).collect::<Vec<_>>(),
    })
}

fn case(finding: &Finding) -> Value {
    let exchanges = finding.exchanges.iter().map(|exchange| {
        json!({
            "what": exchange.what,
            "status": exchange.status,
            "outcome": exchange.outcome,
            "took_ms": millis(exchange.took),
            "curl": exchange.curl,
        })
    });
    let effects = finding.effects.iter().map(|effects| {
        json!({
            "ids": effects.ids,
            "before": effects.before,
            "after": effects.after,
            "wanted": effects.wanted,
            "fault": effects.fault,
        })
    });
    json!({
        "name": finding.name,
        "group": finding.group.name(),
        "sent": finding.sent,
        "safe": finding.safe,
        "why": finding.why,
        "verdict": finding.verdict.word(),
        "reason": finding.verdict.reason(),
        "took_ms": millis(finding.took),
        "exchanges": exchanges.collect::<Vec<_>>(),
        "effects": effects.collect::<Vec<_>>(),
        "notes": finding.notes,
    })
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
