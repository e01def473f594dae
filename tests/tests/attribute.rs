//! What `#[webhook]` makes of a function, run by hand: what it takes, when it begins, what it answers.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::sync::Arc;

use serde::Deserialize;
use webhook_actix::{
    BeginError, BoxFuture, ClaimKey, Claimed, Data, DataMap, Delivery, Disposition, EffectKey,
    Event, EventId, EventType, Events, Fault, Handler, HandlerError, InboxId, Invalid, Lend,
    OrElse as _, RawEvent, Reply, Tx, Unsigned, Valid, Validate, webhook,
};
use webhook_core::ledger::{FencingToken, Lease, Leased, StoredEvent};
use webhook_github::GitHub;
use webhook_tests::app::block_on;

#[derive(Deserialize)]
struct Push {
    branch: String,
}

/// A connection that writes down what is done with it, and a transaction that may not open.
#[derive(Debug, Default)]
struct Db {
    done: Vec<String>,
    is_away: bool,
}

impl Lend<Self> for Db {
    fn begin(&mut self) -> BoxFuture<'_, Result<&mut Self, BeginError>> {
        Box::pin(async {
            self.done.push("begin".to_owned());
            if self.is_away {
                return Err(BeginError);
            }
            Ok(self)
        })
    }
}

/// With every kind of argument, the connection among them.
#[webhook(provider = GitHub, event = "push", inline)]
pub async fn on_push(
    Unpacked(branch): Unpacked,
    id: Unsigned<EventId>,
    db: &mut Db,
    event_type: Unsigned<EventType>,
    delivery: Delivery,
    greeting: Data<String>,
    key: EffectKey,
) -> Result<Reply, HandlerError> {
    assert_eq!(key.as_str().len(), 67);
    let attempt = delivery.attempt();
    let id = id.dangerous_trust();
    let event_type = event_type.dangerous_trust();
    db.done.push(format!(
        "{} {branch} {id} {event_type} {attempt}",
        *greeting
    ));
    Ok(Reply::json("{}"))
}

struct Unpacked(String);

impl webhook_actix::FromClaimed<GitHub> for Unpacked {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        let event = <Event<Push> as webhook_actix::FromClaimed<GitHub>>::from_claimed(claimed)?;
        Ok(Self(event.into_inner().branch))
    }
}

#[webhook(provider = GitHub, event = "push", inline)]
async fn when_asked(mut tx: Tx<'_, Db>, event: Event<Push>) -> Result<(), HandlerError> {
    if event.branch == "main" {
        tx.begin().await?.done.push("effect".to_owned());
        tx.begin().await?.done.push("more".to_owned());
    }
    Ok(())
}

#[webhook(provider = GitHub, events("push", "create"), at_least_once)]
async fn elsewhere(event: Event<Push>, raw: RawEvent) -> Result<(), HandlerError> {
    assert_eq!(raw.first(), Some(&b'{'));
    event.branch.parse::<u64>().map(drop).or_dead_letter()
}

#[webhook(provider = GitHub, event = "push")]
async fn on_any<C: Record>(db: &mut C) -> Result<(), std::fmt::Error> {
    db.record().await
}

trait Record: Send {
    fn record(&mut self) -> impl Future<Output = Result<(), std::fmt::Error>> + Send;
}

impl Record for Db {
    async fn record(&mut self) -> Result<(), std::fmt::Error> {
        self.done.push("record".to_owned());
        Err(std::fmt::Error)
    }
}

/// One form for each type, and the raw event for all the others.
#[derive(Events)]
enum Change {
    #[event = "push"]
    Push(Valid<Push>),
    #[events("create", "delete")]
    Branch,
    #[event(other)]
    Other {
        event_type: Unsigned<EventType>,
        json: RawEvent,
    },
}

impl Validate for Push {
    fn validate(&self) -> Result<(), Invalid> {
        if self.branch.is_empty() {
            return Err(Invalid("a push to no branch"));
        }
        Ok(())
    }
}

#[webhook(provider = GitHub)]
async fn on_change(event: Event<Change>, db: &mut Db) -> Result<(), HandlerError> {
    db.done.push(match event.into_inner() {
        Change::Push(push) => format!("push to {}", push.branch),
        Change::Branch => "branch".to_owned(),
        Change::Other { event_type, json } => {
            format!("{} of {} bytes", event_type.dangerous_trust(), json.len())
        }
    });
    Ok(())
}

/// Nothing but what it names.
#[derive(Events)]
enum Closed {
    #[event = "create"]
    Created,
}

/// Mounted by hand, it may be given what it has no form for.
#[webhook(provider = GitHub, at_least_once)]
async fn on_closed(event: Event<Closed>) -> Result<(), HandlerError> {
    let Closed::Created = event.into_inner();
    Ok(())
}

/// Says what shall become of the event.
#[derive(Debug)]
struct Gone;

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("customer 17 is gone")
    }
}

impl std::error::Error for Gone {}

impl Fault for Gone {
    fn disposition(&self) -> Disposition {
        Disposition::Ignore
    }

    fn public(&self) -> Option<String> {
        Some("the customer is gone".to_owned())
    }
}

#[webhook(provider = GitHub, event = "push", at_least_once)]
async fn when_gone() -> Result<(), Gone> {
    Err(Gone)
}

fn run(
    handler: &dyn Handler<GitHub, Db>,
    payload: &str,
    db: &mut Db,
) -> Result<Reply, HandlerError> {
    run_as(handler, "push", payload, db)
}

fn run_as(
    handler: &dyn Handler<GitHub, Db>,
    event_type: &str,
    payload: &str,
    db: &mut Db,
) -> Result<Reply, HandlerError> {
    let mut data = DataMap::default();
    data.insert(Arc::new("hello".to_owned()));
    let event = StoredEvent::new(
        ClaimKey::from_bytes([0; 32]),
        "github".into(),
        EventId::new("72d3162e").unwrap(),
        EventType::new(event_type).unwrap(),
        payload.to_owned().into(),
    );
    let lease = Lease::new(InboxId::from_bytes([0; 16]), FencingToken::new(1));
    let mut leased = Leased::new(lease, event);
    (leased.failures, leased.crashes) = (1, 1);
    let claimed = Claimed::new(leased, Arc::new(GitHub), handler.spec(), data);
    block_on(handler.call(&claimed, db))
}

const MAIN: &str = r#"{"branch":"main"}"#;

#[test]
fn every_argument_is_there_and_the_reply_comes_back() {
    let mut db = Db::default();
    let reply = run(&on_push, MAIN, &mut db).unwrap();
    assert_eq!(reply, Reply::json("{}"));
    assert_eq!(db.done, ["begin", "hello main 72d3162e push 3"]);
}

#[test]
fn nothing_begins_for_a_payload_that_does_not_decode() {
    let mut db = Db::default();
    let error = run(&on_push, r#"{"branch":7}"#, &mut db).unwrap_err();
    assert_eq!(error.disposition(), Disposition::DeadLetter);
    assert!(db.done.is_empty());
}

#[test]
fn nothing_runs_without_its_transaction() {
    for handler in [&on_push as &dyn Handler<GitHub, Db>, &when_asked] {
        let mut db = Db {
            is_away: true,
            ..Db::default()
        };
        let error = run(handler, MAIN, &mut db).unwrap_err();
        assert!(error.error().unwrap().is::<BeginError>());
        assert_eq!(db.done, ["begin"]);
    }
}

#[test]
fn a_transaction_opens_when_it_is_asked_for() {
    let mut db = Db::default();
    run(&when_asked, r#"{"branch":"other"}"#, &mut db).unwrap();
    assert!(db.done.is_empty());
    run(&when_asked, MAIN, &mut db).unwrap();
    assert_eq!(db.done, ["begin", "effect", "begin", "more"]);
}

#[test]
fn without_a_connection_nothing_is_opened() {
    let mut db = Db::default();
    let error = run(&elsewhere, MAIN, &mut db).unwrap_err();
    assert_eq!(error.disposition(), Disposition::DeadLetter);
    assert!(run(&elsewhere, r#"{"branch":"7"}"#, &mut db).is_ok());
    assert!(db.done.is_empty());
}

#[test]
fn a_handler_of_any_database_runs_on_this_one() {
    let mut db = Db::default();
    let error = run(&on_any, MAIN, &mut db).unwrap_err();
    assert_eq!(error.disposition(), Disposition::Retry);
    assert_eq!(db.done, ["begin", "record"]);
}

#[test]
fn an_enum_is_decoded_by_the_type_of_the_event() {
    let mut db = Db::default();
    for event_type in ["push", "create", "delete", "star"] {
        run_as(&on_change, event_type, MAIN, &mut db).unwrap();
    }
    let effects: Vec<_> = db.done.iter().filter(|done| *done != "begin").collect();
    assert_eq!(
        effects,
        ["push to main", "branch", "branch", "star of 17 bytes"]
    );
}

#[test]
fn an_enum_says_which_types_its_handler_takes() {
    let spec = Handler::<GitHub, Db>::spec(&on_change);
    assert_eq!(spec.events, ["push", "create", "delete"]);
    assert!(spec.others);
    let spec = Handler::<GitHub, Db>::spec(&on_closed);
    assert_eq!(spec.events, ["create"]);
    assert!(!spec.others);
}

#[test]
fn what_no_variant_is_for_does_not_decode() {
    let mut db = Db::default();
    assert!(run_as(&on_closed, "create", MAIN, &mut db).is_ok());
    let error = run_as(&on_closed, "push", MAIN, &mut db).unwrap_err();
    assert_eq!(error.disposition(), Disposition::DeadLetter);
    assert_eq!(error.label(), "undecodable");
    let stored = error.to_string();
    assert!(stored.ends_with("Closed: payload does not decode into the handler's type"));
}

#[test]
fn what_decodes_and_is_not_valid_is_a_dead_letter_with_its_own_name() {
    let mut db = Db::default();
    let error = run(&on_change, r#"{"branch":""}"#, &mut db).unwrap_err();
    assert_eq!(error.disposition(), Disposition::DeadLetter);
    assert_eq!(error.label(), "invalid");
    assert!(
        error
            .to_string()
            .ends_with("Push: payload is invalid: a push to no branch")
    );
    let error = run(&on_change, r#"{"branch":7}"#, &mut db).unwrap_err();
    assert_eq!(error.label(), "undecodable");
    assert!(db.done.is_empty());
}

#[test]
fn an_error_may_say_what_shall_become_of_the_event() {
    let error = run(&when_gone, MAIN, &mut Db::default()).unwrap_err();
    assert_eq!(error.disposition(), Disposition::Ignore);
    assert_eq!(error.label(), "ignored");
    assert!(error.error().unwrap().is::<Gone>());
    assert!(error.to_string().ends_with("Gone: the customer is gone"));
    // `?` into another type does not ask it.
    assert_eq!(HandlerError::from(Gone).disposition(), Disposition::Retry);
}

#[test]
fn missing_data_is_told_before_anything_runs() {
    let handler: &dyn Handler<GitHub, Db> = &on_push;
    let missing = handler.require(&DataMap::default()).unwrap_err();
    assert!(missing.type_name.ends_with("String"));
    let mut data = DataMap::default();
    data.insert(Arc::new(String::new()));
    assert!(handler.require(&data).is_ok());
}

#[test]
fn a_unit_test_calls_the_function_itself() {
    let mut db = Db::default();
    let result = block_on(on_any::call(&mut db));
    assert_eq!(result, Err(std::fmt::Error));
    assert_eq!(db.done, ["record"]);
}
