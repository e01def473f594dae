//! What a single answer says.

use crate::case::Verdict;
use crate::client::{Answer, End};

/// A safe receiver answers 4xx.
pub(crate) fn refused(answer: &Answer) -> Verdict {
    match (&answer.end, answer.status()) {
        (_, Some(429)) => too_many(),
        (_, Some(400..=499)) => Verdict::Passed,
        (_, Some(status @ 200..=299)) => Verdict::Failed(format!("accepted: answered {status}")),
        (_, Some(status @ 500..)) => {
            Verdict::Failed(format!("a fault instead of a refusal: answered {status}"))
        }
        (_, Some(status)) => {
            Verdict::Failed(format!("neither accepted nor refused: answered {status}"))
        }
        (End::NotConnected(_), _) => Verdict::NotJudged(answer.words()),
        _ => Verdict::Failed(format!("no refusal: {}", answer.words())),
    }
}

/// A safe receiver answers 4xx, or does not read on.
pub(crate) fn refused_or_closed(answer: &Answer) -> Verdict {
    match answer.end {
        End::Closed => Verdict::Passed,
        _ => refused(answer),
    }
}

/// A safe receiver answers 2xx.
pub(crate) fn accepted(answer: &Answer) -> Verdict {
    match (&answer.end, answer.status()) {
        (_, Some(200..=299)) => Verdict::Passed,
        (_, Some(429)) => too_many(),
        (_, Some(status)) => Verdict::Failed(format!("refused: answered {status}")),
        (End::NotConnected(_), _) => Verdict::NotJudged(answer.words()),
        _ => Verdict::Failed(answer.words()),
    }
}

fn too_many() -> Verdict {
    Verdict::NotJudged("answered 429: it limits how often it is asked".to_owned())
}
