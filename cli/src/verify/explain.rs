//! The steps of verifying one request, said aloud.

use bytes::Bytes;
use url::Url;
use webhook_core::danger::trusted_arrival;
use webhook_core::{
    DynProvider, Handshake, Head, Judged, Keyring, Malformed, Rejection, Signing, Verified, Window,
};
use webhook_fixtures::{Sender, Setup, names, sender};

use crate::moment::{show_secs, show_time};
use crate::output::{Tone, printable};
use crate::secret::Secrets;
use crate::verify::bodies;
use crate::verify::capture::Captured;
use crate::verify::secrets::{is_shared, readings};

/// Most bodies that are tried with another reading of a secret.
const MAX_PAIRED_BODIES: usize = 40;

/// What is judged.
pub(crate) struct Case<'c> {
    pub(crate) sender: &'c Sender,
    pub(crate) url: Option<&'c Url>,
    pub(crate) captured: &'c Captured,
    pub(crate) secrets: &'c Secrets,
    pub(crate) at: i64,
    /// Nobody said when it arrived.
    pub(crate) is_now: bool,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Explanation {
    pub(crate) steps: Vec<Step>,
    pub(crate) reason: Reason,
    pub(crate) advice: String,
}

/// One thing looked at.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) text: String,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Bad,
    Good,
    Note,
}

/// The one reason, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Accepted,
    BodyChanged,
    Future,
    HeaderMalformed,
    HeaderMissing,
    HeaderRepeated,
    KeyId,
    NoEvent,
    NoMatch,
    OtherProvider,
    SecretEncoding,
    SecretUnusable,
    Stale,
    TooLarge,
    UrlDiffers,
}

impl Verdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Good => "ok",
            Self::Note => "note",
        }
    }

    pub(crate) fn tone(self) -> Tone {
        match self {
            Self::Bad => Tone::Bad,
            Self::Good => Tone::Good,
            Self::Note => Tone::Note,
        }
    }
}

impl Reason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::BodyChanged => "body-changed",
            Self::Future => "future",
            Self::HeaderMalformed => "header-malformed",
            Self::HeaderMissing => "header-missing",
            Self::HeaderRepeated => "header-repeated",
            Self::KeyId => "key-id",
            Self::NoEvent => "no-event",
            Self::NoMatch => "no-match",
            Self::OtherProvider => "other-provider",
            Self::SecretEncoding => "secret-encoding",
            Self::SecretUnusable => "secret-unusable",
            Self::Stale => "stale",
            Self::TooLarge => "too-large",
            Self::UrlDiffers => "url-differs",
        }
    }
}

impl Explanation {
    pub(crate) fn is_accepted(&self) -> bool {
        self.reason == Reason::Accepted
    }

    fn step(&mut self, name: &'static str, verdict: Verdict, text: impl Into<String>) {
        let text = text.into();
        self.steps.push(Step {
            name,
            verdict,
            text,
        });
    }

    /// The first reason stands, and its advice.
    fn because(&mut self, reason: Reason, advice: impl Into<String>) {
        if self.reason == Reason::Accepted {
            self.reason = reason;
            self.advice = advice.into();
        }
    }
}

/// Judge the request and say why.
pub(crate) fn explain(case: &Case<'_>) -> Explanation {
    let mut told = Explanation {
        steps: Vec::new(),
        reason: Reason::Accepted,
        advice: String::new(),
    };
    let captured = case.captured;
    size(case, &mut told);
    let fields = captured.headers.iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_slice()));
    let head = match Head::new(&captured.method, &captured.target, fields) {
        Ok(head) => head,
        Err(fault) => {
            told.step("headers", Verdict::Bad, fault.to_string());
            told.because(Reason::HeaderMalformed, "");
            return told;
        }
    };
    if captured.method == "GET" {
        greeting(case, &head, &mut told);
        return told;
    }
    let keys = secret(case, &mut told);
    if let Err(fault) = case.sender.provider().envelope(&head) {
        malformed(case, fault, &mut told);
        return told;
    }
    told.step(
        "headers",
        Verdict::Good,
        "the signature's header fields are there and well formed",
    );
    signature(case, &head, keys.as_ref(), &mut told);
    told
}

/// What a handshake or challenge is answered with, if the request is one that holds.
pub(crate) fn answer(case: &Case<'_>) -> Option<Handshake> {
    let (provider, captured) = (case.sender.provider(), case.captured);
    let fields = captured.headers.iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_slice()));
    let head = Head::new(&captured.method, &captured.target, fields).ok()?;
    if captured.method == "GET" {
        return provider
            .spec()
            .is_greeted()
            .then(|| provider.greet(&head))?;
    }
    let keys = case.secrets.keyring(provider.spec().secret()).ok()?;
    let verified = attempt(provider, &head, &captured.body, &keys, case.at).ok()?;
    provider.handshake(&verified).ok()?
}

fn size(case: &Case<'_>, told: &mut Explanation) {
    let (body, cap) = (
        &case.captured.body,
        case.sender.provider().spec().body_cap(),
    );
    if body.len() > cap {
        told.step(
            "size",
            Verdict::Bad,
            format!(
                "the body is of {} bytes; {} sends at most {cap}",
                body.len(),
                case.sender.name()
            ),
        );
        told.because(Reason::TooLarge, "");
    }
    let mut lengths = case.captured.all("content-length");
    let announced = lengths
        .next()
        .and_then(|value| std::str::from_utf8(value).ok()?.parse::<usize>().ok());
    if let Some(announced) = announced.filter(|&announced| announced != body.len()) {
        told.step("size", Verdict::Note, format!("`Content-Length` says {announced} bytes, and the body at hand has {}: it is not the one that was sent", body.len()));
    }
    let media = case
        .captured
        .all("content-type")
        .next()
        .and_then(|value| std::str::from_utf8(value).ok());
    if let Some(media) =
        media.filter(|media| !case.sender.provider().spec().accepts_content_type(media))
    {
        told.step(
            "type",
            Verdict::Note,
            format!(
                "`Content-Type: {}` is not what {} sends",
                printable(media.as_bytes()),
                case.sender.name()
            ),
        );
    }
    if body
        .windows(3)
        .any(|window| window == "\u{fffd}".as_bytes())
    {
        told.step("body", Verdict::Note, "it holds U+FFFD: somebody decoded it as text and lost bytes, which nothing brings back");
    }
}

fn greeting(case: &Case<'_>, head: &Head<'_>, told: &mut Explanation) {
    if case.sender.provider().spec().is_greeted() && case.sender.provider().greet(head).is_some() {
        told.step(
            "challenge",
            Verdict::Good,
            "a GET that asks for a challenge, which is answered",
        );
    } else {
        told.step(
            "challenge",
            Verdict::Bad,
            "a GET, and no challenge that would be answered",
        );
        told.because(Reason::NoEvent, "Events come by POST.");
    }
}

fn secret(case: &Case<'_>, told: &mut Explanation) -> Option<Keyring> {
    match case.secrets.keyring(case.sender.provider().spec().secret()) {
        Ok(keys) => {
            let names: Vec<String> = keys.infos().map(|info| info.name()).collect();
            told.step(
                "secret",
                Verdict::Good,
                format!(
                    "in the form that {} gives out; fingerprint {}",
                    case.sender.name(),
                    names.join(", ")
                ),
            );
            Some(keys)
        }
        Err(error) => {
            told.step("secret", Verdict::Bad, error.to_string());
            None
        }
    }
}

fn malformed(case: &Case<'_>, fault: Malformed, told: &mut Explanation) {
    told.step("headers", Verdict::Bad, fault.to_string());
    let others = other_providers(case);
    match fault {
        Malformed::Missing(name) => {
            if let Some(written) = case.captured.headers.iter().find(|(other, _)| is_mangled(other, name)) {
                told.step("headers", Verdict::Note, format!("`{}` is there: the way in which CGI and WSGI name `{name}`", printable(written.0.as_bytes())));
                told.because(Reason::HeaderMissing, format!("Give it as `{name}`."));
            } else if others.is_empty() {
                told.because(Reason::HeaderMissing, format!("A proxy may have dropped `{name}`, or somebody else sent this."));
            } else {
                let names = others.join(", ");
                told.step("headers", Verdict::Note, format!("they are those of {names}"));
                told.because(Reason::OtherProvider, format!("Verify it as {names}."));
            }
        }
        Malformed::Repeated(name) => {
            let different = {
                let mut values: Vec<&[u8]> = case.captured.all(name).collect();
                values.dedup();
                values.len() > 1
            };
            let words = if different { "with different values" } else { "with one value" };
            told.step("headers", Verdict::Note, format!("`{name}` stands there more than once, {words}"));
            told.because(Reason::HeaderRepeated, "Receivers that take one of several values can be shown another one than was signed. If you did not write it twice, a proxy did.");
        }
        Malformed::Timestamp => told.because(Reason::HeaderMalformed, "A timestamp has one spelling: as it was signed, without sign, space, fraction or leading zero."),
        _ => told.because(Reason::HeaderMalformed, "Copy the value whole, without quotes or line breaks."),
    }
}

/// Providers whose signature's fields are all there.
fn other_providers(case: &Case<'_>) -> Vec<&'static str> {
    let is_there = |name: &str| case.captured.all(name).next().is_some();
    let signs_so = |name: &&'static str| {
        let Ok(other) = sender(name, &Setup::default()) else {
            return false;
        };
        let Ok(keys) = other.keyring([other.example_secret()]) else {
            return false;
        };
        let signed = other.provider().sign(&Signing::new(&keys, b"{}", 0));
        !signed.is_empty() && signed.iter().all(|(name, _)| is_there(name))
    };
    names()
        .filter(|name| *name != case.sender.name())
        .filter(signs_so)
        .collect()
}

fn is_mangled(written: &str, name: &str) -> bool {
    let plain = written.to_ascii_lowercase().replace('_', "-");
    let plain = plain.strip_prefix("http-").unwrap_or(&plain);
    plain.eq_ignore_ascii_case(name) && !written.eq_ignore_ascii_case(name)
}

fn signature(case: &Case<'_>, head: &Head<'_>, keys: Option<&Keyring>, told: &mut Explanation) {
    let provider = case.sender.provider();
    let body = &case.captured.body;
    let outcome = keys.map(|keys| attempt(provider, head, body, keys, case.at));
    match outcome {
        Some(Ok(verified)) => {
            clock(case, verified.signed_at(), told);
            told.step(
                "signature",
                Verdict::Good,
                format!("holds, by key {}", key_name(&verified)),
            );
            event(provider, &verified, told);
        }
        Some(Err(Rejection::Stale { by_secs, authentic })) => {
            stale(case, by_secs, told);
            held_or_not(case, head, authentic, told);
        }
        Some(Err(Rejection::Future { by_secs, authentic })) => {
            future(by_secs, told);
            held_or_not(case, head, authentic, told);
        }
        Some(Err(Rejection::Malformed(fault))) => {
            malformed(case, fault, told);
        }
        Some(Err(Rejection::UnknownKey)) => {
            told.step(
                "key",
                Verdict::Bad,
                "the signature names a key that is not among those given",
            );
            match named_key(case, head) {
                Some(id) => {
                    told.step(
                        "key",
                        Verdict::Note,
                        format!("under the id `{id}` the signature holds"),
                    );
                    told.because(
                        Reason::KeyId,
                        format!("Configure the key under its id: --key-id {id}."),
                    );
                }
                None => told.because(
                    Reason::KeyId,
                    "Give the key that is named, with its --key-id.",
                ),
            }
        }
        Some(Err(_)) => {
            if case.sender.provider().spec().is_timestamped() {
                told.step("clock", Verdict::Good, "its timestamp lies in the window");
            }
            held_or_not(case, head, false, told);
        }
        None => {
            diagnose(case, head, told);
            told.because(
                Reason::SecretUnusable,
                "Copy the secret whole, as the provider shows it.",
            );
        }
    }
}

fn key_name(verified: &Verified<'_>) -> String {
    let key = verified.key();
    key.id().map_or_else(
        || key.fingerprint().to_string().chars().take(8).collect(),
        ToString::to_string,
    )
}

fn clock(case: &Case<'_>, signed_at: Option<i64>, told: &mut Explanation) {
    match signed_at {
        None => told.step(
            "clock",
            Verdict::Note,
            format!(
                "{} signs no timestamp: a captured request stays good as long as its key",
                case.sender.name()
            ),
        ),
        Some(at) => {
            let skew = at.abs_diff(case.at);
            let side = if at > case.at { "ahead of" } else { "behind" };
            told.step(
                "clock",
                Verdict::Good,
                format!(
                    "signed at {}, {} {side} the clock",
                    show_time(at),
                    show_secs(skew)
                ),
            );
        }
    }
}

fn stale(case: &Case<'_>, by_secs: u64, told: &mut Explanation) {
    let window = case.sender.provider().spec().window();
    let past = window.map_or(0, |window| window.past().as_secs());
    let at = show_time(case.at.saturating_sub_unsigned(by_secs));
    told.step(
        "clock",
        Verdict::Bad,
        format!(
            "signed at {at}, {} before the clock; {past} s are allowed",
            show_secs(by_secs)
        ),
    );
    let advice = if case.is_now {
        "If it was captured earlier, say when it arrived with --at. If not: it is a replay or came late, or a clock is wrong."
    } else {
        "A replay, a late retry, or a clock that is wrong."
    };
    told.because(Reason::Stale, advice);
}

fn future(by_secs: u64, told: &mut Explanation) {
    told.step(
        "clock",
        Verdict::Bad,
        format!("signed for {} ahead of the clock", show_secs(by_secs)),
    );
    let advice = if by_secs > 100_000_000_000 {
        "The timestamp looks like milliseconds where seconds are meant."
    } else {
        "The receiver's clock is slow or the sender's fast: synchronise it, do not widen the window."
    };
    told.because(Reason::Future, advice);
}

fn held_or_not(case: &Case<'_>, head: &Head<'_>, authentic: bool, told: &mut Explanation) {
    if authentic {
        told.step("signature", Verdict::Good, "holds");
        return;
    }
    told.step("signature", Verdict::Bad, "does not match");
    diagnose(case, head, told);
    told.because(Reason::NoMatch, "Either this is another secret than the one that signed, or the body was changed in another way. Capture the raw bytes before anything parses them, and compare the secret's end with the one the provider shows.");
}

/// Look for what makes the signature hold.
fn diagnose(case: &Case<'_>, head: &Head<'_>, told: &mut Explanation) {
    let provider = case.sender.provider();
    let body = &case.captured.body;
    let format = provider.spec().secret();
    let keys = case.secrets.keyring(format).ok();
    let mut tried = 0usize;
    if let Some(keys) = &keys {
        for guess in bodies::guesses(body) {
            tried = tried.saturating_add(1);
            if holds(provider, head, &guess.body, keys, case.at) {
                told.step(
                    "body",
                    Verdict::Bad,
                    format!("it holds over the body {}", guess.how),
                );
                told.because_of_body();
                return;
            }
        }
        if let Some(url) = other_url(case, keys) {
            told.step("url", Verdict::Bad, format!("it holds for {url}"));
            told.because(Reason::UrlDiffers, "This provider signs the URL as it is registered: configure that one, byte for byte.");
            return;
        }
    }
    if is_shared(format) {
        for (nth, text) in case.secrets.texts().enumerate() {
            let id = case.secrets.key_ids().get(nth).map(String::as_str);
            for reading in readings(format, text) {
                let Some(keys) = reading.keyring(id) else {
                    continue;
                };
                tried = tried.saturating_add(1);
                if holds(provider, head, body, &keys, case.at) {
                    told.step(
                        "secret",
                        Verdict::Bad,
                        format!("it holds if the secret is {}", reading.how),
                    );
                    told.because_of_secret();
                    return;
                }
                for guess in bodies::guesses(body).take(MAX_PAIRED_BODIES) {
                    tried = tried.saturating_add(1);
                    if holds(provider, head, &guess.body, &keys, case.at) {
                        told.step(
                            "secret",
                            Verdict::Bad,
                            format!(
                                "it holds if the secret is {}, and over the body {}",
                                reading.how, guess.how
                            ),
                        );
                        told.because_of_secret();
                        return;
                    }
                }
            }
        }
    }
    told.step(
        "search",
        Verdict::Note,
        format!("none of {tried} other bodies, URLs and readings of the secret fits"),
    );
}

impl Explanation {
    fn because_of_body(&mut self) {
        self.outrank(Reason::BodyChanged, "The body was parsed and written again, or changed on its way. Verify the raw bytes as they came: take them before any JSON middleware.");
    }

    fn because_of_secret(&mut self) {
        self.outrank(Reason::SecretEncoding, "The secret is the right one, read in the wrong way: keep to the form that `webhook events PROVIDER` names.");
    }

    /// What was found out says more than that the secret or the clock was wrong; a stale request stays stale.
    fn outrank(&mut self, reason: Reason, advice: &str) {
        if matches!(self.reason, Reason::Accepted | Reason::SecretUnusable) {
            self.reason = reason;
            advice.clone_into(&mut self.advice);
        }
    }
}

fn event(provider: &dyn DynProvider, verified: &Verified<'_>, told: &mut Explanation) {
    match provider.handshake(verified) {
        Ok(Some(_)) => {
            told.step(
                "event",
                Verdict::Good,
                "a handshake, answered without an event",
            );
            return;
        }
        Ok(None) => {}
        Err(fault) => {
            told.step(
                "event",
                Verdict::Bad,
                format!("a handshake that must not be answered: {fault}"),
            );
            told.because(Reason::NoEvent, "");
            return;
        }
    }
    match provider.identities(verified) {
        Ok(events) => {
            for event in &events {
                let (id, event_type) = (event.id().as_str(), event.event_type().as_str());
                let signed = if provider.signs_identity() {
                    ""
                } else {
                    ", not signed"
                };
                told.step(
                    "event",
                    Verdict::Good,
                    format!(
                        "{}, id {}{signed}",
                        printable(event_type.as_bytes()),
                        printable(id.as_bytes())
                    ),
                );
            }
        }
        Err(fault) => {
            told.step(
                "event",
                Verdict::Bad,
                format!("authentic, and no event: {fault}"),
            );
            told.because(
                Reason::NoEvent,
                "A receiver answers 400: the same bytes will never be one.",
            );
        }
    }
}

/// Verify once, with everything but the size as a receiver does.
fn attempt<'h>(
    provider: &dyn DynProvider,
    head: &'h Head<'h>,
    body: &Bytes,
    keys: &Keyring,
    at: i64,
) -> Result<Verified<'h>, Rejection> {
    let window = provider.spec().window().unwrap_or(Window::FIVE_MINUTES);
    let arrival = trusted_arrival(at);
    let judged = Judged::judge(provider, head, window, arrival)?;
    let mut verifier = judged.keyed(keys, arrival, usize::MAX)?;
    verifier.update(body.clone())?;
    verifier.finish(head)
}

fn holds(
    provider: &dyn DynProvider,
    head: &Head<'_>,
    body: &Bytes,
    keys: &Keyring,
    at: i64,
) -> bool {
    matches!(
        attempt(provider, head, body, keys, at),
        Ok(_)
            | Err(Rejection::Stale {
                authentic: true,
                ..
            } | Rejection::Future {
                authentic: true,
                ..
            })
    )
}

/// A key id that stands in a header, and under which a secret verifies.
fn named_key(case: &Case<'_>, head: &Head<'_>) -> Option<String> {
    let provider = case.sender.provider();
    let values = case.captured.headers.iter();
    let values = values.filter_map(|(_, value)| std::str::from_utf8(value).ok());
    let mut ids = values.flat_map(|value| value.split([',', ';', ' ']));
    ids.find_map(|part| {
        let (id, _) = part.split_once(['=', ':'])?;
        let fits = |text: &str| {
            let config = webhook_core::KeyConfig::new(text).id(id);
            Keyring::build(provider.spec().secret(), [config])
                .is_ok_and(|keys| holds(provider, head, &case.captured.body, &keys, case.at))
        };
        case.secrets.texts().any(fits).then(|| id.to_owned())
    })
}

/// Another spelling of the URL, for which the signature holds.
fn other_url(case: &Case<'_>, keys: &Keyring) -> Option<String> {
    let host = case
        .captured
        .all("host")
        .next()
        .and_then(|value| std::str::from_utf8(value).ok());
    let from_host = host.map(|host| format!("https://{host}{}", case.captured.target));
    let given = case.url.map(|url| url.as_str().to_owned());
    let mut all = Vec::new();
    for base in given.into_iter().chain(from_host) {
        let toggled = match base.strip_prefix("https:") {
            Some(rest) => format!("http:{rest}"),
            None => base.replacen("http:", "https:", 1),
        };
        for url in [base, toggled] {
            let slashed = match url.strip_suffix('/') {
                Some(rest) => rest.to_owned(),
                None => format!("{url}/"),
            };
            let bare = url.split('?').next().unwrap_or_default().to_owned();
            all.extend([url, slashed, bare]);
        }
    }
    all.into_iter().find(|url| {
        let Ok(parsed) = Url::parse(url) else {
            return false;
        };
        let target = crate::client::target(&parsed, None);
        let fields = case.captured.headers.iter();
        let fields = fields.map(|(name, value)| (name.as_str(), value.as_slice()));
        let Ok(head) = Head::new(&case.captured.method, &target, fields) else {
            return false;
        };
        sender(case.sender.name(), &Setup::at(url.as_str()))
            .is_ok_and(|other| holds(other.provider(), &head, &case.captured.body, keys, case.at))
    })
}
