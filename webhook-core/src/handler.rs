//! What runs once per event, and how it says what became of it.

use std::any::Any;
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::claimed::Claimed;
use crate::provider::Provider;

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A handler of a provider's events on a ledger whose connections are `Conn`.
///
/// `#[webhook]` writes the implementation; stateful handlers may write it by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle `{P}` webhooks on this ledger (its connection is `{Conn}`)",
    label = "not a handler here",
    note = "handlers carry `#[webhook(provider = .., event = \"..\")]`; the provider must be the endpoint's and a connection argument the ledger's"
)]
pub trait Handler<P: Provider, Conn: Send>: Send + Sync + 'static {
    /// Name, event types, mode.
    fn spec(&self) -> &'static HandlerSpec;

    /// Check at build time that everything the handler wants is there.
    ///
    /// # Errors
    ///
    /// The first thing that is missing.
    fn require(&self, data: &DataMap) -> Result<(), MissingData>;

    /// Run once. Only the engine can make a [`Claimed`].
    fn call<'a>(
        &'a self,
        claimed: &'a Claimed,
        db: &'a mut dyn Lend<Conn>,
    ) -> BoxFuture<'a, Result<Reply, HandlerError>>;
}

/// The facts of a handler.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "`#[webhook]` writes it as a literal in a static"
)]
pub struct HandlerSpec {
    /// The function's name, for errors, metrics and effect keys.
    pub name: &'static str,
    /// The event types it takes.
    pub events: &'static [&'static str],
    /// Where it runs.
    pub mode: Mode,
    /// Whether and when it is given a transaction.
    pub connection: ConnectionUse,
}

/// Where a handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two modes, no third")]
pub enum Mode {
    /// By a worker, after the delivery was stored and acknowledged.
    Inbox,
    /// Inside the request, in one transaction with claim and completion.
    Inline,
}

/// Whether a handler takes part in the transaction that completes its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "none, at once, or when asked")]
pub enum ConnectionUse {
    /// Its transaction is open before it starts.
    Eager,
    /// It opens the transaction itself, when its slow work is done.
    Lazy,
    /// None: its effect is at least once, and its attribute says so.
    None,
}

/// Opens the transaction of one attempt, once, and lends its connection.
pub trait Lend<Conn>: Send {
    /// The connection; the first call begins the transaction.
    fn begin(&mut self) -> BoxFuture<'_, Result<&mut Conn, BeginError>>;
}

/// The attempt's transaction could not be opened. The attempt is over, whatever the handler returns,
/// and is not counted against the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the transaction of this attempt could not be opened")]
#[expect(
    clippy::exhaustive_structs,
    reason = "the engine knows more, the handler need not"
)]
pub struct BeginError;

/// What a handler answers with. Empty unless it says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    content_type: Option<String>,
    body: Bytes,
}

/// A failed attempt and what shall become of the event.
///
/// Not an [`Error`] itself, so that `?` takes every error. Its stored and logged form is the error's
/// *type*, never its text: texts carry customers' data.
pub struct HandlerError {
    disposition: Disposition,
    class: &'static str,
    public: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
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
    /// Try again after this long, at least.
    RetryAfter(Duration),
}

/// Shared values that handlers take as `Data<T>`.
#[derive(Clone, Default)]
pub struct DataMap(HashMap<std::any::TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>);

/// A handler wants data that was not given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`Data<{type_name}>` is not given: call `.data(..)` on the builder")]
#[non_exhaustive]
pub struct MissingData {
    /// The type's name.
    pub type_name: &'static str,
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

    /// Retry no sooner than `delay`.
    ///
    /// # Errors
    ///
    /// The error, with [`Disposition::RetryAfter`].
    fn or_retry_after(self, delay: Duration) -> Result<T, HandlerError>;
}

impl Reply {
    /// A body of this media type.
    pub fn new(content_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            content_type: Some(content_type.into()),
            body: body.into(),
        }
    }

    /// A JSON text.
    pub fn json(text: impl Into<Bytes>) -> Self {
        Self::new("application/json", text)
    }

    /// Its media type.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// Its body.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.content_type.is_none() && self.body.is_empty()
    }
}

impl From<()> for Reply {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl HandlerError {
    /// A failure told in words that may be stored and shown.
    pub fn public(disposition: Disposition, text: impl Into<String>) -> Self {
        Self {
            disposition,
            class: "public",
            public: Some(text.into()),
            source: None,
        }
    }

    pub(crate) fn undecodable(class: &'static str) -> Self {
        Self {
            disposition: Disposition::DeadLetter,
            class,
            public: Some("payload does not decode into the handler's type".to_owned()),
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

    fn or_retry_after(self, delay: Duration) -> Result<T, HandlerError> {
        self.map_err(|error| error.into_fault().with(Disposition::RetryAfter(delay)))
    }
}

impl DataMap {
    /// Share `value`. `false` if a value of its type was given before; it stays.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: Arc<T>) -> bool {
        let entry = (
            std::any::type_name::<T>(),
            value as Arc<dyn Any + Send + Sync>,
        );
        match self.0.entry(std::any::TypeId::of::<T>()) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(entry);
                true
            }
        }
    }

    /// The value of type `T`.
    ///
    /// # Errors
    ///
    /// [`MissingData`].
    pub fn get<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, MissingData> {
        self.0
            .get(&std::any::TypeId::of::<T>())
            .and_then(|(_, value)| value.clone().downcast().ok())
            .ok_or(MissingData {
                type_name: std::any::type_name::<T>(),
            })
    }
}

impl fmt::Debug for DataMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.values().map(|(name, _)| name))
            .finish()
    }
}
