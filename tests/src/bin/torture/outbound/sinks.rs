//! Endpoints in trouble, and the ordered one. HTTP by hand, in this process, which nobody kills: they know
//! what really came over the wire.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::sleep;
use webhook_tests::outbound::DEADLINE;
use webhook_tests::torture::Dice;

/// Paths of endpoints in trouble.
pub(crate) const TROUBLES: [&str; 4] = ["/flaps", "/gone", "/hangs", "/slow"];

#[derive(Debug)]
pub(crate) struct Sinks {
    address: SocketAddr,
    shared: Arc<Shared>,
    _runtime: Runtime,
}

#[derive(Debug)]
struct Shared {
    /// From now on all answer well.
    is_healed: AtomicBool,
    seen: Mutex<Seen>,
    dice: Mutex<Dice>,
}

/// What came, by path and event.
#[derive(Debug, Default, Clone)]
pub(crate) struct Seen {
    pub(crate) requests: HashMap<(String, String), u64>,
    /// Those of which two were under way at once.
    pub(crate) overlapped: HashSet<(String, String)>,
    pub(crate) findings: Vec<String>,
    under_way: HashMap<(String, String), u32>,
    /// For each order key, the last that was accepted.
    accepted: HashMap<String, i64>,
}

#[derive(Debug, Deserialize)]
struct Payload {
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    order: Option<String>,
    nth: Option<i64>,
}

/// What to answer, and after how long.
#[derive(Debug, Clone, Copy)]
struct Reply {
    status: u16,
    after: Duration,
}

impl Sinks {
    pub(crate) fn start(seed: u64) -> Self {
        let runtime = super::runtime();
        let shared = Arc::new(Shared {
            is_healed: AtomicBool::new(false),
            seen: Mutex::default(),
            dice: Mutex::new(Dice::new(seed)),
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = shared.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = serving.clone();
                tokio::spawn(async move { shared.serve(stream).await });
            }
        });
        Self {
            address,
            shared,
            _runtime: runtime,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn heal(&self) {
        self.shared.is_healed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn seen(&self) -> Seen {
        self.shared.seen.lock().unwrap().clone()
    }
}

impl Shared {
    /// One connection, request by request, until either side has enough.
    async fn serve(&self, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        loop {
            let head = loop {
                if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                    break end + 4;
                }
                if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                    return;
                }
            };
            let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
            let header = |name: &str| {
                let mut lines = text.lines().filter_map(|line| line.split_once(':'));
                let value =
                    lines.find_map(|(is, value)| is.eq_ignore_ascii_case(name).then_some(value));
                value.unwrap().trim().to_owned()
            };
            let length: usize = header("content-length").parse().unwrap();
            while bytes.len() < head + length {
                if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                    return;
                }
            }
            // Input: `POST /slow HTTP/1.1`
            let path = text.split(' ').nth(1).unwrap().to_owned();
            let payload: Payload = serde_json::from_slice(&bytes[head..head + length]).unwrap();
            bytes.drain(..head + length);
            let what = (path, header("webhook-id"));
            let reply = self.begin(&what, &payload.data);
            let is_gone = tokio::select! {
                () = sleep(reply.after) => false,
                // Nobody sends a second request before the answer to the first.
                read = stream.read_buf(&mut bytes) => read.unwrap_or(0) == 0,
            };
            self.end(&what);
            let answer = format!(
                "HTTP/1.1 {} Because\r\ncontent-length: 0\r\n\r\n",
                reply.status
            );
            if is_gone || stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn begin(&self, what: &(String, String), data: &Data) -> Reply {
        let mut seen = self.seen.lock().unwrap();
        *seen.requests.entry(what.clone()).or_default() += 1;
        let under_way = seen.under_way.entry(what.clone()).or_default();
        *under_way += 1;
        if *under_way > 1 {
            seen.overlapped.insert(what.clone());
        }
        let reply = self.reply(&what.0);
        if let (Some(order), Some(nth)) = (&data.order, data.nth)
            && what.0 == "/ordered"
        {
            let accepted = seen.accepted.entry(order.clone()).or_default();
            let last = *accepted;
            if reply.status == 200 {
                *accepted = last.max(nth);
            }
            // Again is allowed, ahead is not.
            if nth > last + 1 {
                let finding = format!("{order} {nth} came when {last} was the last accepted");
                seen.findings.push(finding);
            }
        }
        reply
    }

    fn end(&self, what: &(String, String)) {
        let mut seen = self.seen.lock().unwrap();
        *seen.under_way.get_mut(what).unwrap() -= 1;
    }

    fn reply(&self, path: &str) -> Reply {
        let is_healed = self.is_healed.load(Ordering::Relaxed);
        let mut dice = self.dice.lock().unwrap();
        let at_once = |status| Reply {
            status,
            after: Duration::ZERO,
        };
        match path {
            // Never in time.
            "/hangs" if !is_healed => Reply {
                status: 200,
                after: Duration::from_mins(1),
            },
            // In time, but late. Healed, an answer after half of the deadline is late enough.
            "/slow" => Reply {
                status: 200,
                after: if is_healed {
                    Duration::ZERO
                } else {
                    DEADLINE.mul_f64(0.9)
                },
            },
            "/flaps" if !is_healed && dice.percent(50) => at_once(500),
            "/gone" => at_once(410),
            "/ordered" if !is_healed && dice.percent(10) => at_once(503),
            _ => at_once(200),
        }
    }
}
