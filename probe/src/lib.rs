//! An attack suite for webhook endpoints, in whatever language they are written.
//!
//! The probe is a provider that misbehaves: it sends genuine deliveries, forgeries, replays, races and floods to one URL and
//! judges what comes back. Where somebody counts effects for it, it judges those, too: an answer is a promise, an effect is a
//! fact.
//!
//! ```no_run
//! use webhook_probe::{Effects, Probe, Target};
//!
//! # async fn probe() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::resolve("http://127.0.0.1:8080/webhooks/stripe").await?;
//! assert!(target.is_local(), "ask before you attack what is not yours");
//! let probe = Probe::new(target, "stripe")
//!     .secret(std::env::var("STRIPE_WEBHOOK_SECRET")?, None)
//!     .effects(Effects::Url("http://127.0.0.1:8080/effects/stripe/{id}".to_owned()));
//! let report = probe.run(std::future::pending(), |_| {}).await?;
//! print!("{}", report.text());
//! assert!(report.is_success());
//! # Ok(())
//! # }
//! ```
//!
//! # What is tried
//!
//! | group | |
//! |---|---|
//! | `authenticity` | signatures missing, empty, repeated, cut, doubled, of others, of another scheme; bodies changed |
//! | `freshness` | stale, from the future, at the edges; timestamps changed, doubled, misspelled |
//! | `raw-bytes` | JSON that means the same in other bytes; genuine bytes that parsers like to change |
//! | `single-use` | replays, retries, races of 2 to 50, ids and types changed, a restart |
//! | `limits` | bodies and headers without end, slow bodies, chunks, gzip |
//! | `answers` | what refusals tell, what they take, duplicates, promptness |
//! | `rotation` | several keys, retired keys, unknown ids of keys |
//!
//! Each case says what is sent, what a safe receiver answers, and why; what came of it is in the report with a line of the
//! shell that does it again. The tables are in `src/cases`: a row is a case.
//!
//! # What it will not do
//!
//! Talk to any other address than the target's and that of the effects' counter; follow a redirect; go on for longer than its
//! [`Bounds`]; put a secret into a report. Signatures are in reports, and some of them are valid: of made-up events, but treat a
//! report of a live endpoint as you would treat its access log.
//!
//! A pass is no proof. `not judged` is no pass: what nobody counted, nobody knows.

mod case;
mod cases;
mod client;
mod curl;
mod effects;
mod judge;
mod message;
mod probe;
mod report;
mod run;
mod stage;
mod statistics;
mod target;

pub use case::{Group, Verdict};
pub use cases::cases;
pub use effects::Effects;
pub use probe::{Bounds, CannotProbe, Probe};
pub use report::{Finding, Report};
pub use stage::{Exchange, Watched};
pub use target::{Target, UnusableUrl};
