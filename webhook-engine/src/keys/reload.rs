//! Rounds over all endpoints: files read again, changes adopted, keys past their end reported.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use webhook_core::bounds::ADVISED_SECRET_BYTES;
use webhook_core::ledger::{Ledger, RegisteredEndpoint, Registration};
use webhook_core::{KeyInfo, Keyring};

use super::listed::{Listed, Proof, gone};
use super::{Cause, KeyStore, KeysError};
use crate::built::Built;
use crate::shared::Shared;
use crate::telemetry;

/// What was said in the log, lest every round says it again. One round at a time.
#[derive(Debug, Default)]
pub(crate) struct Reload(Mutex<Said>);

#[derive(Debug, Default)]
struct Said(HashMap<(Arc<str>, &'static str), (String, Instant)>);

/// Pause between two rounds. A change is read twice, so adopted after one to two of them.
const ROUND: Duration = Duration::from_secs(2);
/// Longest reading of one endpoint's files.
const READING: Duration = Duration::from_secs(10);
/// Longest wait for the ledger's word on new keys.
const REGISTERING: Duration = Duration::from_secs(30);
/// A fault that stands is said again after a minute, a key past its end after an hour.
const SAY_FAULT: Duration = Duration::from_mins(1);
const SAY_PAST_END: Duration = Duration::from_hours(1);

/// Make rounds until the engine shuts down.
pub(crate) async fn keep_up<L: Ledger>(shared: Arc<Shared<L>>) {
    let stop = &shared.life.dequeuing;
    let rounds = async {
        report_past_end(&shared, &mut *shared.reload.0.lock().await);
        loop {
            tokio::time::sleep(ROUND).await;
            let _ = round(&shared, Proof::Twice).await;
        }
    };
    stop.run_until_cancelled(rounds).await;
}

/// Make a round now, and take what stands in the files for whole.
pub(crate) async fn reload<L: Ledger>(shared: &Shared<L>) -> Result<(), KeysError> {
    round(shared, Proof::Said).await
}

/// What the ledger is to know, once `instead` is in use.
pub(crate) fn registration<L: Ledger>(
    shared: &Shared<L>,
    instead: Option<(&str, &Keyring)>,
) -> Registration {
    let endpoints = shared.endpoints.iter().map(|served| {
        let built = &served.built;
        let keys = match (&built.keys, instead) {
            (_, Some((name, ring))) if *built.name == *name => ring.fingerprints().collect(),
            (KeyStore::Listed(listed), _) => listed.current().fingerprints().collect(),
            // The keys of a source cannot be listed.
            (KeyStore::Source(_), _) => Vec::new(),
        };
        RegisteredEndpoint::new(built.name.clone(), keys, built.secret_is_shared)
    });
    Registration::new(endpoints.collect())
}

/// Warn of secrets that are shorter than they should be.
pub(crate) fn warn_of_short_keys(endpoint: &str, ring: &Keyring) {
    if ring.short_keys() > 0 {
        tracing::warn!(
            endpoint,
            "a secret is shorter than the advised {ADVISED_SECRET_BYTES} bytes"
        );
    }
}

/// Every endpoint is tried; the first fault is told.
async fn round<L: Ledger>(shared: &Shared<L>, proof: Proof) -> Result<(), KeysError> {
    let mut said = shared.reload.0.lock().await;
    let mut first = Ok(());
    for served in &shared.endpoints {
        let built = &served.built;
        let KeyStore::Listed(listed) = &built.keys else {
            continue;
        };
        let fault = match changed(shared, listed, proof).await {
            Ok(None) => Ok(()),
            Ok(Some(ring)) => adopt(shared, built, listed, ring).await,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = fault {
            telemetry::key_reload(&built.name, "refused");
            let text = fault.to_string();
            if said.is_news(&built.name, "fault", &text, SAY_FAULT) {
                tracing::error!(
                    endpoint = %built.name, fault = text,
                    "keys cannot be reloaded: the last good ones stay in use"
                );
            }
            first = first.and(Err(fault));
        } else if said.forget(&built.name, "fault") {
            tracing::info!(endpoint = %built.name, "keys can be reloaded again");
        }
    }
    report_past_end(shared, &mut said);
    first
}

async fn changed<L: Ledger>(
    shared: &Shared<L>,
    listed: &Arc<Listed>,
    proof: Proof,
) -> Result<Option<Keyring>, KeysError> {
    let (Some(runtimes), true) = (shared.runtimes.get(), listed.may_change()) else {
        return Ok(None);
    };
    let reading = runtimes.control().spawn_blocking({
        let listed = listed.clone();
        move || listed.changed(proof)
    });
    match timeout(READING, reading).await {
        Ok(Ok(changed)) => changed,
        // The engine goes down.
        Ok(Err(_)) => Ok(None),
        Err(_) => Err(Cause::Hangs.at(listed.setting())),
    }
}

/// Use `ring`, if `build()` and `start()` would have let it pass.
async fn adopt<L: Ledger>(
    shared: &Shared<L>,
    built: &Built<L::Conn>,
    listed: &Listed,
    ring: Keyring,
) -> Result<(), KeysError> {
    let refused = |cause: Cause| Err(cause.at(listed.setting()));
    for other in &shared.endpoints {
        let other = &other.built;
        let may_share = other.secret_is_shared && built.secret_is_shared;
        if other.name == built.name || may_share {
            continue;
        }
        if let KeyStore::Listed(theirs) = &other.keys {
            let theirs = theirs.current();
            if gone(&ring, &theirs).len() < ring.fingerprints().count() {
                return refused(Cause::Shared(other.name.clone()));
            }
        }
    }
    let registration = registration(shared, Some((&built.name, &ring)));
    let registered = timeout(REGISTERING, shared.ledger.prepare(registration));
    match registered.await {
        Ok(Ok(notices)) => {
            for notice in notices {
                tracing::warn!(%notice, "the ledger has something to say");
            }
        }
        Ok(Err(fault)) => return refused(Cause::Ledger(fault.to_string())),
        Err(_) => return refused(Cause::Ledger("the ledger does not answer".to_owned())),
    }
    warn_of_short_keys(&built.name, &ring);
    let before = listed.adopt(ring);
    let now = listed.current();
    let names = |keys: Vec<KeyInfo>| {
        let names: Vec<String> = keys.iter().map(KeyInfo::name).collect();
        names.join(", ")
    };
    // Fewer keys are never in use without a word.
    tracing::warn!(
        endpoint = %built.name,
        added = names(gone(&now, &before)),
        removed = names(gone(&before, &now)),
        "keys were reloaded"
    );
    telemetry::key_reload(&built.name, "adopted");
    Ok(())
}

/// Say which keys verify nothing any more and are still there.
fn report_past_end<L: Ledger>(shared: &Shared<L>, said: &mut Said) {
    let now = shared.now().unix_secs();
    for served in &shared.endpoints {
        let built = &served.built;
        let KeyStore::Listed(listed) = &built.keys else {
            continue;
        };
        let over = past_end(&listed.current(), now);
        telemetry::keys_past_end(&built.name, over.len());
        if over.is_empty() {
            said.forget(&built.name, "past end");
            continue;
        }
        let names = over.join(", ");
        if said.is_news(&built.name, "past end", &names, SAY_PAST_END) {
            tracing::warn!(
                endpoint = %built.name, keys = names,
                "keys are past their `retire_at` and refused: remove them"
            );
        }
    }
}

fn past_end(ring: &Keyring, unix_secs: i64) -> Vec<String> {
    ring.infos()
        .filter(|key| key.is_over(unix_secs))
        .map(|key| key.name())
        .collect()
}

impl Said {
    /// Whether `text` is to be said now: it is new, or was said long ago.
    fn is_news(
        &mut self,
        endpoint: &Arc<str>,
        kind: &'static str,
        text: &str,
        again: Duration,
    ) -> bool {
        let now = Instant::now();
        let key = (endpoint.clone(), kind);
        let is_old = self
            .0
            .get(&key)
            .is_some_and(|(said, when)| said == text && now.duration_since(*when) < again);
        if !is_old {
            self.0.insert(key, (text.to_owned(), now));
        }
        !is_old
    }

    /// Whether something had been said.
    fn forget(&mut self, endpoint: &Arc<str>, kind: &'static str) -> bool {
        self.0.remove(&(endpoint.clone(), kind)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use webhook_core::{KeyConfig, SecretFormat};

    use super::*;

    #[test]
    fn keys_past_their_end_are_named() {
        let keys = [
            KeyConfig::new("0123456789abcdef-a").id("a"),
            KeyConfig::new("0123456789abcdef-b").id("b").retire_at(100),
            KeyConfig::new("0123456789abcdef-c").id("c").retire_at(200),
        ];
        let ring = Keyring::build(SecretFormat::Text { prefix: "" }, keys).unwrap();
        assert!(past_end(&ring, 99).is_empty());
        assert_eq!(past_end(&ring, 100), ["b"]);
        assert_eq!(past_end(&ring, 200), ["b", "c"]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_stands_is_said_again_after_a_while_and_news_at_once() {
        let mut said = Said::default();
        let here: Arc<str> = "here".into();
        let mut news = |text: &str| said.is_news(&here, "fault", text, SAY_FAULT);
        assert!(news("a"));
        assert!(!news("a"));
        assert!(news("b"));
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(!news("b"));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(news("b"));
        assert!(said.forget(&here, "fault") && !said.forget(&here, "fault"));
    }
}
