//! Official libraries, in one process for each language that lives as long as the run.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;

use crate::case::Case;
use crate::scheme::Scheme;

/// A library, by the name under which it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Library {
    pub(crate) name: &'static str,
    pub(crate) scheme: Scheme,
    pub(crate) language: Language,
    /// Whether it checks how old a request is.
    pub(crate) has_window: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Node,
    Python,
}

/// All of them.
pub(crate) const LIBRARIES: &[Library] = &[
    Library::new(
        "@octokit/webhooks-methods",
        Scheme::GitHub,
        Language::Node,
        false,
    ),
    Library::new("pynacl", Scheme::Discord, Language::Python, false),
    Library::new("slack_sdk", Scheme::Slack, Language::Python, true),
    Library::new("standardwebhooks", Scheme::Standard, Language::Python, true),
    Library::new("stripe-node", Scheme::Stripe, Language::Node, true),
    Library::new("stripe-python", Scheme::Stripe, Language::Python, true),
    Library::new("svix", Scheme::Standard, Language::Node, true),
    Library::new("twilio", Scheme::Twilio, Language::Python, false),
];

/// A running interpreter.
pub(crate) struct Oracle {
    child: Child,
    ask: Option<BufWriter<ChildStdin>>,
    answers: BufReader<ChildStdout>,
}

/// What a library said.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    pub(crate) ok: bool,
    /// The name of what it threw.
    pub(crate) why: String,
}

impl Library {
    const fn new(name: &'static str, scheme: Scheme, language: Language, has_window: bool) -> Self {
        Self {
            name,
            scheme,
            language,
            has_window,
        }
    }
}

impl Oracle {
    pub(crate) fn start(interpreter: &Path, script: &Path) -> Result<Self, String> {
        let spawned = Command::new(interpreter)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = spawned.map_err(|fault| format!("{}: {fault}", interpreter.display()))?;
        let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("an interpreter without pipes".to_owned());
        };
        Ok(Self {
            child,
            ask: Some(BufWriter::new(ask)),
            answers: BufReader::new(answers),
        })
    }

    /// Ask for every case, in order.
    pub(crate) fn ask(&mut self, library: &Library, cases: &[Case]) -> Result<Vec<Answer>, String> {
        let Self { ask, answers, .. } = self;
        let ask = ask.as_mut().ok_or("it has ended")?;
        thread::scope(|scope| {
            // It answers while it is still being asked: else both could wait for a full pipe.
            let asking = scope.spawn(move || {
                for (nth, case) in cases.iter().enumerate() {
                    let is_last = nth + 1 == cases.len();
                    let line = question(library, case, is_last);
                    writeln!(ask, "{line}").map_err(|fault| fault.to_string())?;
                }
                ask.flush().map_err(|fault| fault.to_string())
            });
            let answered: Result<Vec<Answer>, String> =
                cases.iter().map(|_| next(answers)).collect();
            asking.join().map_err(|_| "asking failed")??;
            answered
        })
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // The end of its input is its end.
        self.ask = None;
        let _ = self.child.wait();
    }
}

fn next(answers: &mut impl BufRead) -> Result<Answer, String> {
    let mut line = String::new();
    let len = answers
        .read_line(&mut line)
        .map_err(|fault| fault.to_string())?;
    if len == 0 {
        return Err("the interpreter ended without an answer".to_owned());
    }
    serde_json::from_str(&line).map_err(|fault| format!("{fault}: {line}"))
}

fn question(library: &Library, case: &Case, is_last: bool) -> serde_json::Value {
    let head = case.head.iter();
    let head: Vec<_> = head
        .map(|(name, value)| (name, BASE64_STANDARD.encode(value)))
        .collect();
    json!({
        "sdk": library.name,
        "now": case.now,
        "secret": case.secret.theirs,
        "headers": head,
        "body": BASE64_STANDARD.encode(&case.body),
        "last": is_last,
    })
}
