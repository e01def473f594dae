//! One case, one store, one runtime.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::ledger::store::Store;

/// Run one case on a store of its own, in a runtime of its own. The store is removed whatever happens.
///
/// [`ledger_conformance!`](crate::ledger_conformance) calls it once a case; a store's own tests, which
/// see what is not every store's, may call it too.
///
/// # Panics
///
/// If the case does.
pub fn run<S: Store, F: Future<Output = ()>>(case: impl FnOnce(Arc<S>) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let store = Arc::new(runtime.block_on(S::create()));
    let end = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(case(store.clone()));
    }));
    runtime.block_on(store.destroy());
    end.unwrap_or_else(|panic| resume_unwind(panic));
}
