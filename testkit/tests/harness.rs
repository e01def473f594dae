//! The harness sees what happens, and what should not happen it sees as well.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::test::TestRequest;
use actix_web::{App, HttpResponse, HttpServer, web};
use sqlx::SqliteConnection;
use webhook_actix::ledger::Ledger;
use webhook_actix::{
    Data, Endpoint, Event, EventId, HandlerError, State, Tx, Unlisted, Unsigned, webhook,
};
use webhook_github::GitHub;
use webhook_sqlx::SqliteLedger;
use webhook_stripe::Stripe;
use webhook_stripe::payloads::PaymentIntent;
use webhook_testkit::fixtures::{self, Expect, Setup, Specimen, github, mutations, stripe};
use webhook_testkit::{Act, Answer, Harness, Http, Meeting, Point, keys};

const CREDIT: &str = "create table credit (event text, cents integer)";
/// Longer than the default lease.
const A_LEASE: Duration = Duration::from_secs(31);

#[webhook(provider = Stripe, event = "payment_intent.succeeded")]
async fn on_paid(
    payment: Event<PaymentIntent>,
    id: EventId,
    db: &mut SqliteConnection,
) -> Result<(), sqlx::Error> {
    credit(db, id.as_str(), payment.amount.minor_units()).await
}

/// The same through a connection of its own: what the crash points are there to find.
#[webhook(provider = Stripe, event = "payment_intent.succeeded")]
async fn on_paid_beside(
    payment: Event<PaymentIntent>,
    id: EventId,
    own: Data<Mutex<Option<sqlx::SqlitePool>>>,
    _tx: Tx<'_, SqliteConnection>,
) -> Result<(), HandlerError> {
    let pool = own.lock().unwrap().clone().unwrap();
    let mut conn = pool.acquire().await?;
    Ok(credit(&mut conn, id.as_str(), payment.amount.minor_units()).await?)
}

#[webhook(provider = GitHub, event = "push")]
async fn on_push(id: Unsigned<EventId>, db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    credit(db, id.dangerous_trust().as_str(), 1).await
}

async fn credit(db: &mut SqliteConnection, event: &str, cents: i64) -> Result<(), sqlx::Error> {
    sqlx::query("insert into credit (event, cents) values (?1, ?2)")
        .bind(event)
        .bind(cents)
        .execute(db)
        .await
        .map(drop)
}

async fn shop() -> Harness<SqliteLedger> {
    Harness::sqlite(CREDIT, |webhooks| {
        let stripe = Endpoint::at("/webhooks/stripe", Stripe::live(), keys("stripe"));
        let stripe = stripe.unlisted(Unlisted::Store);
        let github = Endpoint::at("/webhooks/github", GitHub, keys("github"));
        webhooks
            .endpoint(stripe.on(on_paid))
            .endpoint(github.on(on_push))
    })
    .await
}

async fn cents(app: &Harness<SqliteLedger>) -> i64 {
    app.number("select sum(cents) from credit").await
}

#[tokio::test]
async fn one_credit_for_two_concurrent_deliveries() {
    let app = shop().await;
    let paid = app.signed(stripe::payment_intent_succeeded().amount(2500));
    assert!(app.race(2, &paid).await.iter().all(Answer::is_success));
    app.drained().await;
    assert_eq!(cents(&app).await, 2500);
    // Both were about to be claimed: the race was one.
    assert_eq!(app.stage().reached(Point::BeforeClaim), 2);
}

/// As the application has it, on the builder of its adapter's.
fn mount<L>(builder: webhook_actix::Builder<L>) -> webhook_actix::Builder<L>
where
    L: Ledger<Conn = SqliteConnection>,
{
    let stripe = Endpoint::at("/webhooks/stripe", Stripe::live(), keys("stripe"));
    builder.endpoint(stripe.on(on_paid))
}

#[actix_web::test]
async fn an_application_on_actix_is_driven_by_its_own_routes() {
    let app = Harness::sqlite(CREDIT, |webhooks| mount(webhooks.into()).into()).await;
    let webhooks = webhook_actix::Webhooks::from(app.webhooks().clone());
    let service = actix_web::test::init_service(App::new().service(webhooks)).await;
    let paid = app.signed(stripe::payment_intent_succeeded().amount(700));
    for _ in 0..2 {
        let mut request = TestRequest::post()
            .uri(&paid.path)
            .set_payload(paid.body.clone());
        for (name, value) in &paid.headers {
            request = request.append_header((name.as_str(), value.as_slice()));
        }
        let answer = actix_web::test::call_service(&service, request.to_request()).await;
        assert_eq!(answer.status(), 200);
    }
    app.drained().await;
    assert_eq!(cents(&app).await, 700);
}

/// Looks whether it knows the event, and then remembers it: an honest mistake.
#[derive(Default)]
struct Naive {
    seen: Mutex<HashSet<Vec<u8>>>,
    effects: AtomicU32,
    between: Option<Meeting>,
}

async fn naive(state: web::Data<Naive>, body: web::Bytes) -> HttpResponse {
    let is_new = !state.seen.lock().unwrap().contains(&body[..]);
    if is_new {
        if let Some(meeting) = &state.between {
            meeting.arrive().await;
        }
        state.effects.fetch_add(1, Ordering::SeqCst);
        state.seen.lock().unwrap().insert(body.to_vec());
    }
    HttpResponse::Ok().finish()
}

/// One step instead of two.
async fn careful(state: web::Data<Naive>, body: web::Bytes) -> HttpResponse {
    if state.seen.lock().unwrap().insert(body.to_vec()) {
        if let Some(meeting) = &state.between {
            meeting.arrive().await;
        }
        state.effects.fetch_add(1, Ordering::SeqCst);
    }
    HttpResponse::Ok().finish()
}

#[actix_web::test]
async fn a_race_finds_who_checks_first_and_remembers_later() {
    let stripe = fixtures::sender("stripe", &Setup::default()).unwrap();
    let paid = stripe::payment_intent_succeeded().signed(&stripe.example_keys(), 1_750_000_000);
    for (route, effects) in [("naive", 2), ("careful", 1)] {
        let state = web::Data::new(Naive {
            between: Some(Meeting::of(2)),
            ..Naive::default()
        });
        let shared = state.clone();
        let server = HttpServer::new(move || {
            let app = App::new().app_data(shared.clone());
            app.route("/naive", web::post().to(naive))
                .route("/careful", web::post().to(careful))
        });
        let server = server
            .workers(2)
            .disable_signals()
            .bind(("127.0.0.1", 0))
            .unwrap();
        let receiver = Http::at(server.addrs()[0]);
        let server = server.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let mut paid = paid.clone();
        paid.path = format!("/{route}");
        assert!(receiver.race(2, &paid).await.iter().all(Answer::is_success));
        assert_eq!(state.effects.load(Ordering::SeqCst), effects, "{route}");
        handle.stop(false).await;
    }
}

#[tokio::test]
async fn a_crash_anywhere_and_a_retry_are_one_effect() {
    let points = [
        Point::BeforeClaim,
        Point::AfterClaim,
        Point::BeforeTake,
        Point::AfterTake,
        Point::BeforeBegin,
        Point::AfterBegin,
        Point::BeforeComplete,
        Point::AfterComplete,
    ];
    for point in points {
        let mut app = shop().await;
        app.stage().at(point, Act::Crash);
        let paid = stripe::payment_intent_succeeded().amount(700);
        let first = app.send(paid.clone()).await;
        app.crashed().await;
        let is_answered = !matches!(point, Point::BeforeClaim | Point::AfterClaim);
        // A worker may be quicker than the answer.
        assert!(
            is_answered || first.status.is_none(),
            "{point:?}: {first:?}"
        );
        assert_eq!(app.send(paid.clone()).await.status, None, "nobody is there");
        let committed = if point == Point::AfterComplete {
            700
        } else {
            0
        };
        assert_eq!(cents(&app).await, committed, "{point:?}");
        app.restart().await;
        assert!(app.send(paid).await.is_success(), "{point:?}");
        app.pass(A_LEASE).await;
        app.drained().await;
        assert_eq!(cents(&app).await, 700, "{point:?}");
    }
}

#[tokio::test]
async fn an_effect_beside_the_transaction_is_there_twice_after_a_crash() {
    let own = Arc::new(Mutex::new(None));
    let shared = Arc::clone(&own);
    let mut app = Harness::sqlite(CREDIT, move |webhooks| {
        let stripe = Endpoint::at("/webhooks/stripe", Stripe::live(), keys("stripe"));
        let pool = shared.lock().unwrap().clone();
        webhooks
            .data(Mutex::<Option<sqlx::SqlitePool>>::new(pool))
            .endpoint(stripe.on(on_paid_beside))
    })
    .await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(app.path());
    *own.lock().unwrap() = Some(sqlx::SqlitePool::connect_lazy_with(options));
    app.restart().await; // now with the pool
    app.stage().at(Point::BeforeComplete, Act::Crash);
    app.send(stripe::payment_intent_succeeded().amount(700))
        .await;
    app.crashed().await;
    app.restart().await;
    app.pass(A_LEASE).await;
    app.drained().await;
    assert_eq!(cents(&app).await, 1400);
}

#[tokio::test]
async fn a_failure_whose_outcome_nobody_knows_is_answered_so_and_healed_by_a_retry() {
    let app = shop().await;
    app.stage().at(Point::AfterClaim, Act::Fail);
    let paid = stripe::payment_intent_succeeded().amount(700);
    assert_eq!(app.send(paid.clone()).await.status, Some(503));
    assert!(app.send(paid).await.is_success());
    app.drained().await;
    assert_eq!(cents(&app).await, 700);
}

#[tokio::test]
async fn events_are_looked_up_by_their_id() {
    let app = shop().await;
    assert_eq!(app.state("evt_1").await, None);
    app.send(stripe::payment_intent_succeeded().id("evt_1"))
        .await;
    app.send(stripe::invoice_paid().id("evt_2")).await; // nobody handles it
    app.drained().await;
    assert_eq!(app.state("evt_1").await, Some(State::Completed));
    assert_eq!(app.state("evt_2").await, Some(State::Ignored));
    assert_eq!(app.events().await.len(), 2);
    assert!(app.quarantined().await.is_empty());
    app.stop().await;
}

#[tokio::test]
async fn the_clock_is_the_tests() {
    let app = shop().await;
    let captured = app.signed(stripe::payment_intent_succeeded().amount(1));
    app.clock().turn(300);
    assert!(app.deliver(&captured).await.is_success());
    app.clock().turn(1);
    assert!(app.deliver(&captured).await.is_refusal());
    app.clock().set(app.clock().now() - 602);
    assert!(app.deliver(&captured).await.is_refusal());
}

#[tokio::test]
async fn every_mutation_is_answered_as_it_should_be() {
    for event in [
        fixtures::Event::from(stripe::payment_intent_succeeded().amount(1)),
        fixtures::Event::from(github::push()),
    ] {
        let app = shop().await;
        let keys = event.sender().example_keys();
        let specimen = Specimen::new(&event, &keys, app.clock().now());
        assert!(app.deliver(&specimen.original()).await.is_success());
        for mutation in mutations() {
            let Some(mutated) = mutation.of(&specimen) else {
                continue;
            };
            let answer = app.deliver(&mutated).await;
            match mutation.expect {
                Expect::Refused => assert!(answer.is_refusal(), "{}: {answer:?}", mutation.name),
                // Whether hex in upper case is the same signature is the receiver's to say.
                _ if mutation.name == "signature-in-upper-case" => {}
                _ => assert!(answer.is_success(), "{}: {answer:?}", mutation.name),
            }
        }
        app.drained().await;
        assert_eq!(
            app.number("select count(*) from credit").await,
            1,
            "{event:?}"
        );
        assert!(
            !app.quarantined().await.is_empty(),
            "same id, other content"
        );
    }
}

#[tokio::test]
async fn a_meeting_waits_for_all_and_not_for_ever() {
    let meeting = Meeting::of(2).patience(Duration::from_millis(20));
    assert!(!meeting.arrive().await, "alone");
    assert!(meeting.arrive().await, "the second");
    assert_eq!(meeting.arrived(), 2);
}

#[tokio::test]
#[should_panic(expected = "events still wait or run")]
async fn who_waits_for_what_never_ends_is_told() {
    let mut app = shop().await;
    app.stage().at(Point::BeforeComplete, Act::Crash);
    app.send(stripe::payment_intent_succeeded()).await;
    app.crashed().await;
    app.restart().await; // and no time passes: the old lease runs
    app.drained_within(Duration::from_millis(50)).await;
}

#[tokio::test]
#[should_panic(expected = "no endpoint at /webhooks/slack")]
async fn a_delivery_that_leads_nowhere_is_told() {
    let app = shop().await;
    app.send(fixtures::slack::message()).await;
}

#[tokio::test]
#[should_panic(expected = "nothing crashed")]
async fn a_crash_that_never_came_is_told() {
    let app = shop().await;
    app.stage().at(Point::AfterFail, Act::Crash);
    app.crashed_within(Duration::from_millis(20)).await;
}
