//! The rules of a ledger, as tests that any implementation runs.
//!
//! A ledger is what stands between a provider's repetitions and an effect that must happen once. What
//! [`Ledger`](webhook_core::ledger::Ledger) promises in words is here about 150 times as a case: an async function
//! over an empty [`Store`] that panics if a rule is broken. All stores pass the same cases; there is
//! no list of exceptions.
//!
//! # Running it
//!
//! Implement [`Store`], which is how the suite makes an empty store, opens it once more as another
//! replica would, moves its clock, and lets a handler do something. Then let
//! [`ledger_conformance!`](crate::ledger_conformance) make one test of each case. In the ledger's crate,
//! with `webhook-testkit` among its `dev-dependencies`, this is the whole of `tests/ledger.rs` for
//! a ledger on SQLite:
//!
//! ```
//! # use webhook_sqlx::SqliteLedger as AcmeLedger;
//! use std::error::Error;
//! use std::path::PathBuf;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use sqlx::sqlite::SqliteConnectOptions;
//! use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};
//! use webhook_testkit::ledger::{Act, Store};
//!
//! webhook_testkit::ledger_conformance!(Acme);
//!
//! /// A file of one case's own.
//! struct Acme(PathBuf);
//!
//! impl Store for Acme {
//!     type Ledger = AcmeLedger;
//!
//!     async fn create() -> Self {
//!         static CREATED: AtomicU32 = AtomicU32::new(0);
//!         let number = CREATED.fetch_add(1, Ordering::Relaxed);
//!         let name = format!("acme-{}-{number}", std::process::id());
//!         let store = Self(std::env::temp_dir().join(name));
//!         std::fs::create_dir(&store.0).unwrap();
//!         let application = "create table effect (event text not null);
//!             create table latch (n integer not null);
//!             insert into latch values (0)";
//!         store.execute(application.to_owned()).await;
//!         store
//!     }
//!
//!     async fn destroy(&self) {
//!         let _ = std::fs::remove_dir_all(&self.0);
//!     }
//!
//!     async fn open(&self) -> AcmeLedger {
//!         AcmeLedger::open(self.0.join("app.db").to_str().unwrap()).await.unwrap()
//!     }
//!
//!     async fn shift(&self, millis: i64) {
//!         let moments = [
//!             ("webhook_claim", vec!["pruned_at"]),
//!             ("webhook_inbox", vec!["due_at", "received_at", "last_seen_at", "settled_at", "replayed_at"]),
//!             ("webhook_quarantine", vec!["first_seen_at", "last_seen_at", "released_at"]),
//!             ("webhook_signing_key", vec!["first_seen_at", "last_live_at", "pruned_at"]),
//!         ];
//!         for (table, columns) in moments {
//!             for column in columns {
//!                 self.execute(format!("update {table} set {column} = {column} - {millis}")).await;
//!             }
//!         }
//!     }
//!
//!     async fn keys(&self) -> u64 {
//!         self.count("select count(*) from webhook_claim").await
//!     }
//!
//!     async fn effects(&self) -> u64 {
//!         self.count("select count(*) from effect").await
//!     }
//!
//!     async fn act(conn: &mut SqliteConnection, act: Act) -> Result<(), Box<dyn Error + Send + Sync>> {
//!         let sql = match act {
//!             Act::Begin => "begin",
//!             Act::Commit => "commit",
//!             Act::Effect => "insert into effect values ('done')",
//!             Act::Lock => "update latch set n = n + 1",
//!             Act::Refused => "insert into effect values (null)",
//!             Act::Rollback => "rollback",
//!             Act::Slow => {
//!                 "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000000)
//!                  select count(*) from n"
//!             }
//!         };
//!         sqlx::raw_sql(sql).execute(conn).await?;
//!         Ok(())
//!     }
//! }
//!
//! impl Acme {
//!     async fn connect(&self) -> SqliteConnection {
//!         let file = SqliteConnectOptions::new().filename(self.0.join("app.db"));
//!         file.create_if_missing(true).connect().await.unwrap()
//!     }
//!
//!     async fn execute(&self, sql: String) {
//!         let mut conn = self.connect().await;
//!         sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
//!     }
//!
//!     async fn count(&self, sql: &'static str) -> u64 {
//!         let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut self.connect().await).await.unwrap();
//!         count.try_into().unwrap()
//!     }
//! }
//! # fn main() {
//! #     use webhook_testkit::ledger::{cases, run};
//! #     run(cases::claims::a_repeat_is_in_flight_and_then_a_duplicate::<Acme>);
//! #     run(cases::leases::an_expired_lease_is_taken_over::<Acme>);
//! #     run(cases::transactions::effect_and_completion_commit_together::<Acme>);
//! # }
//! ```
//!
//! `cargo test --test ledger fencing::` runs one theme, the name of a case that case. Two stores of one crate
//! stand in two modules. Cases run at the same time, each on a store and in a runtime of its own; those
//! that wait for real time wait for a few seconds at most, and none measures a speed.
//!
//! # What is demanded
//!
//! | theme | rule |
//! | --- | --- |
//! | [`claims`](cases::claims), [`races`](cases::races), [`group`](cases::group) | of any number of claims of one event, on any number of replicas and in any batch, one wins, and a claim whose caller went away is whole or absent |
//! | [`identifiers`](cases::identifiers) | ids, accounts, tenants and endpoints are compared byte for byte: every length up to the bound, every script, every normal form; one id at two endpoints, or of two accounts, is two events |
//! | [`judgement`](cases::judgement) | each cell of the rule table of [`NewEvent::judge`](webhook_core::NewEvent::judge), in each state, also after payload and row are gone |
//! | [`quarantined`](cases::quarantined) | what does not fit is kept once, counted, and holds no key |
//! | [`leases`](cases::leases), [`fencing`](cases::fencing) | an event has one holder; who lost its lease can do nothing; crashes, failures and hand-backs are counted apart; tokens never return |
//! | [`clock`](cases::clock) | a store's clock that was set back makes nothing new, takes no lease away, and keeps nothing waiting |
//! | [`transactions`](cases::transactions), [`inline`](cases::inline) | effect and completion are one; a handler that ends its transaction is found out |
//! | [`ordering`](cases::ordering) | events of a key run one at a time, as they were stored |
//! | [`retention`](cases::retention) | only settled events are forgotten, a row with its keys, and a tombstone with its signing key |
//! | [`operators`](cases::operators) | releases, discards and replays happen once, whoever else gives the order |
//! | [`prepared`](cases::prepared), [`checks`](cases::checks) | what must not start does not, and what should be known is told |
//!
//! A case's name is its rule. Where it begins with a letter and a number, these name the hazard that it
//! closes, in `docs/hazards.md`.
//!
//! # What it cannot see
//!
//! Power cuts, and a server that is killed: see that the store is as durable as promised, by its settings. What
//! is kept in columns that no method shows. Whether statements find their indexes. And what only
//! your database can get wrong: a commit whose answer was lost, session state that crosses events, an
//! isolation that is inherited. A store's own tests are for these; [`steps`] and [`Post`] are public for them.
//!
//! # That it bites
//!
//! This crate's own tests run the cases on ledgers that break one rule each and expect them to fail
//! (`tests/mutants`). A new rule brings a mutant.
//!
//! # Adding a case
//!
//! A `pub async fn` in the module of its theme, and a line in `list.rs`. Without the line the compiler calls
//! it dead code.

mod checks;
mod claims;
mod clock;
mod fencing;
mod group;
mod identifiers;
mod inline;
mod judgement;
mod leases;
mod list;
mod operators;
mod ordering;
mod post;
mod prepared;
mod quarantined;
mod races;
mod retention;
mod run;
pub mod steps;
mod store;
mod transactions;

pub use list::{all, cases};
pub use post::{ENDPOINT, Post, TYPE};
pub use run::run;
pub use store::{Act, Case, Conn, Store, Tx};
