//! What a case plays on: fresh events, keys, a way to send, and a record of all that was sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Barrier;
use tokio::task::JoinSet;
use webhook_core::{Clock as _, Keyring, Window};
use webhook_engine::SystemClock;
use webhook_fixtures::{Delivery, Event, Mutation, Sender, Specimen};

use crate::client::{Answer, Client};
use crate::curl::curl;
use crate::effects::Effects;
use crate::message::Message;
use crate::probe::Bounds;

/// Everything that stays the same for a whole run.
pub(crate) struct Scenery {
    pub(crate) sender: Sender,
    pub(crate) event: Option<String>,
    pub(crate) client: Client,
    pub(crate) effects: Effects,
    pub(crate) restart: Option<String>,
    pub(crate) bounds: Bounds,
    pub(crate) keys: Keys,
    pub(crate) clock: SystemClock,
}

/// Keyrings, ready to sign.
pub(crate) struct Keys {
    /// The active secret.
    pub(crate) active: Keyring,
    /// Each further live secret.
    pub(crate) others: Vec<Keyring>,
    /// Each secret that is no longer taken.
    pub(crate) retired: Vec<Keyring>,
    /// The active secret under an id that it does not have.
    pub(crate) misnamed: Option<Keyring>,
    /// A stranger's and the active one, which both sign, in either order.
    pub(crate) stranger_first: Option<Keyring>,
    pub(crate) stranger_last: Option<Keyring>,
    /// A stranger's.
    pub(crate) strange: Keyring,
}

/// The stage of one case.
pub(crate) struct Stage<'r> {
    pub(crate) scenery: &'r Scenery,
    log: Mutex<Log>,
}

/// What happened on a stage.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) watched: Vec<Watched>,
    pub(crate) notes: Vec<String>,
}

/// A request that was sent, and what came of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Exchange {
    /// Which one it was.
    pub what: String,
    /// The status, if there was an answer.
    pub status: Option<u16>,
    /// The same in words: `401`, `closed without an answer`.
    pub outcome: String,
    /// Until the answer's head.
    pub took: Duration,
    /// A line of the shell that sends it again. Holds no secret; its signature may be a valid one.
    pub curl: String,
}

/// Events whose effects are counted together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Watched {
    /// Their ids.
    pub ids: Vec<String>,
    /// How many effects they had before, all together. `None`: could not be counted.
    pub before: Option<u64>,
    /// How many they should have.
    pub wanted: u64,
    /// How many they had in the end. `None`: could not be counted.
    pub after: Option<u64>,
    /// Why not.
    pub fault: Option<String>,
}

impl<'r> Stage<'r> {
    pub(crate) fn new(scenery: &'r Scenery) -> Self {
        Self {
            scenery,
            log: Mutex::default(),
        }
    }

    /// An event that was never sent.
    pub(crate) fn event(&self) -> Event {
        let Scenery { sender, event, .. } = self.scenery;
        let event = sender.fixture(event.as_deref());
        event.unwrap_or_else(|fault| unreachable!("checked at the start: {fault}"))
    }

    /// An id that no event has.
    pub(crate) fn fresh_id(&self) -> String {
        self.event().event_id()
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.scenery.keys
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.scenery.bounds
    }

    /// Now, in Unix seconds.
    pub(crate) fn now(&self) -> i64 {
        self.scenery.clock.unix_secs()
    }

    /// The provider's window, if it signs timestamps.
    pub(crate) fn window(&self) -> Option<Window> {
        self.scenery.sender.provider().spec().window()
    }

    /// `event`, signed now with the active secret.
    pub(crate) fn signed(&self, event: &Event) -> Delivery {
        event.signed(&self.keys().active, self.now())
    }

    /// `event` after the mutation of this name.
    pub(crate) fn mutated(&self, name: &str, event: &Event) -> Option<Delivery> {
        let specimen = Specimen::new(event, &self.keys().active, self.now());
        Mutation::named(name)?.of(&specimen)
    }

    /// Send a message, and record it.
    pub(crate) async fn send(
        &self,
        what: impl Into<String>,
        message: impl Into<Message>,
    ) -> Answer {
        self.send_within(what, message, self.bounds().patience)
            .await
    }

    /// The same with a patience of its own.
    pub(crate) async fn send_within(
        &self,
        what: impl Into<String>,
        message: impl Into<Message>,
        patience: Duration,
    ) -> Answer {
        let message = message.into();
        let answer = self.scenery.client.send(&message, patience).await;
        self.record(what.into(), &message, &answer);
        answer
    }

    /// Send all at once: no one is sent before all are ready. Records the first.
    pub(crate) async fn send_at_once(&self, what: &str, messages: Vec<Message>) -> Vec<Answer> {
        let ready = Arc::new(Barrier::new(messages.len()));
        let patience = self.bounds().patience;
        let mut sending = JoinSet::new();
        for (nth, message) in messages.iter().cloned().enumerate() {
            let (client, ready) = (self.scenery.client.clone(), Arc::clone(&ready));
            sending.spawn(async move {
                ready.wait().await;
                (nth, client.send(&message, patience).await)
            });
        }
        let mut answers = sending.join_all().await;
        answers.sort_by_key(|(nth, _)| *nth);
        let answers: Vec<Answer> = answers.into_iter().map(|(_, answer)| answer).collect();
        if let (Some(message), Some(answer)) = (messages.first(), answers.first()) {
            self.record(
                format!("{what}, the first of {}", messages.len()),
                message,
                answer,
            );
        }
        self.note(tally(&answers));
        answers
    }

    /// Send without a record: one of very many.
    pub(crate) async fn send_unseen(&self, message: &Message) -> Answer {
        self.scenery
            .client
            .send(message, self.bounds().patience)
            .await
    }

    /// In the end, these events should have `wanted` effects, all together.
    pub(crate) async fn expect_effects(&self, ids: impl IntoIterator<Item = String>, wanted: u64) {
        let ids: Vec<String> = ids.into_iter().filter(|id| !id.is_empty()).collect();
        if ids.is_empty() || !self.scenery.effects.are_known() {
            return;
        }
        let mut watched = Watched {
            ids,
            before: None,
            wanted,
            after: None,
            fault: None,
        };
        let count = watched.count(&self.scenery.effects).await;
        watched.before = watched.noted(count);
        self.log().watched.push(watched);
    }

    /// Add something to the evidence.
    pub(crate) fn note(&self, note: impl Into<String>) {
        self.log().notes.push(note.into());
    }

    pub(crate) fn into_log(self) -> Log {
        self.log
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, what: String, message: &Message, answer: &Answer) {
        let exchange = Exchange {
            what,
            status: answer.status(),
            outcome: answer.words(),
            took: answer.took,
            curl: curl(self.scenery.client.target(), message),
        };
        self.log().exchanges.push(exchange);
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// Count now.
    pub(crate) async fn count(&self, effects: &Effects) -> Result<u64, String> {
        let mut sum = 0_u64;
        for id in &self.ids {
            let count = effects.count(id).await.map_err(|fault| fault.to_string())?;
            sum = sum.saturating_add(count);
        }
        Ok(sum)
    }

    /// `0 before, 2 after, 1 wanted, of evt_1`.
    pub(crate) fn words(&self) -> String {
        let told = |count: Option<u64>| {
            count.map_or_else(|| "not counted".to_owned(), |count| count.to_string())
        };
        let ids = self
            .ids
            .iter()
            .map(|id| crate::report::plain(id))
            .collect::<Vec<_>>()
            .join(", ");
        format!(
            "{} before, {} after, {} wanted, of {ids}",
            told(self.before),
            told(self.after),
            self.wanted
        )
    }

    /// The count, or its fault for the record.
    pub(crate) fn noted(&mut self, count: Result<u64, String>) -> Option<u64> {
        count.map_err(|fault| self.fault = Some(fault)).ok()
    }
}

/// `200 once, 409 nine times`, in figures.
fn tally(answers: &[Answer]) -> String {
    let mut words: Vec<String> = answers.iter().map(Answer::words).collect();
    words.sort();
    let groups = words.chunk_by(|a, b| a == b);
    let groups = groups.filter_map(|equal| Some(format!("{} × {}", equal.len(), equal.first()?)));
    groups.collect::<Vec<_>>().join(", ")
}
