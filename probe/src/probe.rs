//! What is to be probed, with what, and within which bounds.

use std::time::Duration;

use webhook_core::{KeyConfig, Keyring, KeyringError};
use webhook_engine::SystemClock;
use webhook_fixtures::{Sender, Setup, UnknownEvent, UnknownProvider, sender};
use zeroize::Zeroizing;

use crate::case::{Case, Group};
use crate::cases;
use crate::client::Client;
use crate::effects::Effects;
use crate::stage::{Keys, Scenery};
use crate::target::Target;

/// A probe, to be [run](Probe::run).
///
/// Talks to its target's one address, and to whatever counts effects; to nothing else.
#[derive(Debug)]
pub struct Probe {
    target: Target,
    provider: String,
    registered_url: Option<String>,
    event: Option<String>,
    secrets: Vec<Secret>,
    retired: Vec<Secret>,
    effects: Effects,
    restart: Option<String>,
    only: Vec<String>,
    bounds: Bounds,
}

/// Bounds of a run, in number and time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Bounds {
    /// Longest wait for one answer. 15 s.
    pub patience: Duration,
    /// Longest time in which a genuine delivery should be acknowledged. 3 s: Slack, the most impatient, waits for so long.
    pub prompt: Duration,
    /// How long a receiver may wait for a body that comes a byte a second. 60 s.
    pub slow_body: Duration,
    /// Size of a body that nobody should read to its end before it is authenticated. 32 MiB.
    pub flood_bytes: usize,
    /// Most deliveries at once. 50.
    pub concurrency: usize,
    /// How often each kind of forgery is timed. 100.
    pub timing_rounds: usize,
    /// Longest wait for an effect that should come. 5 s.
    pub settle: Duration,
    /// How long to wait for effects that should not come. 500 ms.
    pub quiet: Duration,
    /// Longest run. 15 minutes.
    pub total: Duration,
}

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotProbe {
    /// The provider has no such event.
    #[error(transparent)]
    Event(#[from] UnknownEvent),
    /// A secret is none of this provider's.
    #[error("the secret cannot be used: {0}")]
    Key(#[from] KeyringError),
    /// There is no secret to sign with.
    #[error("a secret is needed: what cannot be sent genuinely cannot be forged")]
    NoSecret,
    /// There is no such provider.
    #[error(transparent)]
    Provider(#[from] UnknownProvider),
    /// No case and no group has this name.
    #[error("no group and no case `{0}`: there are {list}", list = names())]
    Selection(String),
}

struct Secret {
    text: Zeroizing<String>,
    id: Option<String>,
}

/// What fixtures call a stranger's secret: base64 for those who decode it, a text for all others.
const STRANGER: &str = "whsec_b2Ytc29tZWJvZHktZWxzZS0wMDAx";

impl Probe {
    /// Probe `target` with the deliveries of `provider`.
    pub fn new(target: Target, provider: impl Into<String>) -> Self {
        Self {
            target,
            provider: provider.into(),
            registered_url: None,
            event: None,
            secrets: Vec::new(),
            retired: Vec::new(),
            effects: Effects::Unknown,
            restart: None,
            only: Vec::new(),
            bounds: Bounds::default(),
        }
    }

    /// The receiver takes this secret, under this key id if the provider names keys. The first signs what is genuine.
    #[must_use]
    pub fn secret(mut self, text: impl Into<String>, id: Option<String>) -> Self {
        let text = Zeroizing::new(text.into());
        self.secrets.push(Secret { text, id });
        self
    }

    /// The receiver no longer takes this secret.
    #[must_use]
    pub fn retired_secret(mut self, text: impl Into<String>) -> Self {
        let text = Zeroizing::new(text.into());
        self.retired.push(Secret { text, id: None });
        self
    }

    /// Send this event and not the provider's first fixture. It should be one that has an effect.
    #[must_use]
    pub fn event(mut self, event: impl Into<String>) -> Self {
        self.event = Some(event.into());
        self
    }

    /// The URL as it is registered with the provider, for schemes that sign it. Otherwise the target's.
    #[must_use]
    pub fn registered_url(mut self, url: impl Into<String>) -> Self {
        self.registered_url = Some(url.into());
        self
    }

    /// Count effects there.
    #[must_use]
    pub fn effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    /// A line of the shell that restarts the receiver, and ends.
    #[must_use]
    pub fn restart(mut self, command: impl Into<String>) -> Self {
        self.restart = Some(command.into());
        self
    }

    /// Try only this group or case, and others so named.
    #[must_use]
    pub fn only(mut self, name: impl Into<String>) -> Self {
        self.only.push(name.into());
        self
    }

    /// Bounds other than the usual ones.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Everything checked, nothing sent.
    pub(crate) fn prepare(self) -> Result<(Scenery, Vec<&'static Case>), CannotProbe> {
        let url = self.registered_url.as_deref().unwrap_or(self.target.url());
        let sender = sender(&self.provider, &Setup::at(url))?;
        sender.fixture(self.event.as_deref())?;
        let cases = selected(&self.only)?;
        let keys = Keys::new(&sender, &self.secrets, &self.retired)?;
        let scenery = Scenery {
            sender,
            event: self.event,
            client: Client::new(self.target),
            effects: self.effects,
            restart: self.restart,
            bounds: self.bounds,
            keys,
            clock: SystemClock::default(),
        };
        Ok((scenery, cases))
    }
}

/// Groups, each with its cases.
fn names() -> String {
    let groups = Group::ALL.map(|group| {
        let cases = cases::all().filter(|case| case.group == group);
        let names: Vec<&str> = cases.map(|case| case.name).collect();
        format!("\n  {group}: {}", names.join(", "))
    });
    groups.concat()
}

fn selected(only: &[String]) -> Result<Vec<&'static Case>, CannotProbe> {
    let names = |case: &Case, name: &String| case.name == name || case.group.name() == name;
    if let Some(unknown) = only
        .iter()
        .find(|name| !cases::all().any(|case| names(case, name)))
    {
        return Err(CannotProbe::Selection(unknown.clone()));
    }
    let is_selected = |case: &&Case| only.is_empty() || only.iter().any(|name| names(case, name));
    Ok(cases::all().filter(is_selected).collect())
}

impl Keys {
    fn new(sender: &Sender, live: &[Secret], retired: &[Secret]) -> Result<Self, CannotProbe> {
        let format = sender.provider().spec().secret();
        let active = live.first().ok_or(CannotProbe::NoSecret)?;
        let alone = |secret: &Secret| Keyring::build(format, [secret.config()]);
        let ring = alone(active)?;
        ring.ensure_signs()?;
        // Whose keys have names gives every one a name.
        let stranger = || match &active.id {
            Some(_) => KeyConfig::new(STRANGER).id("somebody-else"),
            None => KeyConfig::new(STRANGER),
        };
        let together = |configs: [KeyConfig; 2]| Keyring::build(format, configs).ok();
        let misnamed = active.config().id("no-such-key");
        Ok(Self {
            others: live.iter().skip(1).map(alone).collect::<Result<_, _>>()?,
            retired: retired.iter().map(alone).collect::<Result<_, _>>()?,
            misnamed: Keyring::build(format, [misnamed]).ok(),
            stranger_first: together([stranger(), active.config()]),
            stranger_last: together([active.config(), stranger()]),
            strange: sender.strange_keys(),
            active: ring,
        })
    }
}

impl Secret {
    fn config(&self) -> KeyConfig {
        let config = KeyConfig::new(self.text.as_str());
        match &self.id {
            Some(id) => config.id(id),
            None => config,
        }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(15),
            prompt: Duration::from_secs(3),
            slow_body: Duration::from_mins(1),
            flood_bytes: 32 * 1024 * 1024,
            concurrency: 50,
            timing_rounds: 100,
            settle: Duration::from_secs(5),
            quiet: Duration::from_millis(500),
            total: Duration::from_mins(15),
        }
    }
}
