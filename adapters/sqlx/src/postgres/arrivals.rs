//! Word of events that another process stored: NOTIFY after the claim, LISTEN before the wait.
//!
//! A hint and no promise: it is sent outside every transaction, because a NOTIFY inside takes a lock on
//! the whole database at commit, and not more often than ten times a second. Workers poll behind it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

use crate::executor::Executor;

/// The bells of one process.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    heard: Mutex<Vec<Arc<str>>>,
    bell: Notify,
    told: Mutex<HashMap<Arc<str>, Instant>>,
}

impl Arrivals {
    /// Wait until events of an endpoint were stored somewhere.
    pub(super) async fn next(&self) -> Arc<str> {
        loop {
            if let Some(endpoint) = lock(&self.heard).pop() {
                return endpoint;
            }
            self.bell.notified().await;
        }
    }

    /// Whether the others should be told of `endpoint` now, or were told a moment ago.
    pub(super) fn is_news(&self, endpoint: &Arc<str>) -> bool {
        let mut told = lock(&self.told);
        let now = Instant::now();
        let is_news = told
            .get(endpoint)
            .is_none_or(|last| now.duration_since(*last) >= PAUSE);
        if is_news {
            told.insert(endpoint.clone(), now);
        }
        is_news
    }

    fn hear(&self, endpoint: &str) {
        let mut heard = lock(&self.heard);
        if !heard.iter().any(|known| **known == *endpoint) {
            heard.push(endpoint.into());
        }
        drop(heard);
        self.bell.notify_one();
    }
}

/// Listen, beside everything else, until the sender that is returned is dropped.
pub(super) fn listen(
    executor: &Executor,
    pool: PgPool,
    arrivals: Arc<Arrivals>,
) -> oneshot::Sender<Infallible> {
    let (gone, mut is_gone) = oneshot::channel();
    executor.detach(async move {
        loop {
            tokio::select! {
                // The listener goes with it, and its connection: nobody uses it half-way.
                _ = &mut is_gone => return,
                () = listen_once(&pool, &arrivals) => {}
            }
            tokio::select! {
                _ = &mut is_gone => return,
                () = sleep(AGAIN) => {}
            }
        }
    });
    gone
}

/// Listen until the connection breaks. What is said between two of them is lost: workers poll.
async fn listen_once(pool: &PgPool, arrivals: &Arrivals) {
    let Ok(mut listener) = PgListener::connect_with(pool).await else {
        return;
    };
    if listener.listen(CHANNEL).await.is_err() {
        return;
    }
    while let Ok(Some(word)) = listener.try_recv().await {
        arrivals.hear(word.payload());
    }
}

/// Tell every process, this one included.
pub(super) async fn tell(pool: &PgPool, endpoint: &str) {
    let told = sqlx::query("select pg_catalog.pg_notify($1, $2)")
        .bind(CHANNEL)
        .bind(endpoint)
        .execute(pool)
        .await;
    if told.is_err() {
        tracing::debug!("other processes were not told of an arrival: they look for themselves");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const CHANNEL: &str = "webhook_arrivals";
/// Shortest time between two words about one endpoint.
const PAUSE: Duration = Duration::from_millis(100);
/// Before listening again on a new connection.
const AGAIN: Duration = Duration::from_secs(1);
