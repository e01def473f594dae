//! One thing that is tried, as a row of a table.

use std::fmt;
use std::pin::Pin;

use webhook_fixtures::Delivery;

use crate::message::Message;
use crate::stage::Stage;

/// What a case is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Group {
    /// Who sent it, and that nobody changed it.
    Authenticity,
    /// When it was signed.
    Freshness,
    /// The body's bytes, other than the JSON in them.
    RawBytes,
    /// One event, one effect.
    SingleUse,
    /// What a stranger can make it read, and for how long.
    Limits,
    /// What answers tell, and whom they help.
    Answers,
    /// Keys that come, and keys that went.
    Rotation,
}

/// What became of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The receiver did what a safe one does.
    Passed,
    /// It did not, and how.
    Failed(String),
    /// Nobody can say, and why: effects are not counted, or there is no more than an indication.
    NotJudged(String),
    /// There is no such thing to try here, and why.
    NotApplicable(String),
}

/// A case: data, but for how its messages are made.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// What is sent, in a sentence without a full stop.
    pub(crate) sent: &'static str,
    /// What a safe receiver does.
    pub(crate) safe: &'static str,
    /// Why.
    pub(crate) why: &'static str,
    /// Whether answers alone say nothing.
    pub(crate) needs_effects: bool,
    pub(crate) play: Play,
}

/// How a case is played.
#[derive(Clone, Copy)]
pub(crate) enum Play {
    /// One message by `webhook_fixtures`' mutation of the case's name; it must be refused.
    Mutation,
    /// One message that must be refused, and must have no effect. `None`: not with this provider.
    Refused(fn(&Stage<'_>) -> Option<Forged>),
    /// One message that must be accepted, and must have one effect.
    Accepted(fn(&Stage<'_>) -> Option<Forged>),
    /// Several.
    Scene(for<'s> fn(&'s Stage<'s>) -> Playing<'s>),
}

/// A scene under way.
pub(crate) type Playing<'s> = Pin<Box<dyn Future<Output = Verdict> + Send + 's>>;

/// A message and the id that its effect would be counted under.
pub(crate) struct Forged {
    pub(crate) id: String,
    pub(crate) message: Message,
}

const REFUSED: &str = "4xx, and no effect";
const ACCEPTED: &str = "2xx, and one effect";

impl Case {
    /// A mutation of `webhook_fixtures`, which must be refused.
    pub(crate) const fn mutation(group: Group, name: &'static str, why: &'static str) -> Self {
        Self::new(group, name, "", REFUSED, why, Play::Mutation)
    }

    /// One message that must be refused.
    pub(crate) const fn refused(
        group: Group,
        name: &'static str,
        sent: &'static str,
        why: &'static str,
        make: fn(&Stage<'_>) -> Option<Forged>,
    ) -> Self {
        Self::new(group, name, sent, REFUSED, why, Play::Refused(make))
    }

    /// One message that must be accepted.
    pub(crate) const fn accepted(
        group: Group,
        name: &'static str,
        sent: &'static str,
        why: &'static str,
        make: fn(&Stage<'_>) -> Option<Forged>,
    ) -> Self {
        Self::new(group, name, sent, ACCEPTED, why, Play::Accepted(make))
    }

    /// Several messages.
    pub(crate) const fn new(
        group: Group,
        name: &'static str,
        sent: &'static str,
        safe: &'static str,
        why: &'static str,
        play: Play,
    ) -> Self {
        Self {
            name,
            group,
            sent,
            safe,
            why,
            needs_effects: false,
            play,
        }
    }

    /// Only effects tell.
    pub(crate) const fn by_effects(mut self) -> Self {
        self.needs_effects = true;
        self
    }
}

impl Forged {
    pub(crate) fn new(id: impl Into<String>, message: impl Into<Message>) -> Self {
        Self {
            id: id.into(),
            message: message.into(),
        }
    }

    /// The same for a changed delivery, if there is one.
    pub(crate) fn of(id: impl Into<String>, delivery: Option<Delivery>) -> Option<Self> {
        delivery.map(|delivery| Self::new(id, delivery))
    }
}

impl Group {
    /// All groups, in the order in which they are tried.
    pub const ALL: [Self; 7] = [
        Self::Authenticity,
        Self::Freshness,
        Self::RawBytes,
        Self::SingleUse,
        Self::Limits,
        Self::Answers,
        Self::Rotation,
    ];

    /// Its name, in lower case with hyphens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Authenticity => "authenticity",
            Self::Freshness => "freshness",
            Self::RawBytes => "raw-bytes",
            Self::SingleUse => "single-use",
            Self::Limits => "limits",
            Self::Answers => "answers",
            Self::Rotation => "rotation",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Verdict {
    /// Its word: `passed`, `failed`, `not judged`, `not applicable`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::NotJudged(_) => "not judged",
            Self::NotApplicable(_) => "not applicable",
        }
    }

    /// Why, where there is more to say.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed(why) | Self::NotJudged(why) | Self::NotApplicable(why) => Some(why),
        }
    }

    /// Whether it is [`Verdict::Failed`].
    pub fn is_failed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// The first of two that is no pass.
    pub(crate) fn and(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Failed(_), _) | (_, Self::Passed) => self,
            (_, Self::Failed(_)) | (Self::Passed, _) => other,
            _ => self,
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Case({}/{})", self.group, self.name)
    }
}
