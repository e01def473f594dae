//! What handlers do here, and what they remember.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use webhook_actix::{Data, EffectKey, EventId, HandlerError, Tx, Unsigned, webhook};
use webhook_github::GitHub;
use webhook_tests::stores::Effects;
use webhook_timestamped::Timestamped;

use crate::batches::Batches;

#[webhook(provider = Timestamped, event = "note.created")]
pub(crate) async fn on_note<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

#[webhook(provider = Batches, event = "item")]
pub(crate) async fn on_item<C: Effects>(id: EventId, db: &mut C) -> Result<(), sqlx::Error> {
    db.record(id.as_str()).await
}

/// Fails once.
#[webhook(provider = GitHub, event = "push")]
pub(crate) async fn on_push<C: Effects>(
    id: Unsigned<EventId>,
    log: Data<Log>,
    db: &mut C,
) -> Result<(), HandlerError> {
    let id = id.dangerous_trust();
    db.record(id.as_str()).await?;
    log.fail_once(id.as_str(), "")
}

/// Fails once, when the mail is sent.
#[webhook(provider = Timestamped, event = "mail.wanted", at_least_once)]
pub(crate) async fn on_mail(
    id: EventId,
    key: EffectKey,
    log: Data<Log>,
) -> Result<(), HandlerError> {
    log.fail_once(id.as_str(), key.as_str())
}

/// Fails once, when the row is written.
#[webhook(provider = Timestamped, event = "credit.wanted")]
pub(crate) async fn on_credit<C: Effects>(
    id: EventId,
    key: EffectKey,
    log: Data<Log>,
    db: &mut C,
) -> Result<(), HandlerError> {
    db.record(id.as_str()).await?;
    log.fail_once(id.as_str(), key.as_str())
}

/// Does what an async function must not.
#[webhook(provider = Timestamped, event = "block")]
pub(crate) async fn on_block<C: Effects>(
    id: EventId,
    log: Data<Log>,
    mut tx: Tx<'_, C>,
) -> Result<(), HandlerError> {
    log.note(id.as_str(), "");
    log.block();
    tx.begin().await?.record(id.as_str()).await?;
    Ok(())
}

#[webhook(provider = Timestamped, event = "poison", at_least_once)]
pub(crate) async fn on_poison(id: EventId, log: Data<Log>) -> Result<(), HandlerError> {
    log.note(id.as_str(), "");
    Err("poison".into())
}

/// What handlers said, by event.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    notes: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
    is_unblocked: Arc<AtomicBool>,
}

impl Log {
    pub(crate) fn note(&self, id: &str, said: &str) -> usize {
        let mut notes = self.notes.lock().unwrap();
        let notes = notes.entry(id.to_owned()).or_default();
        notes.push(said.to_owned());
        notes.len()
    }

    pub(crate) fn fail_once(&self, id: &str, said: &str) -> Result<(), HandlerError> {
        if self.note(id, said) == 1 {
            return Err("the first time".into());
        }
        Ok(())
    }

    pub(crate) fn of(&self, id: &str) -> Vec<String> {
        let notes = self.notes.lock().unwrap();
        notes.get(id).cloned().unwrap_or_default()
    }

    /// Take the thread until somebody unblocks all.
    pub(crate) fn block(&self) {
        while !self.is_unblocked.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn unblock(&self) {
        self.is_unblocked.store(true, Ordering::SeqCst);
    }
}
