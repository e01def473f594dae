//! An application that sends: an outbox, endpoints and a dispatcher.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection};
use tokio::runtime::Runtime;
use webhook_actix::outbox::{DeliveryState, Filter, Outbox as _, Search};
use webhook_dispatch::guard::GuardedClient;
use webhook_dispatch::{Dispatcher, NewEndpoint, Vault, VaultKey};
use webhook_sqlx::PostgresOutbox;

use super::{client, event};
use crate::database::{Database, Databases};

pub(super) struct Sender {
    runtime: Arc<Runtime>,
    url: String,
    outbox: PostgresOutbox,
    dispatcher: Dispatcher<PostgresOutbox>,
    committed: Mutex<HashMap<String, Instant>>,
}

/// Endpoints, one a tenant.
pub(super) struct Fleet(usize);

impl Fleet {
    pub(super) fn size(&self) -> usize {
        self.0
    }
}

impl Sender {
    pub(super) fn start(
        databases: &Databases,
        database: &Database,
        places: u32,
        deadline: Duration,
    ) -> Self {
        let runtime = databases.runtime().clone();
        let outbox = runtime.block_on(database.outbox());
        let client = GuardedClient::builder()
            .policy(client::loopback())
            .deadline(deadline)
            .build()
            .expect("a client");
        let key = VaultKey::from_bytes("1", &[7; 32]).expect("a key");
        let vault = Vault::new([key]).expect("a vault");
        let dispatcher = Dispatcher::builder(outbox.clone(), vault, client)
            .places(places)
            .build()
            .expect("a dispatcher");
        Self {
            runtime,
            url: database.url().to_owned(),
            outbox,
            dispatcher,
            committed: Mutex::default(),
        }
    }

    pub(super) fn begin(&self) {
        let started = self.runtime.block_on(self.dispatcher.start());
        started.expect("a schema");
    }

    pub(super) fn stop(&self) {
        self.runtime.block_on(self.dispatcher.shutdown());
    }

    pub(super) fn fleet(&self, size: usize, url: impl Fn(usize) -> String) -> Fleet {
        for number in 0..size {
            self.endpoint(&format!("t{number}"), url(number));
        }
        Fleet(size)
    }

    /// Register one. Its row's id.
    pub(super) fn endpoint(&self, tenant: &str, url: String) -> String {
        let new = NewEndpoint::new(tenant, url, Filter::all());
        let registered = self
            .runtime
            .block_on(self.dispatcher.endpoints().register(new));
        let (id, _) = registered.expect("an endpoint");
        id.to_string().trim_start_matches("ep_").to_owned()
    }

    /// One event for each of the first so many tenants, each in a transaction of its own.
    pub(super) fn send(&self, fleet: &Fleet, count: usize) {
        self.runtime.block_on(async {
            let mut conn = PgConnection::connect(&self.url)
                .await
                .expect("a connection");
            for tenant in 0..count {
                self.commit(&mut conn, tenant.rem_euclid(fleet.0)).await;
            }
        });
    }

    /// Events at a steady rate, to the tenants in turn.
    pub(super) fn trickle(&self, fleet: &Fleet, time: Duration, per_second: u32) {
        self.begin();
        self.runtime.block_on(async {
            let mut conn = PgConnection::connect(&self.url)
                .await
                .expect("a connection");
            let began = Instant::now();
            let between = Duration::from_secs_f64(f64::from(per_second).recip());
            let mut ticks = tokio::time::interval(between);
            let mut tenant = 0usize;
            while began.elapsed() < time {
                ticks.tick().await;
                self.commit(&mut conn, tenant.rem_euclid(fleet.0)).await;
                tenant = tenant.saturating_add(1);
            }
        });
    }

    async fn commit(&self, conn: &mut PgConnection, tenant: usize) {
        let mut tx = conn.begin().await.expect("a transaction");
        let enqueued = self.outbox.enqueue(&mut tx, event(tenant)).await;
        let id = enqueued.expect("an event").id().to_string();
        tx.commit().await.expect("a commit");
        self.dispatcher.wake();
        let mut committed = self
            .committed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        committed.insert(id, Instant::now());
    }

    pub(super) fn committed(&self) -> HashMap<String, Instant> {
        let committed = self.committed.lock();
        committed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Wait until no attempt is under way or due.
    pub(super) fn settle(&self) {
        let search = |state| Search::newest(1).state(state);
        loop {
            let open = self.runtime.block_on(async {
                let sending = self.outbox.find(search(DeliveryState::Sending)).await;
                let pending = self.outbox.find(search(DeliveryState::Pending)).await;
                [sending, pending].map(|found| found.expect("deliveries").len())
            });
            if open == [0, 0] {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
