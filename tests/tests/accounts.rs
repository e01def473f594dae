//! Gates on accounts and modes over HTTP: what is outside is acknowledged, counted and not run. Handlers take the
//! providers' own payload types, under the names these know.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, mpsc};

use actix_web::{App, HttpServer};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use webhook_actix::{
    Clock as _, DynProvider, Endpoint, Event, HandlerError, KeyConfig, Keyring, Keys, Signing,
    SystemClock, Webhooks, webhook,
};
use webhook_github::GitHub;
use webhook_github::payloads::CheckRunEvent;
use webhook_slack::Slack;
use webhook_slack::payloads::AppMention;
use webhook_stripe::Stripe;
use webhook_stripe::payloads::PaymentIntent;
use webhook_tests::app::{block_on, eventually};
use webhook_tests::on_both;
use webhook_tests::stores::{Effects, Store};
use webhook_tests::wire::post;

on_both!(what_is_outside_is_acknowledged_and_counted_and_does_not_run);

fn secret(provider: &dyn DynProvider) -> KeyConfig {
    KeyConfig::new(format!(
        "whsec_of-{}-0123456789abcdef",
        provider.spec().name()
    ))
}

#[webhook(provider = GitHub)]
async fn on_check<C: Effects>(check: Event<CheckRunEvent>, db: &mut C) -> Result<(), HandlerError> {
    let installation = check.installation.as_ref().expect("an App's event");
    Ok(db.record(&format!("check {}", installation.id)).await?)
}

#[webhook(provider = Slack)]
async fn on_mention<C: Effects>(
    mention: Event<AppMention>,
    db: &mut C,
) -> Result<(), HandlerError> {
    Ok(db.record(&format!("mention {}", mention.channel)).await?)
}

#[webhook(provider = Stripe, event = "payment_intent.succeeded")]
async fn on_paid<C: Effects>(paid: Event<PaymentIntent>, db: &mut C) -> Result<(), HandlerError> {
    Ok(db
        .record(&format!("paid {}", paid.amount.minor_units()))
        .await?)
}

/// One recorder for the process: endpoints are told apart by the store in their names.
fn metrics() -> &'static PrometheusHandle {
    static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();
    METRICS.get_or_init(|| PrometheusBuilder::new().install_recorder().unwrap())
}

/// How many events the endpoint left out, and why.
fn outside(endpoint: &str, why: &str) -> u64 {
    let metrics = metrics().render();
    let labels = [format!("endpoint=\"{endpoint}\""), format!("why=\"{why}\"")];
    let mut lines = metrics
        .lines()
        .filter(|line| line.starts_with("webhook_outside_total"));
    let line = lines.find(|line| labels.iter().all(|label| line.contains(label)));
    line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// Serve three endpoints, each for some accounts, while `test` runs.
fn serve<S: Store>(test: impl FnOnce(&S, SocketAddr)) {
    metrics();
    let store = Arc::new(block_on(S::fresh()));
    let (ready, is_ready) = mpsc::channel();
    let thread = std::thread::spawn({
        let store = store.clone();
        move || {
            actix_web::rt::System::new().block_on(async move {
                let name = |provider: &str| format!("{provider}-{}", S::NAME);
                let github = GitHub.installations([55_000_001]);
                let slack = Slack.workspaces(["T070ULYC5VE"]);
                let stripe = Stripe::live().accounts(["acct_1"]);
                let webhooks = Webhooks::builder(store.ledger().await)
                    .endpoint(
                        Endpoint::at("/github", github, Keys::new([secret(&GitHub)]))
                            .named(name("github"))
                            .on(on_check),
                    )
                    .endpoint(
                        Endpoint::at("/slack", slack, Keys::new([secret(&Slack)]))
                            .named(name("slack"))
                            .on(on_mention),
                    )
                    .endpoint(
                        Endpoint::at("/stripe", stripe, Keys::new([secret(&Stripe::live())]))
                            .named(name("stripe"))
                            .on(on_paid),
                    )
                    .build()
                    .unwrap();
                webhooks.start().await.unwrap();
                let app = webhooks.clone();
                let server = HttpServer::new(move || App::new().service(app.clone()))
                    .workers(1)
                    .disable_signals()
                    .bind(("127.0.0.1", 0))
                    .unwrap();
                let address = *server.addrs().first().unwrap();
                let server = server.run();
                ready.send((address, server.handle())).unwrap();
                webhooks.serve(server).await.unwrap();
            });
        }
    });
    let (address, handle) = is_ready.recv().unwrap();
    test(&store, address);
    block_on(handle.stop(true));
    thread.join().unwrap();
}

fn send(to: SocketAddr, provider: &dyn DynProvider, unsigned: &[(&str, &str)], body: &str) -> u16 {
    let keys = Keyring::build(provider.spec().secret(), [secret(provider)]).unwrap();
    let signing = Signing::new(&keys, body.as_bytes(), SystemClock::default().unix_secs());
    let mut headers: Vec<_> = provider
        .sign(&signing)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let unsigned = unsigned.iter();
    headers.extend(unsigned.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let path = format!("/{}", provider.spec().name());
    post(to, &path, &headers, body.as_bytes()).status
}

fn check_run(to: SocketAddr, delivery: &str, installation: &str) -> u16 {
    let body = format!(
        r#"{{"action":"completed",
            "check_run":{{"id":1,"name":"test","head_sha":"5f0b","status":"completed"}},
            "repository":{{"id":1,"name":"shop","full_name":"acme/shop","private":true,"html_url":"x",
                           "owner":{{"id":9,"login":"acme"}}}}
            {installation}}}"#
    );
    let unsigned = [
        ("X-GitHub-Event", "check_run"),
        ("X-GitHub-Delivery", delivery),
    ];
    send(to, &GitHub, &unsigned, &body)
}

fn mention(to: SocketAddr, id: &str, team: &str) -> u16 {
    let body = format!(
        r#"{{"type":"event_callback","event_id":"{id}","team_id":"{team}",
            "event":{{"type":"app_mention","channel":"C1","text":"hello","ts":"1.2"}}}}"#
    );
    send(to, &Slack, &[], &body)
}

fn payment(to: SocketAddr, id: &str, live: bool, account: &str) -> u16 {
    let body = format!(
        r#"{{"id":"{id}","type":"payment_intent.succeeded","livemode":{live},"account":{account},
            "data":{{"object":{{"id":"pi_1","amount":4999,"currency":"eur","status":"succeeded",
                                "livemode":{live},"created":1750000000}}}}}}"#
    );
    send(to, &Stripe::live(), &[], &body)
}

fn what_is_outside_is_acknowledged_and_counted_and_does_not_run<S: Store>() {
    serve::<S>(|store, to| {
        let installed = |id: u64| format!(r#","installation":{{"id":{id}}}"#);
        let payment = |id: &str, live, account: &str| payment(to, id, live, account);
        let outside = |provider: &str, why: &str| outside(&format!("{provider}-{}", S::NAME), why);
        let answers = [
            // Outside, first: what they would do would be done before what comes after.
            check_run(to, "a-1", &installed(55_000_002)),
            check_run(to, "a-2", ""),
            mention(to, "Ev1", "T9"),
            payment("evt_1", true, "null"),
            payment("evt_2", true, r#""acct_2""#),
            payment("evt_3", false, r#""acct_1""#),
            // Inside.
            check_run(to, "a-3", &installed(55_000_001)),
            mention(to, "Ev2", "T070ULYC5VE"),
            payment("evt_4", true, r#""acct_1""#),
        ];
        assert_eq!(answers, [200; 9]);
        let effects = |what: &str| {
            block_on(store.number(&format!(
                "select count(*) from effect where event_id like '{what}'"
            )))
        };
        eventually("three took effect", || effects("%") == 3);
        for what in ["check 55000001", "mention C1", "paid 4999"] {
            assert_eq!(effects(what), 1, "{what}");
        }
        // Nothing of the others was stored, so that nothing of them can run later.
        assert_eq!(
            block_on(store.number("select count(*) from webhook.inbox")),
            3
        );
        assert_eq!(outside("github", "installation"), 2);
        assert_eq!(outside("slack", "workspace"), 1);
        assert_eq!(
            (outside("stripe", "account"), outside("stripe", "mode")),
            (2, 1)
        );
    });
}
