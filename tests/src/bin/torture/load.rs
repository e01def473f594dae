//! Providers that send, send twice, and send again.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use webhook_actix::{Clock as _, SystemClock};
use webhook_github::GitHub;
use webhook_tests::app::signed;
use webhook_tests::torture::Dice;
use webhook_tests::wire::head;
use webhook_timestamped::Timestamped;

use crate::journal::Journal;
use crate::receivers::Addresses;

/// All that was sent. Its [`Display`](fmt::Display) counts it.
#[derive(Debug, Clone)]
pub(crate) struct Load(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    seed: u64,
    /// Events a second.
    pace: u32,
    addresses: Addresses,
    journal: Journal,
    events: Mutex<Vec<Event>>,
    deliveries: AtomicU64,
    duplicates: AtomicU64,
    findings: Mutex<Vec<String>>,
}

/// An event, as its provider knows it.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    kind: Kind,
    /// In its body, and at the start of its ids.
    pub(crate) key: String,
    pub(crate) is_acknowledged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Alert,
    Credit,
    Issue,
    Note,
    Slow,
}

/// What a delivery comes under.
#[derive(Debug, Clone, Copy)]
enum Label {
    /// The provider's own.
    Own,
    /// A fresh id, where ids are not signed.
    FreshId,
    /// Another type, where types are not signed.
    OtherType,
}

impl Load {
    pub(crate) fn new(seed: u64, pace: u32, addresses: Addresses, journal: &Journal) -> Self {
        Self(Arc::new(Inner {
            seed,
            pace,
            addresses,
            journal: journal.clone(),
            events: Mutex::default(),
            deliveries: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            findings: Mutex::default(),
        }))
    }

    /// Send until `end`.
    pub(crate) fn start(&self, end: Instant) -> Vec<JoinHandle<()>> {
        (0..SENDERS)
            .map(|sender| {
                let load = self.clone();
                thread::spawn(move || load.send_until(end, sender))
            })
            .collect()
    }

    fn send_until(&self, end: Instant, sender: u32) {
        let mut dice = Dice::new(self.0.seed ^ (u64::from(sender) << 32) ^ 1);
        let pause = u64::from(2000 * SENDERS / self.0.pace);
        let mut again: Vec<(Instant, usize)> = Vec::new();
        for number in 0.. {
            if Instant::now() >= end {
                return;
            }
            let event = self.add(Event {
                kind: Kind::draw(&mut dice),
                key: format!("e{sender}x{number}"),
                is_acknowledged: false,
            });
            let mut extra = dice.clone();
            dice.roll();
            thread::scope(|scope| {
                if extra.percent(10) {
                    scope
                        .spawn(|| self.deliver(event, Label::draw(&mut extra), &mut extra.clone()));
                }
                self.deliver(event, Label::Own, &mut dice);
            });
            if dice.percent(10) || !self.event(event).is_acknowledged && dice.percent(80) {
                let wait = Duration::from_millis(dice.below(4000));
                again.push((Instant::now() + wait, event));
            }
            let now = Instant::now();
            let (due, rest) = again.drain(..).partition(|(at, _)| *at <= now);
            again = rest;
            for (_, event) in Vec::from_iter::<Vec<_>>(due) {
                self.deliver(event, Label::draw(&mut dice), &mut dice);
            }
            thread::sleep(Duration::from_millis(dice.below(pause)));
        }
    }

    /// What providers that do retry do; those that do not are asked to.
    pub(crate) fn retry_unacknowledged(&self) {
        let open: Vec<usize> = {
            let events = self.0.events.lock().unwrap();
            (0..events.len())
                .filter(|event| !events[*event].is_acknowledged)
                .collect()
        };
        let share = open.len().div_ceil(RETRIERS).max(1);
        thread::scope(|scope| {
            for share in open.chunks(share) {
                scope.spawn(move || {
                    let mut dice = Dice::new(self.0.seed ^ 2);
                    for event in share {
                        self.retry(*event, &mut dice);
                    }
                });
            }
        });
    }

    fn retry(&self, event: usize, dice: &mut Dice) {
        let began = Instant::now();
        while !self.deliver(event, Label::Own, dice) && began.elapsed() < RETRIES {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// One delivery to some receiver; whether it was acknowledged.
    fn deliver(&self, index: usize, label: Label, dice: &mut Dice) -> bool {
        let event = self.event(index);
        let to = {
            let addresses = self.0.addresses.lock().unwrap();
            addresses[usize::try_from(dice.below(addresses.len() as u64)).unwrap()]
        };
        let (path, request) = event.request(label, dice);
        let status = send(to, &request);
        self.0.deliveries.fetch_add(1, Ordering::Relaxed);
        self.0.journal.note(&format!(
            "{} {:?} {label:?} to {path} of {to}: {status:?}",
            event.key, event.kind
        ));
        let is_acknowledged = matches!(status, Some(200..=299));
        // 408: it stood still between the connection and the request.
        if !is_acknowledged && !matches!(status, None | Some(408 | 503)) {
            let finding = format!("{} was answered with {status:?}", event.key);
            self.0.findings.lock().unwrap().push(finding);
        }
        // What comes under another type may have been set aside.
        if is_acknowledged && !matches!(label, Label::OtherType) {
            let was_acknowledged = std::mem::replace(
                &mut self.0.events.lock().unwrap()[index].is_acknowledged,
                true,
            );
            if was_acknowledged {
                self.0.duplicates.fetch_add(1, Ordering::Relaxed);
            }
        }
        is_acknowledged
    }

    fn add(&self, event: Event) -> usize {
        let mut events = self.0.events.lock().unwrap();
        events.push(event);
        events.len() - 1
    }

    fn event(&self, index: usize) -> Event {
        self.0.events.lock().unwrap()[index].clone()
    }

    /// Everything that was sent.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.events.lock().unwrap().clone()
    }

    /// Answers that no delivery should get.
    pub(crate) fn findings(&self) -> Vec<String> {
        self.0.findings.lock().unwrap().clone()
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.events();
        let acknowledged = events.iter().filter(|event| event.is_acknowledged).count();
        write!(
            f,
            "{} events in {} deliveries, {acknowledged} acknowledged, {} duplicates answered",
            events.len(),
            self.0.deliveries.load(Ordering::Relaxed),
            self.0.duplicates.load(Ordering::Relaxed),
        )
    }
}

impl Event {
    fn request(&self, label: Label, dice: &mut Dice) -> (&'static str, Vec<u8>) {
        let now = SystemClock::default().unix_secs();
        let key = &self.key;
        let (path, headers, body) = match self.kind {
            Kind::Alert | Kind::Issue => {
                let (own, other, member) = match self.kind {
                    Kind::Alert => ("dependabot_alert", "secret_scanning_alert", "alert"),
                    _ => ("issues", "dependabot_alert", "issue"),
                };
                let body = serde_json::json!({"action": "opened", member: {}, "known_as": key});
                let body = body.to_string().into_bytes();
                let mut headers = signed("github", &GitHub, &body, now);
                let (id, event_type) = match label {
                    Label::Own => (format!("{key}-own"), own),
                    Label::FreshId => (format!("{key}-{:x}", dice.roll()), own),
                    Label::OtherType => (format!("{key}-{:x}", dice.roll()), other),
                };
                headers.push(("X-GitHub-Delivery".to_owned(), id));
                headers.push(("X-GitHub-Event".to_owned(), event_type.to_owned()));
                ("/github", headers, body)
            }
            Kind::Credit | Kind::Note | Kind::Slow => {
                let event_type = match self.kind {
                    Kind::Credit => "credit.approved",
                    Kind::Slow => "note.slow",
                    _ => "note.created",
                };
                let body = serde_json::json!({"id": key, "type": event_type, "known_as": key});
                let body = body.to_string().into_bytes();
                ("/custom", signed("custom", &Timestamped, &body, now), body)
            }
        };
        let mut request = head(path, &headers).into_bytes();
        request.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
        request.extend(body);
        (path, request)
    }
}

impl Kind {
    fn draw(dice: &mut Dice) -> Self {
        match dice.below(10) {
            0..3 => Self::Note,
            3..5 => Self::Slow,
            5..7 => Self::Credit,
            7..9 => Self::Alert,
            _ => Self::Issue,
        }
    }
}

impl Label {
    fn draw(dice: &mut Dice) -> Self {
        match dice.below(3) {
            0 => Self::Own,
            1 => Self::FreshId,
            _ => Self::OtherType,
        }
    }
}

/// The status of the answer, if there is one in time.
fn send(to: SocketAddr, request: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(request).ok()?;
    // Input: `HTTP/1.1 200 OK`
    let mut line = [0; 12];
    stream.read_exact(&mut line).ok()?;
    str::from_utf8(&line).ok()?.get(9..)?.parse().ok()
}

const SENDERS: u32 = 16;
const RETRIERS: usize = 8;
/// A provider's.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long one event is retried after the chaos.
const RETRIES: Duration = Duration::from_secs(30);
