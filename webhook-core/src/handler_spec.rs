//! The facts of a handler.

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
    /// Whether it takes, besides, every type that no handler of its endpoint names.
    pub others: bool,
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
