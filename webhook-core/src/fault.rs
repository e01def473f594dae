//! How a handler fails, and what shall become of its event then.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::reply::Reply;

/// A failed attempt and what shall become of the event.
///
/// Not an [`Error`] itself, so that `?` takes every error. Its stored and logged form is the error's
/// *type*, never its text: texts carry customers' data.
pub struct HandlerError {
    kind: Kind,
    disposition: Disposition,
    class: &'static str,
    public: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// Who failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The handler.
    Failed,
    /// The payload: it decodes and makes no sense.
    Invalid,
    /// The payload: it does not decode.
    Undecodable,
}

/// What shall become of an event whose attempt failed.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Set it aside now.
    DeadLetter,
    /// Count it as done: there is nothing to do.
    Ignore,
    /// Try again on the endpoint's schedule.
    Retry,
    /// Try again after this long, at least, but no later than the endpoint's longest backoff.
    RetryAfter(Duration),
}

/// An error that says what shall become of the event.
///
/// A handler that returns it as its own error, `Result<(), E>`, need say nothing else. `?` into
/// another error type, such as [`HandlerError`] or `anyhow::Error`, does not ask it: there say
/// [`OrElse::or_dead_letter`] and the like.
///
/// ```
/// use webhook_core::{Disposition, Fault};
///
/// #[derive(Debug, thiserror::Error)]
/// enum BillingError {
///     #[error("no such customer: {0}")]
///     NoCustomer(String),
///     #[error(transparent)]
///     Other(#[from] std::io::Error),
/// }
///
/// impl Fault for BillingError {
///     fn disposition(&self) -> Disposition {
///         match self {
///             Self::NoCustomer(_) => Disposition::DeadLetter,
///             Self::Other(_) => Disposition::Retry,
///         }
///     }
///
///     fn public(&self) -> Option<String> {
///         matches!(self, Self::NoCustomer(_)).then(|| "no such customer".to_owned())
///     }
/// }
/// ```
pub trait Fault: Error {
    /// What shall become of the event.
    fn disposition(&self) -> Disposition;

    /// Words that may be stored and shown beside the error's type. Default: none.
    fn public(&self) -> Option<String> {
        None
    }
}

/// What a handler function may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the answer of a webhook handler",
    label = "does not say whether the event is done",
    note = "return `Result<(), E>`, or `Result<Reply, E>` to answer with a body"
)]
pub trait HandlerResult {
    /// As the engine sees it.
    ///
    /// # Errors
    ///
    /// The handler's.
    fn into_result(self) -> Result<Reply, HandlerError>;
}

/// What a handler may succeed with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a webhook handler succeeds with",
    label = "not convertible into `Reply`",
    note = "return `Result<(), E>`, or `Result<Reply, E>` to answer with a body"
)]
pub trait IntoReply {
    /// As the engine sees it.
    fn into_reply(self) -> Reply;
}

/// An error a handler may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a webhook handler",
    label = "not convertible into `HandlerError`",
    note = "implement `std::error::Error` for it (and make it `Send + Sync + 'static`), or return `HandlerError`"
)]
pub trait IntoFault {
    /// As the engine sees it.
    fn into_fault(self) -> HandlerError;
}

/// Turn a result's error into one with a disposition.
pub trait OrElse<T> {
    /// Set the event aside instead of retrying.
    ///
    /// # Errors
    ///
    /// The error, with [`Disposition::DeadLetter`].
    fn or_dead_letter(self) -> Result<T, HandlerError>;

    /// Count the event as done: the effect, if any, is undone, and there is nothing more to do.
    ///
    /// # Errors
    ///
    /// The error, with [`Disposition::Ignore`].
    fn or_ignore(self) -> Result<T, HandlerError>;

    /// Retry no sooner than `delay`.
    ///
    /// # Errors
    ///
    /// The error, with [`Disposition::RetryAfter`].
    fn or_retry_after(self, delay: Duration) -> Result<T, HandlerError>;
}

impl HandlerError {
    /// A failure told in words that may be stored and shown.
    pub fn public(disposition: Disposition, text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Failed,
            disposition,
            class: "public",
            public: Some(text.into()),
            source: None,
        }
    }

    /// The payload is no `T`: a dead letter.
    pub fn undecodable<T>() -> Self {
        Self {
            kind: Kind::Undecodable,
            disposition: Disposition::DeadLetter,
            class: std::any::type_name::<T>(),
            public: Some("payload does not decode into the handler's type".to_owned()),
            source: None,
        }
    }

    /// The payload is of this class and makes no sense: a dead letter.
    pub(crate) fn invalid(class: &'static str, why: &'static str) -> Self {
        Self {
            kind: Kind::Invalid,
            disposition: Disposition::DeadLetter,
            class,
            public: Some(format!("payload is invalid: {why}")),
            source: None,
        }
    }

    /// The same failure with another disposition.
    #[must_use]
    pub fn with(mut self, disposition: Disposition) -> Self {
        self.disposition = disposition;
        self
    }

    /// What shall become of the event.
    pub fn disposition(&self) -> Disposition {
        self.disposition
    }

    /// Its name in metrics: `failed`, or `ignored` where the handler wants that; before it began,
    /// `undecodable` or `invalid`.
    pub fn label(&self) -> &'static str {
        match self.kind {
            Kind::Failed if self.disposition == Disposition::Ignore => "ignored",
            Kind::Failed => "failed",
            Kind::Invalid => "invalid",
            Kind::Undecodable => "undecodable",
        }
    }

    /// The error itself, for the application's own reporting.
    pub fn error(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.source.as_deref()
    }
}

/// The storable form: class and public words only.
impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.public {
            Some(text) => write!(f, "{}: {text}", self.class),
            None => f.write_str(self.class),
        }
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerError")
            .field("disposition", &self.disposition)
            .field("class", &self.class)
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self {
            kind: Kind::Failed,
            disposition: Disposition::Retry,
            class: std::any::type_name::<E>(),
            public: None,
            source: Some(error.into()),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Into<Reply>> IntoReply for T {
    fn into_reply(self) -> Reply {
        self.into()
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<HandlerError>> IntoFault for E {
    fn into_fault(self) -> HandlerError {
        self.into()
    }
}

impl<T: IntoReply, E: IntoFault> HandlerResult for Result<T, E> {
    fn into_result(self) -> Result<Reply, HandlerError> {
        self.map(IntoReply::into_reply)
            .map_err(IntoFault::into_fault)
    }
}

impl<T, E: IntoFault> OrElse<T> for Result<T, E> {
    fn or_dead_letter(self) -> Result<T, HandlerError> {
        self.map_err(|error| error.into_fault().with(Disposition::DeadLetter))
    }

    fn or_ignore(self) -> Result<T, HandlerError> {
        self.map_err(|error| error.into_fault().with(Disposition::Ignore))
    }

    fn or_retry_after(self, delay: Duration) -> Result<T, HandlerError> {
        self.map_err(|error| error.into_fault().with(Disposition::RetryAfter(delay)))
    }
}

/// What an answer's error says of itself, if it is a [`Fault`]. For `#[webhook]`.
#[doc(hidden)]
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "`#[webhook]` makes it")]
pub struct Answered<'a, R>(pub &'a R);

/// The word of an error that is a [`Fault`].
#[doc(hidden)]
#[derive(Debug)]
pub struct Said {
    disposition: Disposition,
    public: Option<String>,
}

/// Every other answer says nothing: an inherent method goes before a trait's, where its bounds hold.
#[doc(hidden)]
pub trait SaysNothing {
    /// Nothing.
    fn said(&self) -> Option<Said> {
        None
    }
}

impl<T, E: Fault> Answered<'_, Result<T, E>> {
    /// What its error says.
    pub fn said(&self) -> Option<Said> {
        let error = self.0.as_ref().err()?;
        Some(Said {
            disposition: error.disposition(),
            public: error.public(),
        })
    }
}

impl<R> SaysNothing for Answered<'_, R> {}

impl Said {
    /// The failure, as its error wants it.
    pub fn of(said: Option<Self>, failure: HandlerError) -> HandlerError {
        match said {
            Some(Self {
                disposition,
                public,
            }) => HandlerError {
                disposition,
                public,
                ..failure
            },
            None => failure,
        }
    }
}
