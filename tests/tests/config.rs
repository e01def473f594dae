//! Every configuration fault stops `build()`, with the setting's name and never the secret.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::time::Duration;

use sqlx::SqliteConnection;
use webhook_actix::{
    BoxFuture, Data, Endpoint, EventId, KeyConfig, KeyFault, KeyQuery, KeySource, Keyring, Keys,
    Repeats, Unsigned, Webhooks, webhook,
};
use webhook_github::GitHub;
use webhook_sqlx::SqliteLedger;
use webhook_stripe::Stripe;
use webhook_tests::app::block_on;
use webhook_tests::stores::{Sqlite, Store as _};
use webhook_timestamped::Timestamped;

#[webhook(provider = Stripe, events("invoice.paid", "charge.succeeded"), at_least_once)]
async fn on_paid(_id: EventId) -> Result<(), sqlx::Error> {
    Ok(())
}

#[webhook(provider = Stripe, event = "invoice.paid", at_least_once)]
async fn on_paid_too(_id: EventId) -> Result<(), sqlx::Error> {
    Ok(())
}

#[webhook(provider = Stripe, event = "charge.refunded", at_least_once)]
async fn on_refund(_mailer: Data<Mailer>) -> Result<(), sqlx::Error> {
    Ok(())
}

#[webhook(provider = GitHub, event = "ping", at_least_once)]
async fn on_ping(_id: Unsigned<EventId>) -> Result<(), sqlx::Error> {
    Ok(())
}

#[webhook(provider = Timestamped, event = "note.created")]
async fn on_note(_db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    Ok(())
}

struct Mailer;

fn keys(secret: &str) -> Keys {
    Keys::new([KeyConfig::new(secret)])
}

fn stripe(path: &str, secret: &str) -> Endpoint<Stripe, SqliteConnection> {
    Endpoint::at(path, Stripe::live(), keys(secret)).on(on_paid)
}

type Builder = webhook_actix::Builder<SqliteLedger>;

fn fault(configure: impl FnOnce(Builder) -> Builder) -> String {
    let store = block_on(Sqlite::fresh());
    let ledger = block_on(store.ledger());
    let fault = configure(Webhooks::builder(ledger))
        .build()
        .expect_err("a fault")
        .to_string();
    assert!(!fault.contains("canary"), "{fault}");
    fault
}

#[test]
fn a_good_configuration_builds() {
    let store = block_on(Sqlite::fresh());
    let ledger = block_on(store.ledger());
    Webhooks::builder(ledger)
        .endpoint(stripe("/stripe", "canary-1234567890").on(on_refund))
        .endpoint(Endpoint::at("/custom", Timestamped, keys("canary-abcdefghij")).on(on_note))
        .endpoint(
            Endpoint::at("/github", GitHub, keys("canary-github-1"))
                .repeats(Repeats::Run)
                .on(on_ping),
        )
        .data(Mailer)
        .build()
        .unwrap();
}

#[test]
fn f4_two_handlers_for_one_event() {
    let told = fault(|b| b.endpoint(stripe("/s", "canary-1234567890").on(on_paid_too)));
    assert!(
        told.contains("endpoint `stripe`: `invoice.paid` is handled by"),
        "{told}"
    );
    assert!(
        told.contains("`on_paid`") && told.contains("`on_paid_too`"),
        "{told}"
    );
}

#[test]
fn d6_one_secret_on_two_endpoints() {
    let two = |shared: bool| {
        move |b: Builder| {
            let mut one = stripe("/a", "canary-1234567890").named("a");
            let mut two = stripe("/b", "canary-1234567890").named("b");
            if shared {
                (one, two) = (one.shared_secret(), two);
            }
            b.endpoint(one).endpoint(two)
        }
    };
    for shared in [false, true] {
        let told = fault(two(shared));
        assert!(told.contains("endpoint `a` has the same secret"), "{told}");
    }
    let store = block_on(Sqlite::fresh());
    let ledger = block_on(store.ledger());
    let both = |path: &str| {
        stripe(path, "canary-1234567890")
            .named(&path[1..])
            .shared_secret()
    };
    Webhooks::builder(ledger)
        .endpoint(both("/a"))
        .endpoint(both("/b"))
        .build()
        .unwrap();
}

#[test]
fn d2_a_type_that_may_repeat_must_be_decided_aloud() {
    let github = || Endpoint::at("/g", GitHub, keys("canary-github-1")).on(on_ping);
    let told = fault(|b| b.endpoint(github()));
    assert!(
        told.contains("`ping` may repeat") && told.contains("Repeats::Quarantine"),
        "{told}"
    );
}

#[test]
fn missing_and_repeated_data() {
    let told = fault(|b| b.endpoint(stripe("/s", "canary-1234567890").on(on_refund)));
    assert!(
        told.contains("handler `on_refund`: `Data<") && told.contains("Mailer"),
        "{told}"
    );
    let told = fault(|b| {
        b.data(Mailer)
            .data(Mailer)
            .endpoint(stripe("/s", "canary-1234567890"))
    });
    assert!(told.contains("Mailer` is given twice"), "{told}");
}

#[test]
fn keys_that_cannot_be_had_or_used() {
    for secret in [
        "",
        "  ",
        "whsec_",
        "canary-1234567890\n",
        "canary",
        " canary-1234567890",
    ] {
        let told = fault(|b| b.endpoint(stripe("/s", secret)));
        assert!(
            told.starts_with("endpoint `stripe`: keys given in code: key 1 "),
            "{secret:?}: {told}"
        );
    }
    let unset = Keys::env("WEBHOOK_TEST_SURELY_UNSET");
    let told = fault(|b| b.endpoint(Endpoint::at("/s", Stripe::live(), unset).on(on_paid)));
    assert!(
        told.contains("WEBHOOK_TEST_SURELY_UNSET: the variable is not set"),
        "{told}"
    );
    let told = fault(|b| b.endpoint(Endpoint::at("/s", Stripe::live(), Keys::new([])).on(on_paid)));
    assert!(told.contains("no key is given"), "{told}");
}

#[test]
fn names_paths_and_bounds() {
    let good = "canary-1234567890";
    let minute = Duration::from_mins(1);
    for (told, why) in [
        (fault(|b| b), "no endpoint"),
        (
            fault(|b| b.endpoint(Endpoint::at("/s", Stripe::live(), keys(good)))),
            "no handler",
        ),
        (
            fault(|b| b.endpoint(stripe("s", good))),
            "does not begin with `/`",
        ),
        (
            fault(|b| b.endpoint(stripe("/{tenant}", good))),
            "`{tenant}` chooses among the keys of a `Keys::source`",
        ),
        (
            fault(|b| b.endpoint(stripe("/{shop}", good))),
            "path `/{shop}`: the only parameter is `{tenant}`, once",
        ),
        (
            fault(|b| b.endpoint(stripe("/{tenant}/{tenant}", good))),
            "the only parameter is `{tenant}`, once",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).named("Über"))),
            "a name is 1 to 64",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).named(""))),
            "a name is 1 to 64",
        ),
        (
            fault(|b| {
                b.endpoint(stripe("/a", good))
                    .endpoint(stripe("/b", "canary-other-one"))
            }),
            "the name is used twice",
        ),
        (
            fault(|b| {
                let other = stripe("/a", "canary-other-one").named("other");
                b.endpoint(stripe("/a", good)).endpoint(other)
            }),
            "path `/a` is endpoint `stripe`'s",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).lease(Duration::ZERO))),
            "the lease must be",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).lease(minute * 61))),
            "the lease must be",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).max_transaction(minute))),
            "`max_transaction`",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).inline_deadline(minute))),
            "`inline_deadline`",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).body_timeout(Duration::ZERO))),
            "a time limit of zero",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).backoff(minute, minute / 2))),
            "the longest backoff",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).concurrency(0))),
            "at least 1",
        ),
        (
            fault(|b| b.endpoint(stripe("/s", good).max_body_bytes(0))),
            "a body cap of zero",
        ),
        (
            fault(|b| b.unauthenticated_bytes(1000).endpoint(stripe("/s", good))),
            "exceeds `unauthenticated_bytes`",
        ),
    ] {
        assert!(told.contains(why), "{told}");
    }
    assert!(stripe("/s", good).window(Duration::ZERO, minute).is_err());
}

#[webhook(provider = Timestamped, event = "note.urgent", inline)]
async fn on_urgent(_db: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    Ok(())
}

#[test]
fn f8_what_is_ordered_cannot_be_inline() {
    let ordered =
        || Endpoint::at("/c", Timestamped, keys("canary-abcdefghij")).ordered_by(["data", "id"]);
    let told = fault(|b| b.endpoint(ordered().on(on_note).on(on_urgent)));
    assert!(told.contains("cannot be `inline`"), "{told}");
    let store = block_on(Sqlite::fresh());
    let ledger = block_on(store.ledger());
    Webhooks::builder(ledger)
        .endpoint(ordered().on(on_note))
        .build()
        .unwrap();
}

/// One keyring a tenant, chosen by the path.
#[derive(Debug)]
struct Tenants;

impl KeySource for Tenants {
    fn keys<'a>(
        &'a self,
        query: KeyQuery<'a>,
    ) -> BoxFuture<'a, Result<std::sync::Arc<Keyring>, KeyFault>> {
        Box::pin(async move {
            let tenant = query.tenant.ok_or(KeyFault::Unknown)?;
            let format = webhook_actix::SecretFormat::Text { prefix: "" };
            let key = KeyConfig::new(format!("canary-of-{tenant}"));
            let ring = Keyring::build(format, [key]).map_err(|_| KeyFault::Unavailable)?;
            Ok(std::sync::Arc::new(ring.principal(tenant)))
        })
    }
}

#[test]
fn a_source_of_tenants_builds() {
    let store = block_on(Sqlite::fresh());
    let ledger = block_on(store.ledger());
    let endpoint = Endpoint::at("/custom/{tenant}", Timestamped, Keys::source(Tenants)).on(on_note);
    Webhooks::builder(ledger)
        .endpoint(endpoint)
        .build()
        .unwrap();
}
