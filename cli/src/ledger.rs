//! A ledger by its URL.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use webhook_core::InboxId;
use webhook_core::ledger::{
    Check, Found, Ledger as _, LedgerError, Pruned, QuarantineId, Quarantined, Release, Replay,
    Replayable, Retention, Search,
};
use webhook_engine::SystemClock;
use webhook_sqlx::{PostgresLedger, SqliteLedger};

use crate::fault::Fault;

/// Which ledger.
#[derive(Debug, Clone, Args)]
pub(crate) struct LedgerArgs {
    /// The ledger: `sqlite://app.db` or `postgres://host/database` [default: what the variable `WEBHOOK_LEDGER` says]
    #[arg(long, global = true, value_name = "URL")]
    ledger: Option<String>,
}

/// One of the two stores.
pub(crate) enum Ledger {
    Postgres(PostgresLedger),
    Sqlite(SqliteLedger),
}

/// The same call on either.
macro_rules! ask {
    ($ledger:expr, $call:ident($($argument:expr),*)) => {
        match $ledger {
            Ledger::Postgres(ledger) => ledger.$call($($argument),*).await,
            Ledger::Sqlite(ledger) => ledger.$call($($argument),*).await,
        }
    };
}

impl LedgerArgs {
    /// Open it. Nothing is created and no schema changed.
    ///
    /// # Errors
    ///
    /// A URL that cannot be used, a store that is not there.
    pub(crate) async fn open(&self) -> Result<Ledger, Fault> {
        let url = self
            .ledger
            .clone()
            .or_else(|| std::env::var("WEBHOOK_LEDGER").ok());
        let url = url.ok_or_else(|| Fault::usage("--ledger is missing: the URL of the ledger"))?;
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let ledger = PostgresLedger::connect(&url)
                .await
                .map_err(|error| failed(&error))?;
            return Ok(Ledger::Postgres(ledger));
        }
        if url.contains("://") && !url.starts_with("sqlite:") {
            return Err(Fault::usage(
                "a ledger's URL begins with `sqlite:` or `postgres:`",
            ));
        }
        let path = url.trim_start_matches("sqlite:").trim_start_matches("//");
        let path = path.split('?').next().unwrap_or_default();
        // Opening would create it.
        if !Path::new(path).is_file() {
            return Err(Fault::unreachable(format!("there is no file {path}")));
        }
        let ledger = SqliteLedger::open(&url)
            .await
            .map_err(|error| failed(&error))?;
        Ok(Ledger::Sqlite(ledger))
    }
}

impl Ledger {
    pub(crate) async fn find(&self, what: Search) -> Result<Vec<Found>, Fault> {
        ask!(self, find(what)).map_err(|error| failed(&error))
    }

    pub(crate) async fn quarantined(
        &self,
        endpoint: Option<&str>,
        after: Option<QuarantineId>,
        limit: u32,
    ) -> Result<Vec<Quarantined>, Fault> {
        ask!(self, quarantined(endpoint.map(Arc::from), after, limit))
            .map_err(|error| failed(&error))
    }

    pub(crate) async fn replay(
        &self,
        id: InboxId,
        actor: &str,
        which: Replayable,
    ) -> Result<Replay, Fault> {
        ask!(self, replay(id, actor.to_owned(), which)).map_err(|error| failed(&error))
    }

    pub(crate) async fn replay_ignored(
        &self,
        endpoint: &str,
        types: &[String],
        actor: &str,
    ) -> Result<u64, Fault> {
        ask!(
            self,
            replay_ignored(endpoint.into(), types.into(), actor.to_owned())
        )
        .map_err(|error| failed(&error))
    }

    pub(crate) async fn release(&self, id: QuarantineId, actor: &str) -> Result<Release, Fault> {
        ask!(self, release(id, actor.to_owned())).map_err(|error| failed(&error))
    }

    pub(crate) async fn discard(&self, id: QuarantineId, actor: &str) -> Result<bool, Fault> {
        ask!(self, discard(id, actor.to_owned())).map_err(|error| failed(&error))
    }

    pub(crate) async fn prune(&self, what: Retention) -> Result<Pruned, Fault> {
        ask!(self, prune(what)).map_err(|error| failed(&error))
    }

    pub(crate) async fn check(&self) -> Vec<Check> {
        let clock = Arc::new(SystemClock::default());
        ask!(self, check(clock))
    }

    pub(crate) async fn close(&self) {
        ask!(self, close());
    }
}

fn failed(error: &LedgerError) -> Fault {
    let mut words = format!("the ledger: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    Fault::unreachable(words)
}
