//! Handlers of enums over HTTP: who gets which type, and what becomes of a payload that makes no sense.
#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};

use serde::Deserialize;
use webhook_actix::{
    Clock, Disposition, Endpoint, Event, EventId, EventType, Events, Fault, Invalid, KeyConfig,
    Keys, RawEvent, Repeats, Reply, Unsigned, Valid, Validate, Webhooks, webhook,
};
use webhook_github::GitHub;
use webhook_tests::app::{NOW, SECRET, block_on, custom, eventually, run};
use webhook_tests::on_both;
use webhook_tests::stores::{Effects, Sqlite, Store};
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

on_both!(
    an_enum_takes_the_types_it_names_and_no_other,
    what_nobody_names_goes_to_the_handler_of_all_the_others,
    an_invalid_payload_is_acknowledged_and_a_dead_letter,
    an_error_that_says_ignore_completes_the_event,
);

#[derive(Deserialize)]
struct Note {
    amount: u64,
}

impl Validate for Note {
    fn validate(&self) -> Result<(), Invalid> {
        if self.amount == 7 {
            return Err(Invalid("seven is right out"));
        }
        Ok(())
    }
}

#[derive(Events)]
enum Notes {
    #[event = "note.created"]
    Created(Note),
    #[events("note.read", "note.deleted")]
    Other,
}

#[webhook(provider = Timestamped)]
async fn on_notes<C: Effects>(event: Event<Notes>, db: &mut C) -> Result<(), sqlx::Error> {
    match event.into_inner() {
        Notes::Created(note) => db.record(&format!("created {}", note.amount)).await,
        Notes::Other => db.record("other").await,
    }
}

#[derive(Events)]
enum Anything {
    #[event = "note.deleted"]
    Deleted,
    #[event(other)]
    Other(EventType, RawEvent),
}

#[webhook(provider = Timestamped)]
async fn on_anything<C: Effects>(event: Event<Anything>, db: &mut C) -> Result<(), sqlx::Error> {
    match event.into_inner() {
        Anything::Deleted => db.record("deleted").await,
        Anything::Other(event_type, json) => {
            assert!(json.starts_with(b"{"));
            db.record(&format!("any {event_type}")).await
        }
    }
}

#[webhook(provider = Timestamped, event = "note.created")]
async fn on_created<C: Effects>(db: &mut C) -> Result<(), sqlx::Error> {
    db.record("created").await
}

#[webhook(provider = Timestamped, event = "note.checked")]
async fn on_checked<C: Effects>(event: Event<Valid<Note>>, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(&event.amount.to_string()).await
}

#[webhook(provider = Timestamped, event = "note.checked.inline", inline)]
async fn on_checked_inline<C: Effects>(
    event: Event<Valid<Note>>,
    db: &mut C,
) -> Result<Reply, sqlx::Error> {
    db.record(&event.amount.to_string()).await?;
    Ok(Reply::json("{}"))
}

#[derive(Debug)]
enum NoteError {
    Gone,
    Store(sqlx::Error),
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the note is gone, or the store is")
    }
}

impl Error for NoteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Gone => None,
            Self::Store(error) => Some(error),
        }
    }
}

impl From<sqlx::Error> for NoteError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error)
    }
}

impl Fault for NoteError {
    fn disposition(&self) -> Disposition {
        match self {
            Self::Gone => Disposition::Ignore,
            Self::Store(_) => Disposition::Retry,
        }
    }
}

#[webhook(provider = Timestamped, event = "note.gone")]
async fn on_gone<C: Effects>(id: EventId, db: &mut C) -> Result<(), NoteError> {
    db.record(id.as_str()).await?;
    Err(NoteError::Gone)
}

#[webhook(provider = Timestamped, event = "note.gone.inline", inline)]
async fn on_gone_inline<C: Effects>(id: EventId, db: &mut C) -> Result<(), NoteError> {
    db.record(id.as_str()).await?;
    Err(NoteError::Gone)
}

/// Stands still.
#[derive(Debug)]
struct At(i64);

impl Clock for At {
    fn unix_secs(&self) -> i64 {
        self.0
    }
}

fn keys() -> Keys {
    Keys::new([KeyConfig::new(format!("{SECRET}-custom")).id("k1")])
}

fn endpoint<C: Effects>() -> Endpoint<Timestamped, C> {
    Endpoint::at("/custom", Timestamped, keys())
}

type Mount<S> = fn() -> Endpoint<Timestamped, Conn<S>>;
type Conn<S> = <<S as Store>::Ledger as webhook_actix::ledger::Ledger>::Conn;

/// Serve one endpoint while `test` runs.
fn serve<S: Store>(endpoint: Mount<S>, test: impl FnOnce(&S, SocketAddr)) {
    let store = Arc::new(block_on(S::fresh()));
    let (ready, is_ready) = mpsc::channel();
    let thread = std::thread::spawn({
        let store = store.clone();
        move || {
            block_on(async move {
                let webhooks = Webhooks::builder(store.ledger().await)
                    .endpoint(endpoint())
                    .clock(At(NOW))
                    .build()
                    .unwrap();
                run(webhooks, |address, server| {
                    ready.send((address, server)).unwrap();
                })
                .await;
            });
        }
    });
    let (address, server) = is_ready.recv().unwrap();
    test(&store, address);
    block_on(server.stop(true));
    thread.join().unwrap();
}

fn send(to: SocketAddr, id: &str, event_type: &str) -> u16 {
    let (headers, body) = custom(id, event_type);
    post(to, "/custom", &headers, &body).status
}

fn effects<S: Store>(store: &S, like: &str) -> i64 {
    block_on(store.number(&format!(
        "select count(*) from effect where event_id like '{like}'"
    )))
}

fn in_state<S: Store>(store: &S, state: &str) -> i64 {
    block_on(store.number(&format!(
        "select count(*) from webhook.inbox where state = '{state}'"
    )))
}

fn an_enum_takes_the_types_it_names_and_no_other<S: Store>() {
    serve::<S>(
        || endpoint().on(on_notes),
        |store, address| {
            for (id, event_type) in [
                ("1", "note.created"),
                ("2", "note.read"),
                ("3", "note.deleted"),
                ("4", "note.renamed"),
            ] {
                assert_eq!(send(address, id, event_type), 200);
            }
            eventually("three took effect", || effects(store, "%") == 3);
            assert_eq!(effects(store, "created 7"), 1);
            assert_eq!(effects(store, "other"), 2);
            let all = "select count(*) from webhook.inbox";
            assert_eq!(block_on(store.number(all)), 3, "the fourth is not kept");
        },
    );
}

fn what_nobody_names_goes_to_the_handler_of_all_the_others<S: Store>() {
    serve::<S>(
        || endpoint().on(on_anything).on(on_created),
        |store, address| {
            for (id, event_type) in [
                ("1", "note.created"),
                ("2", "note.deleted"),
                ("3", "invented.later"),
            ] {
                assert_eq!(send(address, id, event_type), 200);
            }
            eventually("all took effect", || effects(store, "%") == 3);
            assert_eq!(effects(store, "created"), 1);
            assert_eq!(effects(store, "deleted"), 1);
            assert_eq!(effects(store, "any invented.later"), 1);
        },
    );
}

/// Authentic, and it decodes: neither a refusal, which would be repeated, nor a run.
fn an_invalid_payload_is_acknowledged_and_a_dead_letter<S: Store>() {
    serve::<S>(
        || endpoint().on(on_checked).on(on_checked_inline),
        |store, address| {
            assert_eq!(send(address, "1", "note.checked"), 200);
            assert_eq!(send(address, "2", "note.checked.inline"), 200);
            eventually("both are dead", || in_state(store, "dead") == 2);
            assert_eq!(effects(store, "%"), 0);
            let said = "select count(*) from webhook.inbox
                where last_error like '%Note: payload is invalid: seven is right out'";
            assert_eq!(block_on(store.number(said)), 2);
        },
    );
}

fn an_error_that_says_ignore_completes_the_event<S: Store>() {
    serve::<S>(
        || endpoint().on(on_gone).on(on_gone_inline),
        |store, address| {
            assert_eq!(send(address, "1", "note.gone"), 200);
            assert_eq!(send(address, "2", "note.gone.inline"), 200);
            eventually("both are completed", || in_state(store, "completed") == 2);
            assert_eq!(effects(store, "%"), 0, "what it did is undone");
            // What later copies are compared with outlives the payload.
            let known = "select count(*) from webhook.inbox where canonical is not null";
            assert_eq!(block_on(store.number(known)), 2);
        },
    );
}

#[derive(Events)]
enum Changes {
    #[event(other)]
    Any(Unsigned<EventType>),
}

#[webhook(provider = GitHub, at_least_once)]
async fn on_changes(event: Event<Changes>) -> Result<(), sqlx::Error> {
    let Changes::Any(event_type) = event.into_inner();
    drop(event_type);
    Ok(())
}

#[derive(Events)]
enum Rest {
    #[event(other)]
    Rest,
}

#[webhook(provider = Timestamped, inline, at_least_once)]
async fn on_rest(event: Event<Rest>) -> Result<(), sqlx::Error> {
    let Rest::Rest = event.into_inner();
    Ok(())
}

/// What stops `build()`, of an endpoint on SQLite.
fn fault<P: webhook_actix::Provider>(endpoint: Endpoint<P, Conn<Sqlite>>) -> Option<String> {
    let store = block_on(Sqlite::fresh());
    let webhooks = Webhooks::builder(block_on(store.ledger())).endpoint(endpoint);
    webhooks.build().err().map(|fault| fault.to_string())
}

#[test]
fn an_endpoint_has_one_handler_for_all_the_others() {
    let two = endpoint().on(on_anything).on(on_rest);
    let fault = fault(two).unwrap();
    let said = "types that no handler names are handled by `on_anything` and by `on_rest`";
    assert!(fault.contains(said), "{fault}");
}

#[test]
fn two_enums_of_one_endpoint_share_no_type() {
    let fault = fault(endpoint().on(on_notes).on(on_anything)).unwrap();
    let said = "`note.deleted` is handled by `on_notes` and by `on_anything`";
    assert!(fault.contains(said), "{fault}");
}

#[test]
fn what_takes_all_the_others_takes_those_that_repeat() {
    let github = || Endpoint::at("/github", GitHub, keys()).on(on_changes);
    let said = "say `.repeats(Repeats::Quarantine)` or `.repeats(Repeats::Run)`";
    assert!(fault(github()).unwrap().contains(said));
    assert_eq!(fault(github().repeats(Repeats::Quarantine)), None);
}

#[test]
fn what_takes_all_the_others_inline_is_not_ordered() {
    let ordered = |endpoint: Endpoint<Timestamped, _>| fault(endpoint.ordered_by(["id"]));
    assert!(
        ordered(endpoint().on(on_rest))
            .unwrap()
            .contains("cannot be `inline`")
    );
    assert_eq!(ordered(endpoint().on(on_anything)), None);
}
