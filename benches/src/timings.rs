//! What many calls took.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use webhook_benches::quantile;

/// Calls that were made by several callers, each waiting for its answer before its next call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timings {
    calls: Vec<f64>,
    took: Duration,
}

/// What several callers have yet to do.
#[derive(Debug)]
pub(crate) struct Work<T>(Arc<Mutex<std::vec::IntoIter<T>>>);

impl Timings {
    /// Of `calls`, made within `took`.
    pub(crate) fn new(calls: impl IntoIterator<Item = Duration>, took: Duration) -> Self {
        let calls = calls.into_iter().map(|call| call.as_secs_f64());
        Self {
            calls: calls.collect(),
            took,
        }
    }

    /// Of so many things done within `took`, whose single times are not known.
    pub(crate) fn of_many(count: usize, took: Duration) -> Self {
        Self::new(vec![Duration::ZERO; count], took)
    }

    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    /// Calls a second.
    pub(crate) fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "below 2^52")]
        let calls = self.calls.len() as f64;
        calls / self.took.as_secs_f64()
    }

    /// Seconds that half of the calls did not exceed.
    pub(crate) fn median(&self) -> f64 {
        quantile(self.calls.iter().copied(), 0.5)
    }

    /// Seconds that 99 of 100 calls did not exceed.
    pub(crate) fn p99(&self) -> f64 {
        quantile(self.calls.iter().copied(), 0.99)
    }
}

impl<T> Work<T> {
    pub(crate) fn new(items: Vec<T>) -> Self {
        Self(Arc::new(Mutex::new(items.into_iter())))
    }

    pub(crate) fn next(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}

impl<T> Clone for Work<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Let `callers` share `items`, one call each.
pub(crate) async fn crowd<T, F, R>(items: Vec<T>, callers: usize, call: F) -> Timings
where
    T: Send + 'static,
    F: Fn(T) -> R + Clone + Send + 'static,
    R: Future<Output = ()> + Send,
{
    let work = Work::new(items);
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let (work, call) = (work.clone(), call.clone());
        tasks.spawn(async move {
            let mut calls = Vec::new();
            while let Some(item) = work.next() {
                let began = Instant::now();
                call(item).await;
                calls.push(began.elapsed());
            }
            calls
        });
    }
    let calls = tasks.join_all().await;
    Timings::new(calls.into_iter().flatten(), began.elapsed())
}

/// One call at a time, after pauses in which everything falls asleep.
pub(crate) async fn alone<T>(items: Vec<T>, call: impl AsyncFn(T)) -> Timings {
    let began = Instant::now();
    let mut calls = Vec::new();
    for item in items {
        tokio::time::sleep(PAUSE).await;
        let began = Instant::now();
        call(item).await;
        calls.push(began.elapsed());
    }
    Timings::new(calls, began.elapsed())
}

const PAUSE: Duration = Duration::from_millis(2);
