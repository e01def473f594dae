//! For auditors: one page, no script, nothing loaded, and a policy that says so.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use super::{Finding, Report, escaped};
use crate::case::Verdict;

const STYLE: &str = include_str!("report.css");

pub(super) fn html(report: &Report) -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>webhook probe: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        title = escaped(&report.provider),
    );
    summary(&mut out, report);
    for (group, findings) in report.groups() {
        let _ = writeln!(out, "<section>\n<h2>{group}</h2>");
        for finding in findings {
            case(&mut out, finding);
        }
        out.push_str("</section>\n");
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn summary(out: &mut String, report: &Report) {
    let (class, word) = if report.is_success() && report.tally().not_judged > 0 {
        ("passed", "Nothing failed")
    } else if report.is_success() {
        ("passed", "Passed")
    } else if report
        .findings
        .iter()
        .any(|finding| finding.verdict.is_failed())
    {
        ("failed", "Failed")
    } else {
        ("not-judged", "Not finished")
    };
    let _ = writeln!(
        out,
        "<header>\n<h1>Webhook probe <span class=\"verdict {class}\">{word}</span></h1>\n<dl>\n\
         <dt>endpoint</dt><dd><code>{}</code></dd>\n<dt>provider</dt><dd>{}</dd>\n<dt>began</dt><dd>{}</dd>\n\
         <dt>took</dt><dd>{:.1} s</dd>\n<dt>cases</dt><dd>{}</dd>\n<dt>effects</dt><dd>{}</dd>\n\
         <dt>version</dt><dd>webhook-probe {}</dd>\n</dl>",
        escaped(&report.url),
        escaped(&report.provider),
        escaped(&report.began),
        report.took.as_secs_f64(),
        report.tally(),
        if report.counts_effects {
            "counted"
        } else {
            "not counted"
        },
        env!("CARGO_PKG_VERSION"),
    );
    if let Some(caveat) = report.caveat() {
        let _ = writeln!(out, "<p class=\"note\">{caveat}</p>");
    }
    if let Some(why) = &report.stopped {
        let _ = writeln!(out, "<p class=\"note\">Not finished: {}</p>", escaped(why));
    }
    out.push_str("<p>A valid signature may be in this report, of events that were made up for it. Nobody's secret is.</p>\n</header>\n");
}

fn case(out: &mut String, finding: &Finding) {
    let class = finding.verdict.word().replace(' ', "-");
    let open = if finding.verdict.is_failed() {
        " open"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<details class=\"{class}\"{open}>\n<summary><span class=\"verdict {class}\">{}</span> <b>{}</b> {}</summary>\n<dl>",
        finding.verdict.word(),
        finding.name,
        escaped(finding.sent),
    );
    let mut row = |name: &str, value: String| {
        let _ = writeln!(out, "<dt>{name}</dt><dd>{value}</dd>");
    };
    if let Some(reason) = finding.verdict.reason() {
        row("found", escaped(reason));
    }
    row("safe", escaped(finding.safe));
    row("why", escaped(finding.why));
    for exchange in &finding.exchanges {
        row(
            &escaped(&exchange.what),
            format!(
                "{} after {} ms",
                escaped(&exchange.outcome),
                exchange.took.as_millis()
            ),
        );
        if !matches!(finding.verdict, Verdict::NotApplicable(_)) {
            row("again", format!("<pre>{}</pre>", escaped(&exchange.curl)));
        }
    }
    for effects in &finding.effects {
        row("effects", escaped(&effects.words()));
    }
    for note in &finding.notes {
        row("note", escaped(note));
    }
    out.push_str("</dl>\n</details>\n");
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use crate::report::tests::sample;

    /// A page in a real browser.
    struct Seen {
        dom: String,
        console: String,
    }

    /// `CHROMIUM`, or what a package manager installs.
    fn browser() -> PathBuf {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let names = [
            "chromium",
            "chromium-browser",
            "google-chrome",
            "google-chrome-stable",
        ];
        let mut installed =
            std::env::split_paths(&paths).flat_map(|folder| names.map(|name| folder.join(name)));
        std::env::var_os("CHROMIUM")
            .map(PathBuf::from)
            .or_else(|| installed.find(|path| path.is_file()))
            .expect("Chromium is needed: `cargo xtask test` installs it, or CHROMIUM names it")
    }

    fn seen(name: &str, page: &str) -> Seen {
        let folder =
            std::env::temp_dir().join(format!("webhook-probe-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("report.html");
        std::fs::write(&file, page).unwrap();
        let output = Command::new(browser())
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--enable-logging=stderr",
            ])
            .arg(format!(
                "--user-data-dir={}",
                folder.join("profile").display()
            ))
            .args(["--virtual-time-budget=2000", "--dump-dom"])
            .arg(format!("file://{}", file.display()))
            .output()
            .unwrap();
        let _ = std::fs::remove_dir_all(&folder);
        assert!(output.status.success());
        Seen {
            dom: String::from_utf8_lossy(&output.stdout).into_owned(),
            console: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[test]
    fn a_browser_shows_it_and_runs_nothing() {
        let page = sample().html();
        let seen = seen("whole", &page);
        assert!(
            seen.dom.contains("<title>webhook probe: stripe</title>"),
            "{}",
            seen.dom
        );
        assert_eq!(seen.dom.matches("<details").count(), 4);
        assert_eq!(
            seen.dom.matches("<details class=\"failed\" open").count(),
            1
        );
        assert!(!seen.dom.contains("<script"));
        assert!(
            !seen.console.contains("Content Security Policy"),
            "{}",
            seen.console
        );
    }

    #[test]
    fn a_browser_minds_the_policy() {
        // One byte more than its hash is of, and an image that would call home.
        let page = sample().html();
        let page = page.replace(
            "</style>",
            " </style><img src=\"http://127.0.0.1:9/beacon\">",
        );
        let seen = seen("changed", &page);
        assert!(
            seen.console.matches("Content Security Policy").count() >= 2,
            "{}",
            seen.console
        );
    }
}
