//! `#[webhook]` makes a webhook handler of an async function, `#[derive(Events)]` a payload of an enum.
//!
//! Use them through the crate that runs handlers, `webhook-actix` or `webhook-axum`: what they write names that
//! crate and nothing else.

mod adapter;
mod args;
mod check;
mod events;
mod expand;
mod fault;
mod handler;
mod implement;
mod near;
mod span;
mod types;

use adapter::Adapter;

/// Make a webhook handler of an async function.
///
/// # Syntax
///
/// ```text
/// #[webhook(provider = TYPE)]
/// #[webhook(provider = TYPE, event = "..")]
/// #[webhook(provider = TYPE, events("..", ".."), inline, at_least_once)]
/// ```
///
/// | option | |
/// |---|---|
/// | `provider` | the provider's type, for example `Stripe`; its value stands on the endpoint |
/// | `event`, `events` | the event types it takes, compared whole; one of the two, or neither where an `Event<T>` is taken whose `T` names them: see [`Events`](macro@Events) |
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
/// | `Event<T>` | the payload, decoded: `T` is `Deserialize` or derives `Events`; one that does not decode makes the event a dead letter |
/// | `Event<Valid<T>>` | the same, and found valid by its own rules, `Validate`; else a dead letter, too |
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
/// It returns `Result<T, E>`: `T` is `()` or, in an `inline` handler, `Reply`; a duplicate is answered with
/// the same reply. `E` is `HandlerError` or anything that `?` turns into it: every error,
/// `anyhow::Error`, text. A failed attempt is tried again on the endpoint's schedule, unless the error
/// says `or_dead_letter`, `or_ignore` or `or_retry_after`, or is of a type that implements `Fault` and
/// says so by itself.
///
/// # Examples
///
/// ```
/// # use webhook_actix::{Data, EffectKey, Event, EventId, Events, HandlerError, OrElse as _, Reply, Tx, webhook};
/// # use webhook_github::GitHub;
/// # use webhook_slack::Slack;
/// # use webhook_stripe::Stripe;
/// # #[derive(serde::Deserialize)] struct PaymentIntent;
/// # #[derive(serde::Deserialize)] struct Push;
/// # #[derive(serde::Deserialize)] struct Command;
/// # #[derive(serde::Deserialize)] struct Invoice;
/// # #[derive(serde::Deserialize)] struct Charge;
/// # async fn credit(_: &mut PgConnection, _: Invoice) -> Result<(), std::fmt::Error> { Ok(()) }
/// # async fn debit(_: &mut PgConnection, _: Charge) -> Result<(), std::fmt::Error> { Ok(()) }
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
/// /// For several types, each with its own payload.
/// #[derive(Events)]
/// enum Billing {
///     #[event = "invoice.paid"]
///     Paid(Invoice),
///     #[event = "charge.refunded"]
///     Refunded(Charge),
/// }
///
/// #[webhook(provider = Stripe)]
/// async fn on_billing(event: Event<Billing>, db: &mut PgConnection) -> Result<(), HandlerError> {
///     match event.into_inner() {
///         Billing::Paid(invoice) => credit(db, invoice).await?,
///         Billing::Refunded(charge) => debit(db, charge).await?,
///     }
///     Ok(())
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
    let code = expand::webhook(args.into(), &item.into());
    Adapter::Actix.named_in(code).into()
}

/// [`macro@webhook`] as `webhook-axum` re-exports it.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn webhook_on_axum(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let code = expand::webhook(args.into(), &item.into());
    Adapter::Axum.named_in(code).into()
}

/// Make a payload of an enum: a variant for each event type.
///
/// # Syntax
///
/// ```text
/// #[derive(Events)]
/// enum NAME {
///     #[event = ".."]
///     VARIANT(PAYLOAD),
///     #[events("..", "..")]
///     VARIANT,
///     #[event(other)]
///     VARIANT(ARGUMENT, ..),
/// }
/// ```
///
/// | variant | |
/// |---|---|
/// | `#[event = ".."]`, `#[events("..", "..")]` | one or several event types, compared whole. It carries their payload, which is `Deserialize` or `Valid`, or nothing |
/// | `#[event(other)]` | every type that no variant names; optional, one at most. It carries what a handler could take: `RawEvent`, `EventType` of a provider that signs it, `Unsigned<EventType>` of any, your own |
///
/// A handler that takes `Event<NAME>` needs no `event` in its attribute: it takes the types that the
/// enum names. If it names some itself, the enum must have a form for each of them.
///
/// With `#[event(other)]` it also takes every type that no handler of its endpoint names: a handler that
/// names a type goes before one for all the others, and an endpoint has one of these at most. It then
/// takes types that the provider will invent.
///
/// No type stands twice in an enum, and none has two handlers at an endpoint: the first is refused by
/// the compiler, the second by `build()`. An enum that derives `Events` does not derive `Deserialize`.
///
/// # Examples
///
/// ```
/// # use webhook_actix::{Event, EventType, Events, HandlerError, RawEvent, webhook};
/// # use webhook_stripe::Stripe;
/// # struct PgConnection;
/// # async fn credit(_: &mut PgConnection, _: &Invoice) -> Result<(), std::fmt::Error> { Ok(()) }
/// # async fn note(_: &mut PgConnection, _: &str, _: &[u8]) -> Result<(), std::fmt::Error> { Ok(()) }
/// #[derive(serde::Deserialize)]
/// struct Invoice {
///     amount_paid: i64,
/// }
///
/// #[derive(Events)]
/// enum Billing {
///     #[event = "invoice.paid"]
///     Paid(Invoice),
///     #[events("invoice.voided", "invoice.deleted")]
///     Gone,
///     #[event(other)]
///     Other(EventType, RawEvent),
/// }
///
/// #[webhook(provider = Stripe)]
/// async fn on_billing(event: Event<Billing>, db: &mut PgConnection) -> Result<(), HandlerError> {
///     match event.into_inner() {
///         Billing::Paid(invoice) => credit(db, &invoice).await?,
///         Billing::Gone => {}
///         Billing::Other(event_type, json) => note(db, event_type.as_str(), &json).await?,
///     }
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// The compiler underlines what is wrong and says what to write instead.
///
/// ```compile_fail
/// # use webhook_actix::Events;
/// # #[derive(serde::Deserialize)] struct Invoice;
/// // error: `invoice.paid` is listed twice: remove one
/// #[derive(Events)]
/// enum Billing {
///     #[event = "invoice.paid"]
///     Paid(Invoice),
///     #[events("invoice.voided", "invoice.paid")]
///     Gone,
/// }
/// ```
#[proc_macro_derive(Events, attributes(event, events))]
pub fn events(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    Adapter::Actix.named_in(events::events(item.into())).into()
}

/// [`macro@Events`] as `webhook-axum` re-exports it.
#[doc(hidden)]
#[proc_macro_derive(EventsOnAxum, attributes(event, events))]
pub fn events_on_axum(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    Adapter::Axum.named_in(events::events(item.into())).into()
}
