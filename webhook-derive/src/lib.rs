//! `#[webhook]` makes a webhook handler of an async function.
//!
//! Use it through the crate that runs handlers, `webhook-actix`: what it writes names that crate and
//! nothing else.

mod args;
mod check;
mod expand;
mod fault;
mod handler;
mod implement;
mod span;

/// Make a webhook handler of an async function.
///
/// # Syntax
///
/// ```text
/// #[webhook(provider = TYPE, event = "..")]
/// #[webhook(provider = TYPE, events("..", ".."), inline, at_least_once)]
/// ```
///
/// | option | |
/// |---|---|
/// | `provider` | the provider's type, for example `Stripe`; its value stands on the endpoint |
/// | `event`, `events` | the event types it takes, compared whole; one of the two |
/// | `inline` | run inside the request, in one transaction with the claim; else a worker runs it after the answer |
/// | `at_least_once` | required where no connection is taken, refused where one is |
///
/// The function becomes a unit struct of its name, with its documentation and visibility, that
/// implements `Handler`. Mount it by name, `.on(on_paid)`; call the function itself with
/// `on_paid::call(..)`, in unit tests. Other attributes stay with the function, above or below this one.
/// A unit struct's name is a pattern, so name handlers for their event, `on_paid`: a `let paid = ..` in
/// the same module would be taken for the struct. The name is part of the handler's `EffectKey`s:
/// renaming it while events wait gives their next attempt another key.
///
/// # Arguments
///
/// In any order, under any pattern; each is there only after the delivery was verified and its event
/// claimed.
///
/// | type | |
/// |---|---|
/// | `Event<T>` | the payload, decoded; one that does not decode makes the event a dead letter |
/// | `RawEvent` | the event's JSON as stored |
/// | `EventId`, `EventType` | of a provider that signs them |
/// | `Unsigned<EventId>`, `Unsigned<EventType>` | of any provider |
/// | `Data<T>` | a value given to the builder; missing, it stops the start |
/// | `Delivery` | endpoint, tenant, account, key, times, attempt |
/// | `EffectKey` | an idempotency key for what is called downstream |
/// | `&mut C` | the ledger's connection, in a transaction that completes the event |
/// | `Tx<'_, C>` | the same, opened by `tx.begin()` when slow work is done |
/// | your own | whatever implements `FromClaimed<Provider>` |
///
/// One connection at most. With it, what the handler does there commits together with the event's
/// completion, or not at all. Without it nothing can, so the effect may happen more than once, and
/// `at_least_once` says so. The connection's type is the only one that may be a parameter, which makes
/// one handler fit several databases.
///
/// It returns `Result<T, E>`: `T` is `()` or `Reply`, `E` is `HandlerError` or anything that `?` turns
/// into it: every error, `anyhow::Error`, text.
///
/// # Examples
///
/// ```
/// # use webhook_actix::{Data, EffectKey, Event, EventId, HandlerError, OrElse as _, Reply, Tx, webhook};
/// # use webhook_github::GitHub;
/// # use webhook_slack::Slack;
/// # use webhook_stripe::Stripe;
/// # #[derive(serde::Deserialize)] struct PaymentIntent;
/// # #[derive(serde::Deserialize)] struct Push;
/// # #[derive(serde::Deserialize)] struct Command;
/// # struct PgConnection;
/// # struct CiClient;
/// # impl CiClient { async fn start(&self, _: &Push, _: &EffectKey) -> Result<(), std::fmt::Error> { Ok(()) } }
/// # trait Effects: Send { fn record(&mut self, id: &str) -> impl Future<Output = Result<(), std::fmt::Error>> + Send; }
/// # async fn insert(_: &mut PgConnection, _: &PaymentIntent) -> Result<(), std::fmt::Error> { Ok(()) }
/// # async fn render(_: &PaymentIntent) -> Result<(), std::fmt::Error> { Ok(()) }
/// /// Exactly once: the insert commits with the event, or neither does.
/// #[webhook(provider = Stripe, event = "payment_intent.succeeded")]
/// async fn on_paid(event: Event<PaymentIntent>, db: &mut PgConnection) -> Result<(), HandlerError> {
///     insert(db, &event).await?;
///     Ok(())
/// }
///
/// /// The same, but no transaction is open while the invoice is rendered.
/// #[webhook(provider = Stripe, event = "payment_intent.succeeded")]
/// async fn on_paid_slowly(
///     event: Event<PaymentIntent>,
///     mut tx: Tx<'_, PgConnection>,
/// ) -> Result<(), HandlerError> {
///     render(&event).await?;
///     insert(tx.begin().await?, &event).await?;
///     Ok(())
/// }
///
/// /// Outside the database: at least once, with a key that is the same for every attempt.
/// #[webhook(provider = GitHub, events("push", "create"), at_least_once)]
/// async fn on_push(event: Event<Push>, key: EffectKey, ci: Data<CiClient>) -> Result<(), HandlerError> {
///     ci.start(&event, &key).await.or_dead_letter()
/// }
///
/// /// Inside the request, with a body to answer.
/// #[webhook(provider = Slack, event = "slash_command", inline, at_least_once)]
/// async fn on_command(_command: Event<Command>) -> Result<Reply, HandlerError> {
///     Ok(Reply::json(r#"{"text":"done"}"#))
/// }
///
/// /// On any database whose connection has what it takes.
/// #[webhook(provider = Stripe, event = "invoice.paid")]
/// async fn on_invoice<C: Effects>(id: EventId, db: &mut C) -> Result<(), HandlerError> {
///     db.record(id.as_str()).await?;
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// The compiler underlines what is wrong and says what to write instead; all faults at once, each
/// told once. A handler with a fault can still be mounted and called, so that nothing else fails for it.
///
/// ```compile_fail
/// # use webhook_actix::{Event, HandlerError, webhook};
/// # use webhook_stripe::Stripe;
/// // error: this effect cannot commit together with the event, so it may run more than once: take
/// // the ledger's connection (`db: &mut PgConnection`), or write `at_least_once`
/// #[webhook(provider = Stripe, event = "payment_intent.succeeded")]
/// async fn on_paid(event: Event<String>) -> Result<(), HandlerError> {
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn webhook(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand::webhook(args.into(), &item.into()).into()
}
