//! A receiver of Stripe's and GitHub's deliveries that would be safe, but for one fault.
//!
//! Small, and on bare sockets: what a framework does right by itself could not be done wrong.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use webhook_core::{Algorithm, Clock as _, Grammar, Keyring, Part, Signing, Wire};
use webhook_engine::SystemClock;
use webhook_fixtures::{Sender, Setup, sender};

use crate::faults::Fault;

pub(crate) const ACTIVE: &str = "whsec_zoo-active-0123456789abcdef";
pub(crate) const SECOND: &str = "whsec_zoo-second-0123456789abcdef";
pub(crate) const RETIRED: &str = "whsec_zoo-retired-0123456789abcdef";

const MAX_HEAD: usize = 16 * 1024;
const MAX_BODY: usize = 1024 * 1024;
const BODY_DEADLINE: Duration = Duration::from_secs(1);
const WINDOW: i64 = 300;
const SHA1: Wire = Wire::new(
    Algorithm::HmacSha1,
    "x-hub-signature",
    Grammar::Prefixed("sha1="),
    &[Part::Body],
);

/// A running receiver. Ends with the test's runtime.
pub(crate) struct Receiver {
    port: u16,
    restart_file: PathBuf,
}

struct Inside {
    sender: Sender,
    keys: Vec<Keyring>,
    fault: Option<Fault>,
    memory: Mutex<Memory>,
    restart_file: PathBuf,
}

#[derive(Default)]
struct Memory {
    seen: HashSet<String>,
    effects: HashMap<String, u64>,
}

struct Request {
    path: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

/// An answer's status and text.
type Said = (u16, String);

impl Receiver {
    pub(crate) async fn start(provider: &str, fault: Option<Fault>) -> Self {
        static NTH: AtomicUsize = AtomicUsize::new(0);
        let sender = sender(provider, &Setup::default()).unwrap();
        let mut secrets = vec![ACTIVE, SECOND];
        match fault {
            Some(Fault::TakesOldKeys) => secrets.push(RETIRED),
            Some(Fault::TakesOneKey) => secrets.truncate(1),
            _ => {}
        }
        let keys = secrets
            .iter()
            .map(|secret| sender.keyring([*secret]).unwrap());
        let nth = NTH.fetch_add(1, Ordering::Relaxed);
        let restart_file =
            std::env::temp_dir().join(format!("webhook-zoo-{}-{nth}", std::process::id()));
        let inside = Arc::new(Inside {
            keys: keys.collect(),
            sender,
            fault,
            memory: Mutex::default(),
            restart_file: restart_file.clone(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let inside = Arc::clone(&inside);
                tokio::spawn(async move { inside.serve(stream).await });
            }
        });
        Self { port, restart_file }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// It looks for this file before each request.
    pub(crate) fn restart_command(&self) -> String {
        format!("touch '{}'", self.restart_file.display())
    }
}

impl Inside {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    async fn serve(&self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        let (status, text) = match self.read(&mut stream).await {
            Ok(request) => self.answer(&request).await,
            Err(said) => said,
        };
        let answer = format!(
            "HTTP/1.1 {status} _\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        let mut stream = stream.into_inner();
        let _ = stream.write_all(answer.as_bytes()).await;
        // Whoever closes with bytes unread takes the answer back.
        let _ = stream.shutdown().await;
        let rest = async {
            let mut rest = [0; 4096];
            while stream.read(&mut rest).await.is_ok_and(|count| count > 0) {}
        };
        let _ = tokio::time::timeout(Duration::from_millis(50), rest).await;
    }

    async fn read(&self, stream: &mut BufReader<TcpStream>) -> Result<Request, Said> {
        let said = |status: u16| (status, String::new());
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.map_err(|_| said(400))?);
            if head.len() > MAX_HEAD && !self.has(Fault::ReadsAllFields) {
                return Err(said(431));
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.trim_end().split("\r\n");
        let path = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        let fields = lines.filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        let mut request = Request {
            path,
            fields: fields.collect(),
            body: Vec::new(),
        };
        let patience = if self.has(Fault::WaitsForEver) {
            Duration::from_mins(1)
        } else {
            BODY_DEADLINE
        };
        request.body = tokio::time::timeout(patience, self.read_body(stream, &request))
            .await
            .map_err(|_| said(408))?
            .map_err(said)?;
        Ok(request)
    }

    async fn read_body(
        &self,
        stream: &mut BufReader<TcpStream>,
        request: &Request,
    ) -> Result<Vec<u8>, u16> {
        let mut body = Vec::new();
        let everything = self.has(Fault::ReadsEverything);
        if request.all("transfer-encoding").is_empty() {
            let length: u64 = request
                .all("content-length")
                .first()
                .map_or(0, |length| length.parse().unwrap());
            if length > MAX_BODY as u64
                && self.has(Fault::AllocatesWhatIsAnnounced)
                && length > 1 << 40
            {
                return Err(500);
            }
            if length > MAX_BODY as u64 && (!everything || length > 1 << 40) {
                return Err(413);
            }
            stream
                .take(length)
                .read_to_end(&mut body)
                .await
                .map_err(|_| 400_u16)?;
            return Ok(body);
        }
        if self.has(Fault::IgnoresChunks) {
            return Ok(body);
        }
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                line.push(stream.read_u8().await.map_err(|_| 400_u16)?);
            }
            let size = std::str::from_utf8(&line).unwrap().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| 400_u16)?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).await.map_err(|_| 400_u16)?;
            chunk.truncate(size);
            body.extend(chunk);
            if size == 0 {
                return Ok(body);
            }
            if body.len() > MAX_BODY && !everything && !self.has(Fault::CountsLengthOnly) {
                return Err(413);
            }
        }
    }

    async fn answer(&self, request: &Request) -> Said {
        if std::fs::remove_file(&self.restart_file).is_ok() && self.has(Fault::ForgetsOnRestart) {
            self.memory.lock().unwrap().seen.clear();
        }
        if let Some(id) = request.path.strip_prefix("/effects/") {
            let id = id.replace("%5F", "_").replace("%2D", "-");
            let effects = self.memory.lock().unwrap().effects.get(&id).copied();
            return (200, effects.unwrap_or_default().to_string());
        }
        if request.path != "/hook" {
            return (404, String::new());
        }
        if !request.all("content-encoding").is_empty() && !self.has(Fault::Inflates) {
            return (415, String::new());
        }
        let body = if request.all("content-encoding").is_empty() {
            request.body.clone()
        } else {
            inflated(&request.body)
        };
        if self.has(Fault::ClaimsBeforeVerifying)
            && let Some(id) = id_of(&body)
            && !self.memory.lock().unwrap().seen.insert(id)
        {
            return (200, String::new());
        }
        if let Err(refused) = self.verify(request, &body) {
            return refused;
        }
        let id = match self.sender.name() {
            "github" => request
                .all("x-github-delivery")
                .first()
                .map(ToString::to_string),
            _ => id_of(&body),
        };
        let Some(id) = id else {
            return if self.has(Fault::NeverVerifies) {
                (200, String::new())
            } else {
                (400, String::new())
            };
        };
        self.take(request, &body, id).await
    }

    /// Once, whatever comes how often.
    async fn take(&self, request: &Request, body: &[u8], id: String) -> Said {
        let content = String::from_utf8_lossy(body).into_owned();
        let seen = match self.fault {
            Some(Fault::NeverRemembers | Fault::ClaimsBeforeVerifying) => vec![],
            Some(Fault::ComparesIdsWithoutCase) => vec![id.to_lowercase()],
            Some(Fault::KnowsDuplicatesByContent) => vec![content],
            Some(Fault::KnowsDuplicatesBySignature) => {
                vec![request.all("stripe-signature").join(",")]
            }
            Some(Fault::CutsIds) => vec![id[..id.len() - 1].to_owned()],
            Some(Fault::TrustsIds) => vec![id.clone()],
            _ if self.sender.name() == "github" => vec![id.clone(), content],
            _ => vec![id.clone()],
        };
        let is_known = seen
            .iter()
            .any(|key| self.memory.lock().unwrap().seen.contains(key));
        if self.has(Fault::LooksThenWrites) {
            if !is_known {
                tokio::time::sleep(Duration::from_millis(400)).await;
                let mut memory = self.memory.lock().unwrap();
                memory.seen.extend(seen);
                *memory.effects.entry(id).or_default() += 1;
            }
            return (200, String::new());
        }
        {
            let mut memory = self.memory.lock().unwrap();
            if seen.iter().any(|key| memory.seen.contains(key)) {
                let status = if self.has(Fault::AnswersConflict) {
                    409
                } else {
                    200
                };
                return (status, String::new());
            }
            memory.seen.extend(seen);
            *memory.effects.entry(id).or_default() += 1;
        }
        if self.has(Fault::AcknowledgesLate) {
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
        (200, String::new())
    }

    fn verify(&self, request: &Request, body: &[u8]) -> Result<(), Said> {
        if self.has(Fault::NeverVerifies) {
            return Ok(());
        }
        let body = self.rewritten(body);
        match self.sender.name() {
            "github" => self.verify_github(request, &body),
            _ => self.verify_stripe(request, &body),
        }
    }

    /// What it verifies in place of the body.
    fn rewritten(&self, body: &[u8]) -> Vec<u8> {
        let text = || String::from_utf8_lossy(body).into_owned();
        match self.fault {
            Some(Fault::Minifies) => minified(body),
            Some(Fault::RewritesCharacters) => text().replace('€', "?").into(),
            Some(Fault::RewritesDollars) => text().replace("$$", "$").into(),
            Some(Fault::RewritesNumbers) => text().replace("0.10", "0.1").into(),
            Some(Fault::RewritesOrder) => text().replace(r#""z":1,"a":2"#, r#""a":2,"z":1"#).into(),
            Some(Fault::RewritesSlashes) => text().replace("\\/", "/").into(),
            Some(Fault::TrimsBody) => body.trim_ascii().to_vec(),
            _ => body.to_vec(),
        }
    }

    fn verify_github(&self, request: &Request, body: &[u8]) -> Result<(), Said> {
        let tags = self.tags(body, 0);
        if self.has(Fault::TakesSha1)
            && let [given] = request.all("x-hub-signature").as_slice()
        {
            let ours = self
                .keys
                .iter()
                .flat_map(|keys| SHA1.write(&Signing::new(keys, body, 0)));
            return ours
                .into_iter()
                .any(|(_, ours)| ours == *given)
                .then_some(())
                .ok_or_else(refused);
        }
        let fields = request.all("x-hub-signature-256");
        let [given] = fields.as_slice() else {
            return Err(refused());
        };
        let digits = given.strip_prefix("sha256=").ok_or_else(refused)?;
        tags.iter()
            .any(|tag| tag == digits)
            .then_some(())
            .ok_or_else(refused)
    }

    fn verify_stripe(&self, request: &Request, body: &[u8]) -> Result<(), Said> {
        let fields = if self.has(Fault::MatchesFieldNamesExactly) {
            let fields = request
                .fields
                .iter()
                .filter(|(name, _)| name == "stripe-signature" || name == "Stripe-Signature");
            let is_as_sent = request
                .fields
                .iter()
                .any(|(name, _)| name == "Content-Type");
            fields
                .filter(|_| is_as_sent)
                .map(|(_, value)| value.as_str())
                .collect()
        } else {
            request.all("stripe-signature")
        };
        let given = match (fields.as_slice(), self.fault) {
            ([], Some(Fault::TakesUnsigned)) | ([""], Some(Fault::ReadsEmptyAsNone)) => {
                return Ok(());
            }
            ([first, ..], Some(Fault::ReadsFirstField)) => *first,
            ([.., last], Some(Fault::ReadsLastField)) => *last,
            ([only], _) => *only,
            _ => return Err(refused()),
        };
        let elements: Vec<(&str, &str)> = given
            .split(',')
            .filter_map(|element| element.split_once('='))
            .collect();
        let stamps: Vec<&str> = elements
            .iter()
            .filter(|(name, _)| *name == "t")
            .map(|(_, value)| *value)
            .collect();
        let (judged, signed) = match (stamps.as_slice(), self.fault) {
            ([only], _) => (*only, *only),
            ([first, last], Some(Fault::ReadsFirstTimestamp)) => (*first, *last),
            ([first, last], Some(Fault::ReadsLastTimestamp)) => (*last, *first),
            _ => return Err(refused()),
        };
        let read = |text: &str| {
            text.parse::<i64>().ok().filter(|read| {
                self.has(Fault::ReadsTimestampsLeniently) || read.to_string() == text
            })
        };
        let (judged, signed) = read(judged).zip(read(signed)).ok_or_else(refused)?;
        let ours = self.tags(body, signed);
        let mut schemes = elements.iter().filter(|(name, _)| match self.fault {
            Some(Fault::ReadsAnyScheme) => *name != "t",
            _ => *name == "v1",
        });
        let is_equal = |(_, digits): &(&str, &str)| self.equal(digits, &ours);
        let is_genuine = match self.fault {
            Some(Fault::ReadsFirstOfSignatures) => schemes.next().is_some_and(is_equal),
            Some(Fault::ReadsLastOfSignatures) => schemes.last().is_some_and(is_equal),
            _ => schemes.any(is_equal),
        };
        if !is_genuine {
            return Err(self.refusal(given, &ours));
        }
        let age = SystemClock::default().unix_secs() - judged;
        let (past, future) = match self.fault {
            Some(Fault::WindowIsNarrow) => (60, 60),
            Some(Fault::WindowIsNone) => (i64::MAX, i64::MAX),
            Some(Fault::WindowIsOneSided) => (WINDOW, i64::MAX),
            _ => (WINDOW, WINDOW),
        };
        if age > past || age.saturating_neg() > future {
            let tells = self.has(Fault::TellsReasons) || self.has(Fault::TellsStaleness);
            return Err(if tells {
                (401, "the timestamp is too old".to_owned())
            } else {
                refused()
            });
        }
        Ok(())
    }

    fn refusal(&self, given: &str, ours: &[String]) -> Said {
        match self.fault {
            Some(Fault::Faults) if given.contains('~') => (500, "no hex".to_owned()),
            Some(Fault::TellsReasons) if given.contains('~') => (401, "no hex".to_owned()),
            Some(Fault::TellsSignature) => (401, format!("expected {}", ours.join(" or "))),
            _ => refused(),
        }
    }

    fn equal(&self, digits: &str, ours: &[String]) -> bool {
        let is_equal = |tag: &String| match self.fault {
            Some(Fault::ComparesByteByByte) => {
                let equal = tag
                    .bytes()
                    .zip(digits.bytes())
                    .take_while(|(a, b)| a == b)
                    .count();
                // Much slower than any comparison: this is about the probe.
                std::thread::sleep(Duration::from_micros(equal as u64 * 100));
                tag == digits
            }
            Some(Fault::ComparesPrefix) => tag.starts_with(digits),
            Some(Fault::ComparesWithoutCase) => tag.eq_ignore_ascii_case(digits),
            Some(Fault::OverlooksTheRest) => digits.starts_with(tag.as_str()),
            Some(Fault::TakesMalformedDigits) => digits.starts_with('~') || tag == digits,
            Some(Fault::TakesZeros) => {
                digits.bytes().all(|digit| digit == b'0') && digits.len() == 64 || tag == digits
            }
            _ => tag == digits,
        };
        ours.iter().any(is_equal)
    }

    /// The right digits under each key.
    fn tags(&self, body: &[u8], unix_secs: i64) -> Vec<String> {
        let provider = self.sender.provider();
        let fields = self
            .keys
            .iter()
            .flat_map(|keys| provider.sign(&Signing::new(keys, body, unix_secs)));
        fields
            .filter_map(|(_, value)| Some(value.rsplit_once('=')?.1.to_owned()))
            .collect()
    }
}

impl Request {
    fn all(&self, name: &str) -> Vec<&str> {
        let fields = self
            .fields
            .iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value.as_str()).collect()
    }
}

fn refused() -> Said {
    (401, "refused".to_owned())
}

fn id_of(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    Some(body.get("id")?.as_str()?.to_owned())
}

fn minified(body: &[u8]) -> Vec<u8> {
    let (mut is_text, mut is_escaped) = (false, false);
    let mut keep = |byte: &u8| {
        let keeps = is_text || !byte.is_ascii_whitespace();
        match byte {
            b'"' if !is_escaped => is_text = !is_text,
            _ => {}
        }
        is_escaped = *byte == b'\\' && !is_escaped;
        keeps
    };
    body.iter().copied().filter(|byte| keep(byte)).collect()
}

/// Stored blocks are all that is ever sent here.
fn inflated(packed: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut rest = &packed[10..];
    loop {
        let size = usize::from(u16::from_le_bytes([rest[1], rest[2]]));
        body.extend(&rest[5..5 + size]);
        if rest[0] == 1 {
            return body;
        }
        rest = &rest[5 + size..];
    }
}
