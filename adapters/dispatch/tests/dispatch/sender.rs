//! An application that sends: an outbox in a file of its own, and a dispatcher over it.

use std::path::PathBuf;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::time::sleep;
use webhook_core::outbox::{
    Attempt, DeliveryRow, DeliveryState, EndpointId, Event, EventId, Filter, Outbox as _, Search,
};
use webhook_dispatch::guard::{AddressPolicy, Allow, GuardedClient, Policy};
use webhook_dispatch::{
    Dispatcher, DispatcherBuilder, NewEndpoint, NewSecret, Schedule, Vault, VaultKey,
};
use webhook_sqlx::SqliteOutbox;

#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) outbox: SqliteOutbox,
    pub(crate) dispatcher: Dispatcher<SqliteOutbox>,
    directory: PathBuf,
}

impl Sender {
    pub(crate) async fn start() -> Self {
        Self::start_with(|builder| builder).await
    }

    pub(crate) async fn start_with(
        edit: impl FnOnce(DispatcherBuilder<SqliteOutbox>) -> DispatcherBuilder<SqliteOutbox>,
    ) -> Self {
        Self::start_over(client(), edit).await
    }

    pub(crate) async fn start_over(
        client: GuardedClient,
        edit: impl FnOnce(DispatcherBuilder<SqliteOutbox>) -> DispatcherBuilder<SqliteOutbox>,
    ) -> Self {
        let name = format!("webhook-dispatch-{:032x}", rand::random::<u128>());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        let file = directory.join("app.db");
        let outbox = SqliteOutbox::open(file.to_str().unwrap()).await.unwrap();
        let builder = Dispatcher::builder(outbox.clone(), vault(), client)
            .schedule(Schedule::new([Duration::from_millis(10); 10]).unwrap())
            .poll_every(Duration::from_millis(20));
        let dispatcher = edit(builder).build().unwrap();
        dispatcher.start().await.unwrap();
        Self {
            outbox,
            dispatcher,
            directory,
        }
    }

    /// Register an endpoint of `acme` that takes everything.
    pub(crate) async fn endpoint(&self, url: String) -> (EndpointId, NewSecret) {
        self.register(NewEndpoint::new("acme", url, Filter::all()))
            .await
    }

    pub(crate) async fn register(&self, new: NewEndpoint) -> (EndpointId, NewSecret) {
        self.dispatcher.endpoints().register(new).await.unwrap()
    }

    pub(crate) async fn send(&self, event_type: &str, payload: &str) -> EventId {
        self.enqueue(Event::new("acme", event_type, payload.to_owned()).unwrap())
            .await
    }

    pub(crate) async fn enqueue(&self, event: Event) -> EventId {
        let file = self.directory.join("app.db");
        let options = SqliteConnectOptions::new().filename(file);
        let mut conn = options.connect().await.unwrap();
        let mut tx = conn.begin_with("begin immediate").await.unwrap();
        let enqueued = self.outbox.enqueue(&mut tx, event).await.unwrap();
        tx.commit().await.unwrap();
        self.dispatcher.wake();
        enqueued.id().clone()
    }

    /// Wait until as many deliveries are in this state.
    pub(crate) async fn wait(&self, state: DeliveryState, count: usize) -> Vec<DeliveryRow> {
        let search = Search::newest(1000).state(state);
        let mut found = Vec::new();
        for _ in 0..1000 {
            found = self.outbox.find(search.clone()).await.unwrap();
            if found.len() >= count {
                return found;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("{} of {count} deliveries are {state:?}", found.len());
    }

    pub(crate) async fn attempts(&self, delivery: &DeliveryRow) -> Vec<Attempt> {
        self.outbox.attempts(delivery.id).await.unwrap()
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub(crate) fn vault() -> Vault {
    Vault::new([VaultKey::from_bytes("v1", &[7; 32]).unwrap()]).unwrap()
}

/// A client that may dial loopback, and waits for a second and a half.
pub(crate) fn client() -> GuardedClient {
    GuardedClient::builder()
        .policy(loopback())
        .deadline(Duration::from_millis(1500))
        .build()
        .unwrap()
}

pub(crate) fn loopback() -> Policy {
    let loopback = Allow::address("127.0.0.1".parse().unwrap());
    Policy::strict()
        .addresses(AddressPolicy::public().allow(loopback))
        .allow_http()
        .any_port()
}
