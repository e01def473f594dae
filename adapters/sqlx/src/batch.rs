//! Group commit: calls that come while a statement is under way share the next one.
//!
//! A lone call is sent at once and waits for nobody. What arrives meanwhile is taken together by the
//! next statement: the same durability for all, at the price of one commit. One call's fault never
//! fails another's: a batch that fails is run again call by call, unless the store is away.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use webhook_core::BoxFuture;
use webhook_core::ledger::{LedgerError, LedgerFault};

use crate::error::{StoreFault, again, unavailable};
use crate::executor::Executor;

/// The queue before one kind of statement.
pub(crate) struct Batcher<C, A> {
    queue: mpsc::Sender<Waiting<C, A>>,
    /// Bytes that may still wait.
    bytes: Arc<Semaphore>,
}

/// One answer a call, in the calls' order.
pub(crate) type Answers<A> = BoxFuture<'static, Result<Vec<A>, LedgerError>>;

/// Where a statement runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A single call that could not be served in the lane: it may wait for whoever is in its way.
    Aside,
    /// With others behind it: it must not wait for anybody's lock for long.
    Lane,
}

/// A call, and who waits for its answer.
struct Waiting<C, A> {
    call: C,
    answer: oneshot::Sender<Result<A, LedgerError>>,
    bytes: OwnedSemaphorePermit,
}

impl<C: Clone + Send + 'static, A: Send + 'static> Batcher<C, A> {
    /// Serve calls by `run`, on the ledger's thread, until the batcher is dropped.
    ///
    /// `run` is given calls in their order and answers each in its place. It must not hold whatever
    /// owns the batcher.
    pub(crate) fn start<F, R>(executor: &Executor, run: F) -> Self
    where
        F: Fn(Vec<C>, Turn) -> R + Clone + Send + 'static,
        R: Future<Output = Result<Vec<A>, LedgerError>> + Send + 'static,
    {
        let (queue, calls) = mpsc::channel(QUEUE_CALLS);
        executor.detach(serve(calls, run));
        Self {
            queue,
            bytes: Arc::new(Semaphore::new(QUEUE_BYTES)),
        }
    }

    /// Run `call`, together with whatever comes at the same time. `bytes` is its weight in the queue.
    ///
    /// # Errors
    ///
    /// The statement's; at once if the queue is full.
    pub(crate) async fn call(&self, call: C, bytes: usize) -> Result<A, LedgerError> {
        let weight = u32::try_from(bytes.min(QUEUE_BYTES)).unwrap_or(u32::MAX);
        let bytes = self.bytes.clone().try_acquire_many_owned(weight);
        let bytes = bytes.map_err(|_| unavailable(StoreFault::Crowded))?;
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting {
            call,
            answer,
            bytes,
        };
        match self.queue.try_send(waiting) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(unavailable(StoreFault::Crowded)),
            Err(TrySendError::Closed(_)) => return Err(unavailable(StoreFault::Closed)),
        }
        answered
            .await
            .unwrap_or_else(|_| Err(unavailable(StoreFault::Closed)))
    }
}

/// A statement, given up when the store has fallen silent. The store's own timeouts are shorter.
pub(crate) fn in_time<A: Send + 'static>(
    statement: impl Future<Output = Result<Vec<A>, LedgerError>> + Send + 'static,
) -> Answers<A> {
    Box::pin(async move {
        let answers = tokio::time::timeout(PATIENCE, statement).await;
        answers.unwrap_or_else(|_| Err(unavailable(StoreFault::Silent)))
    })
}

async fn serve<C, A, F, R>(mut calls: mpsc::Receiver<Waiting<C, A>>, run: F)
where
    C: Clone + Send + 'static,
    A: Send + 'static,
    F: Fn(Vec<C>, Turn) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Vec<A>, LedgerError>> + Send + 'static,
{
    let lanes = Arc::new(Semaphore::new(LANES));
    let mut batch = Vec::new();
    let mut is_busy = false;
    while calls.recv_many(&mut batch, BATCH_CALLS).await > 0 {
        // Under load the callers of the last batch are about to call again: let them join. Nobody is
        // waited for by the clock, and a call that is alone goes at once.
        if is_busy || batch.len() > 1 {
            gather(&mut calls, &mut batch).await;
        }
        is_busy = batch.len() > 1;
        let is_full = batch.len() >= BATCH_CALLS;
        let Ok(lane) = lanes.clone().acquire_owned().await else {
            return;
        };
        let statement = execute(std::mem::take(&mut batch), run.clone());
        // A task of its own: should it panic, its callers hear of it and the queue goes on.
        let statement = tokio::spawn(async move {
            statement.await;
            drop(lane);
        });
        if !is_full || calls.len() < SECOND_LANE {
            let _ = statement.await;
        }
    }
}

/// Take what comes while other tasks get their turn, until nothing more does.
async fn gather<C, A>(calls: &mut mpsc::Receiver<Waiting<C, A>>, batch: &mut Vec<Waiting<C, A>>) {
    for _ in 0..GATHER_TURNS {
        tokio::task::yield_now().await;
        let before = batch.len();
        while batch.len() < BATCH_CALLS {
            match calls.try_recv() {
                Ok(waiting) => batch.push(waiting),
                Err(_) => break,
            }
        }
        if batch.len() == before {
            return;
        }
    }
}

async fn execute<C, A, F, R>(batch: Vec<Waiting<C, A>>, run: F)
where
    C: Clone + Send + 'static,
    A: Send + 'static,
    F: Fn(Vec<C>, Turn) -> R + Clone + Send + 'static,
    R: Future<Output = Result<Vec<A>, LedgerError>> + Send + 'static,
{
    let calls: Vec<C> = batch.iter().map(|waiting| waiting.call.clone()).collect();
    match run(calls, Turn::Lane).await {
        Ok(answers) => {
            for (waiting, answer) in batch.into_iter().zip(answers) {
                waiting.tell(Ok(answer));
            }
        }
        Err(fault) if *fault.kind() == LedgerFault::Unavailable => {
            for waiting in batch {
                waiting.tell(Err(again(&fault)));
            }
        }
        // Somebody in there is at fault, or in the way: only they shall suffer for it, beside the lane.
        Err(fault) => match <[_; 1]>::try_from(batch) {
            Ok([alone]) if !fault.is_contention() => alone.tell(Err(fault)),
            batch => {
                let batch = batch.map_or_else(std::convert::identity, Vec::from);
                for waiting in batch {
                    let run = run.clone();
                    tokio::spawn(async move {
                        let answer = run(vec![waiting.call.clone()], Turn::Aside).await;
                        let answer = answer.and_then(|answers| {
                            let answer = answers.into_iter().next();
                            answer.ok_or_else(|| unavailable(StoreFault::Silent))
                        });
                        waiting.tell(answer);
                    });
                }
            }
        },
    }
}

impl<C, A> Waiting<C, A> {
    /// A caller that went away is told nothing; what it asked for is done all the same.
    fn tell(self, answer: Result<A, LedgerError>) {
        // Whoever has its answer has left the queue.
        drop(self.bytes);
        let _ = self.answer.send(answer);
    }
}

/// Longer than any timeout of the store's: it is for one that fell silent.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most calls of one statement.
const BATCH_CALLS: usize = 256;
/// Calls and bytes that may wait; beyond them a call is refused at once.
const QUEUE_CALLS: usize = 4096;
const QUEUE_BYTES: usize = 256 * 1024 * 1024;
/// A second statement runs beside the first only while this many calls are left over by a full batch.
const SECOND_LANE: usize = 64;
const LANES: usize = 2;
const GATHER_TURNS: usize = 3;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::sync::Notify;

    use super::*;
    use crate::error::{contention, internal};

    /// Doubles numbers. The first statement waits for `go`, so that others pile up behind it.
    #[derive(Clone, Default)]
    struct Store {
        sizes: Arc<Mutex<Vec<usize>>>,
        go: Arc<Notify>,
    }

    impl Store {
        fn batcher(&self) -> Batcher<u32, u32> {
            let store = self.clone();
            Batcher::start(&Executor::start().unwrap(), move |calls, _| {
                store.run(calls)
            })
        }

        fn run(&self, calls: Vec<u32>) -> Answers<u32> {
            let store = self.clone();
            Box::pin(async move {
                let is_first = {
                    let mut sizes = store.sizes.lock().unwrap();
                    sizes.push(calls.len());
                    sizes.len() == 1
                };
                if is_first {
                    store.go.notified().await;
                }
                match calls.iter().max() {
                    Some(1000) => Err(contention(StoreFault::Unsettled)),
                    Some(1001) => Err(internal(StoreFault::Unreadable)),
                    Some(1002) => Err(unavailable(StoreFault::Silent)),
                    Some(1003) => panic!("a fault in the statement's task"),
                    _ => Ok(calls.iter().map(|number| number.wrapping_mul(2)).collect()),
                }
            })
        }

        /// Send a first call and, while it is under way, `calls`; the answers to these.
        async fn pile_up(&self, calls: &[u32]) -> Vec<Option<u32>> {
            let batcher = Arc::new(self.batcher());
            let call = |number| {
                let batcher = batcher.clone();
                tokio::spawn(async move { batcher.call(number, 1).await.ok() })
            };
            let first = call(0);
            while self.sizes.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            let calls: Vec<_> = calls.iter().map(|number| call(*number)).collect();
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            self.go.notify_one();
            assert_eq!(first.await.unwrap(), Some(0));
            let mut answers = Vec::new();
            for answer in calls {
                answers.push(answer.await.unwrap());
            }
            answers
        }
    }

    #[tokio::test]
    async fn a_lone_call_is_sent_alone_and_the_rest_together() {
        let store = Store::default();
        let numbers: Vec<u32> = (1..=50).collect();
        let answers = store.pile_up(&numbers).await;
        assert_eq!(
            answers,
            numbers.iter().map(|n| Some(n * 2)).collect::<Vec<_>>()
        );
        let sizes = store.sizes.lock().unwrap().clone();
        assert_eq!((sizes[0], sizes.iter().sum::<usize>()), (1, 51));
        assert!(sizes.len() <= 3, "{sizes:?}");
    }

    #[tokio::test]
    async fn ones_fault_is_not_anothers() {
        for culprit in [1000, 1001] {
            let answers = Store::default().pile_up(&[1, culprit, 3]).await;
            assert_eq!(answers, [Some(2), None, Some(6)], "{culprit}");
        }
    }

    #[tokio::test]
    async fn a_store_that_is_away_is_asked_once() {
        let store = Store::default();
        assert_eq!(store.pile_up(&[1, 1002, 3]).await, [None, None, None]);
        assert_eq!(store.sizes.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn a_panic_is_survived() {
        let store = Store::default();
        let batcher = store.batcher();
        store.go.notify_one();
        assert!(batcher.call(1003, 1).await.is_err());
        assert_eq!(batcher.call(4, 1).await.unwrap(), 8);
    }

    #[tokio::test]
    async fn c9_a_full_queue_refuses_at_once() {
        let store = Store::default();
        let batcher = Arc::new(store.batcher());
        let held = tokio::spawn({
            let batcher = batcher.clone();
            async move { batcher.call(1, QUEUE_BYTES).await }
        });
        while store.sizes.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        let refused = batcher.call(2, 1).await.unwrap_err();
        assert_eq!(*refused.kind(), LedgerFault::Unavailable);
        store.go.notify_one();
        assert_eq!(held.await.unwrap().unwrap(), 2);
        assert_eq!(batcher.call(2, 1).await.unwrap(), 4);
    }
}
