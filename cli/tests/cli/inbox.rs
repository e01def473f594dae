//! `inbox` on a SQLite file that a running application wrote.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use actix_web::{App, HttpServer};
use serde_json::Value;
use sqlx::SqliteConnection;
use webhook_actix::{
    Disposition, Endpoint, EventId, HandlerError, KeyConfig, Keys, Repeats, Unlisted, Unsigned,
    Webhooks, webhook,
};
use webhook_github::GitHub;
use webhook_sqlx::SqliteLedger;
use webhook_stripe::Stripe;

use crate::run::{Call, Folder, webhook as command};

const STRIPE: &str = "whsec_only-for-tests-stripe-0123";
const GITHUB: &str = "only-for-tests-github-0123456789";

#[webhook(provider = Stripe, event = "invoice.paid")]
async fn on_paid(_id: EventId, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

#[webhook(provider = Stripe, event = "payout.paid")]
async fn on_payout(_id: EventId, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Err(HandlerError::public(
        Disposition::DeadLetter,
        "no such account",
    ))
}

#[webhook(provider = GitHub, event = "push")]
async fn on_push(_id: Unsigned<EventId>, _db: &mut SqliteConnection) -> Result<(), HandlerError> {
    Ok(())
}

/// Run an application on `file` while `during` sends to it.
fn with_application(file: &str, during: impl FnOnce(SocketAddr)) {
    let (ready, is_ready) = mpsc::channel();
    let file = file.to_owned();
    let application = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let keys = |secret| Keys::new([KeyConfig::new(secret)]);
            let webhooks = Webhooks::builder(SqliteLedger::open(&file).await.unwrap())
                .endpoint(
                    Endpoint::at("/stripe", Stripe::any_mode().any_account(), keys(STRIPE))
                        .unlisted(Unlisted::Store)
                        .on(on_paid)
                        .on(on_payout),
                )
                .endpoint(
                    Endpoint::at("/github", GitHub, keys(GITHUB))
                        .repeats(Repeats::Quarantine)
                        .on(on_push),
                )
                .build()
                .unwrap();
            webhooks.start().await.unwrap();
            let app = webhooks.clone();
            let server = HttpServer::new(move || App::new().service(app.clone()))
                .workers(1)
                .disable_signals()
                .bind("127.0.0.1:0")
                .unwrap();
            let address = server.addrs()[0];
            let running = server.run();
            ready.send((address, running.handle())).unwrap();
            webhooks.serve(running).await.unwrap();
        });
    });
    let (address, server) = is_ready.recv_timeout(Duration::from_mins(1)).unwrap();
    during(address);
    actix_web::rt::System::new().block_on(server.stop(true));
    application.join().unwrap();
}

fn send(address: SocketAddr, provider: &str, event: &str, secret: &str, more: &[&str]) {
    let url = format!("http://{address}/{provider}");
    let call = command(["send", provider, event, "--url", &url]);
    more.iter()
        .fold(call, Call::arg)
        .secret(secret)
        .run()
        .code(0);
}

/// A call on this ledger.
fn inbox(ledger: &str, arguments: &[&str]) -> Call {
    arguments
        .iter()
        .fold(command(["inbox", "--json"]), Call::arg)
        .env("WEBHOOK_LEDGER", ledger)
}

fn list(ledger: &str, arguments: &[&str]) -> Vec<Value> {
    let call = inbox(ledger, &["ls"]);
    let ended = arguments.iter().fold(call, Call::arg).run().code(0);
    ended.json().as_array().unwrap().clone()
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap()
}

/// The ledger of a run: a completed event, a dead and an ignored one, one in quarantine.
fn ledger_of_a_run(folder: &Folder) -> String {
    let ledger = format!("sqlite://{}", folder.path("app.db"));
    let push = command(["sign", "github", "push", "--json"])
        .secret(GITHUB)
        .run()
        .code(0)
        .json();
    let body = folder.file("push.json", push["body"].as_str().unwrap());
    with_application(&ledger, |address| {
        send(
            address,
            "stripe",
            "invoice.paid",
            STRIPE,
            &["--id", "evt_done"],
        );
        send(
            address,
            "stripe",
            "payout.paid",
            STRIPE,
            &["--id", "evt_dead"],
        );
        send(
            address,
            "stripe",
            "customer.updated",
            STRIPE,
            &["--id", "evt_ignored"],
        );
        send(address, "github", "push", GITHUB, &["--body", &body]);
        let from = Instant::now();
        while list(&ledger, &["--state", "completed"]).len() < 2
            || list(&ledger, &["--state", "dead"]).is_empty()
        {
            assert!(
                from.elapsed() < Duration::from_mins(1),
                "{:?}",
                list(&ledger, &[])
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        // The same bytes under two other ids: a replay with another label.
        send(address, "github", "push", GITHUB, &["--body", &body]);
        send(address, "github", "push", GITHUB, &["--body", &body]);
    });
    ledger
}

#[test]
fn an_operator_sees_and_decides() {
    let folder = Folder::new();
    let ledger = ledger_of_a_run(&folder);
    assert_eq!(list(&ledger, &[]).len(), 4);
    assert_eq!(list(&ledger, &["--endpoint", "github"]).len(), 1);
    assert_eq!(
        list(&ledger, &["--id", "evt_done"])[0]["state"],
        "completed"
    );
    let first = list(&ledger, &["--limit", "1"]);
    assert_eq!(list(&ledger, &["--after", id(&first[0])]).len(), 3);

    let dead = list(&ledger, &["--state", "dead"]);
    let shown = inbox(&ledger, &["show", id(&dead[0])]).run().code(0).json();
    assert_eq!(
        (&shown["event_id"], &shown["type"]),
        (&"evt_dead".into(), &"payout.paid".into())
    );
    assert!(
        shown["last_error"]
            .as_str()
            .unwrap()
            .contains("no such account"),
        "{shown}"
    );
    inbox(&ledger, &["show", &"f".repeat(32)]).run().code(1);

    replay(&ledger, id(&dead[0]));
    decide_on_quarantine(&ledger);
    let pruned = inbox(
        &ledger,
        &[
            "prune",
            "--endpoint",
            "github",
            "--completed-payloads",
            "0s",
            "--yes",
        ],
    )
    .run()
    .code(0)
    .json();
    assert_eq!(
        (&pruned["payloads"], &pruned["forgotten"]),
        (&1.into(), &0.into())
    );
    assert_eq!(
        list(&ledger, &["--endpoint", "github", "--state", "completed"]).len(),
        1
    );

    let doctor = inbox(&ledger, &["doctor"]).run().code(0).json();
    assert_eq!(doctor["ready"], true, "{doctor}");
}

fn replay(ledger: &str, dead: &str) {
    // A dead event runs again; one that waits already does not, nor a completed one unless told.
    inbox(ledger, &["replay", dead]).run().code(0);
    assert_eq!(list(ledger, &["--state", "pending"]).len(), 1);
    inbox(ledger, &["replay", dead]).run().code(1);
    let done = list(ledger, &["--id", "evt_done"]);
    let refused = inbox(ledger, &["replay", id(&done[0])]).run().code(1);
    assert!(
        refused.text().contains("is completed"),
        "{}",
        refused.text()
    );
    let unasked = inbox(ledger, &["replay", "--even-completed", id(&done[0])])
        .run()
        .code(2);
    assert!(unasked.text().contains("--yes"), "{}", unasked.text());
    inbox(
        ledger,
        &["replay", "--even-completed", "--yes", id(&done[0])],
    )
    .run()
    .code(0);
    let replayed = inbox(
        ledger,
        &[
            "replay",
            "--ignored",
            "--endpoint",
            "stripe",
            "--type",
            "customer.updated",
        ],
    );
    assert_eq!(replayed.run().code(0).json()["replayed"], 1);
}

fn decide_on_quarantine(ledger: &str) {
    let held = list(ledger, &["--quarantine"]);
    assert_eq!(held.len(), 1, "{held:?}");
    assert_eq!(
        (&held[0]["reason"], &held[0]["seen"]),
        (&"replayed".into(), &2.into())
    );
    let shown = inbox(ledger, &["show", id(&held[0])]).run().code(0).json();
    assert_eq!(shown["digest"], shown["first_digest"]);
    inbox(ledger, &["release", id(&held[0])]).run().code(2);
    inbox(ledger, &["release", "--yes", id(&held[0])])
        .run()
        .code(0);
    inbox(ledger, &["discard", "--yes", id(&held[0])])
        .run()
        .code(1);
    assert!(list(ledger, &["--quarantine"]).is_empty());
}

#[test]
fn a_file_that_is_no_ledger_is_not_made_one() {
    let folder = Folder::new();
    let file = folder.file("other.db", "");
    let ended = inbox(&format!("sqlite://{file}"), &["ls"]).run().code(3);
    assert!(
        ended.json()["error"]
            .as_str()
            .unwrap()
            .contains("the ledger")
    );
    inbox(&format!("sqlite://{file}"), &["doctor"])
        .run()
        .code(1);
}
