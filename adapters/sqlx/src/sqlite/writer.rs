//! One writer at a time, in the order in which they came.
//!
//! SQLite itself has one writer and no queue. Every transaction of this process that writes to a file
//! waits here first, so that a claim made while a handler works is late and not refused. At most one
//! handler is in the queue: a claim waits for one of them, never for several.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as BlockingMutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;
use webhook_core::ledger::LedgerError;

use crate::error::{StoreFault, contention};

/// The queue of one file.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pen: Arc<Mutex<()>>,
    gate: Arc<Mutex<()>>,
}

/// A handler's place in the queue.
#[derive(Debug)]
pub(super) struct Gate {
    _place: OwnedMutexGuard<()>,
}

/// The right to write. Released when what was written is committed, rolled back or closed.
#[derive(Debug)]
pub(super) struct Turn {
    _pen: OwnedMutexGuard<()>,
    _gate: Option<Gate>,
}

impl Writer {
    /// The queue of the file at `path`, shared by every ledger of this process that has it open.
    pub(super) fn of(path: &Path) -> Arc<Self> {
        static WRITERS: BlockingMutex<Option<HashMap<PathBuf, Weak<Writer>>>> =
            BlockingMutex::new(None);
        let mut writers = WRITERS.lock().unwrap_or_else(PoisonError::into_inner);
        let writers = writers.get_or_insert_default();
        writers.retain(|_, writer| writer.strong_count() > 0);
        if let Some(writer) = writers.get(path).and_then(Weak::upgrade) {
            return writer;
        }
        let writer = Arc::default();
        writers.insert(path.to_owned(), Arc::downgrade(&writer));
        writer
    }

    /// Wait for the pen.
    pub(super) async fn turn(&self) -> Result<Turn, LedgerError> {
        self.take_pen(None, LONGEST_QUEUE).await
    }

    /// Wait for the only place that handlers have in the queue.
    pub(super) async fn gate(&self, at_most: Duration) -> Result<Gate, LedgerError> {
        timeout(at_most, self.gate.clone().lock_owned())
            .await
            .map(|place| Gate { _place: place })
            .map_err(|_| contention(StoreFault::Writer))
    }

    /// Wait for the pen, as a handler.
    pub(super) async fn turn_of_handler(
        &self,
        gate: Gate,
        at_most: Duration,
    ) -> Result<Turn, LedgerError> {
        self.take_pen(Some(gate), at_most).await
    }

    async fn take_pen(&self, gate: Option<Gate>, at_most: Duration) -> Result<Turn, LedgerError> {
        let pen = timeout(at_most, self.pen.clone().lock_owned())
            .await
            .map_err(|_| contention(StoreFault::Writer))?;
        Ok(Turn {
            _pen: pen,
            _gate: gate,
        })
    }
}

/// Claims wait at most this long; a handler that writes for longer is cut off by its own limit.
const LONGEST_QUEUE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_queue() {
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        let first = Writer::of(a);
        assert!(Arc::ptr_eq(&first, &Writer::of(a)));
        assert!(!Arc::ptr_eq(&first, &Writer::of(b)));
    }
}
