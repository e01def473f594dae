//! Servers of one worker that store what they are sent: the framework, and peers by hand.

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};
use webhook_actix::{HandlerError, Keyring, Verified, Webhooks, webhook};
use webhook_benches::PATH;
use webhook_sqlx::PostgresLedger;
use webhook_stripe::Stripe;

use crate::by_hand::ByHand;
use crate::database::Database;
use crate::server::{Running, endpoint, keyring, listen, verify};

/// The framework. Its only worker is busy, so that accepting is measured and not running.
pub(crate) fn framework(database: &Database) -> Running {
    let url = database.url().to_owned();
    Running::start(|ready| async move {
        let ledger = PostgresLedger::connect(&url).await.expect("a ledger");
        let endpoint = endpoint().concurrency(1).on(never_ends);
        let webhooks = Webhooks::builder(ledger).endpoint(endpoint).build();
        let webhooks = webhooks.expect("a configuration");
        webhooks.start().await.expect("a start");
        let app = webhooks.clone();
        listen(ready, move || app.clone()).await;
        webhooks.shutdown_within(Duration::ZERO).await;
    })
}

/// A handler that verifies and stores each delivery by a statement of its own.
pub(crate) fn by_hand(database: &Database) -> Running {
    let url = database.url().to_owned();
    Running::start(|ready| async move {
        let inbox = ByHand::new(&url, 16);
        let (inbox, keys) = (web::Data::new(inbox), web::Data::new(keyring()));
        listen(ready, move || {
            let resource = web::resource(PATH).app_data(inbox.clone());
            let resource = resource.app_data(keys.clone());
            resource.route(web::post().to(store_by_hand))
        })
        .await;
    })
}

/// A handler that verifies, and remembers ids together with whoever comes at the same time. The least
/// that deduplication can be: nothing of the event is kept.
pub(crate) fn ids_in_batches(database: &Database) -> Running {
    let url = database.url().to_owned();
    Running::start(|ready| async move {
        let inbox = ByHand::new(&url, 1);
        let (queue, ids) = mpsc::channel(1024);
        actix_web::rt::spawn(remember(inbox, ids));
        let (queue, keys) = (web::Data::new(queue), web::Data::new(keyring()));
        listen(ready, move || {
            let resource = web::resource(PATH).app_data(queue.clone());
            let resource = resource.app_data(keys.clone());
            resource.route(web::post().to(remember_id))
        })
        .await;
    })
}

#[webhook(provider = Stripe, event = "payment_intent.succeeded", at_least_once)]
async fn never_ends() -> Result<(), HandlerError> {
    std::future::pending().await
}

/// What a handler by hand reads of an event.
#[derive(Deserialize)]
struct Named {
    id: String,
    #[serde(rename = "type")]
    event_type: String,
}

impl Named {
    fn read(verified: &Verified<'_>) -> Self {
        serde_json::from_slice(verified.body()).expect("an event")
    }
}

async fn store_by_hand(
    request: HttpRequest,
    body: web::Bytes,
    keys: web::Data<Keyring>,
    inbox: web::Data<ByHand>,
) -> HttpResponse {
    match verify(&request, body.clone(), &keys, Named::read) {
        Some(Named { id, event_type }) => {
            inbox.store(&id, &event_type, &body).await;
            HttpResponse::Ok().finish()
        }
        None => HttpResponse::Unauthorized().finish(),
    }
}

type Waiting = (String, oneshot::Sender<()>);

async fn remember_id(
    request: HttpRequest,
    body: web::Bytes,
    keys: web::Data<Keyring>,
    queue: web::Data<mpsc::Sender<Waiting>>,
) -> HttpResponse {
    match verify(&request, body, &keys, Named::read) {
        Some(named) => {
            let (answer, answered) = oneshot::channel();
            queue.send((named.id, answer)).await.expect("a batcher");
            answered.await.expect("an answer");
            HttpResponse::Ok().finish()
        }
        None => HttpResponse::Unauthorized().finish(),
    }
}

async fn remember(inbox: ByHand, mut queue: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, 256).await > 0 {
        let (ids, answers): (Vec<_>, Vec<_>) = batch.drain(..).unzip();
        inbox.remember(&ids).await;
        for answer in answers {
            let _ = answer.send(());
        }
    }
}
