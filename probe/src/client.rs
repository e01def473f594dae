//! An HTTP/1.1 client that sends what libraries refuse to: repeated fields, wrong lengths, bodies that do not end.
//!
//! A connection for each request, no redirect, no retry, no proxy.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::message::Message;
use crate::target::Target;

/// As much of an answer as is kept.
const MAX_ANSWER: usize = 64 * 1024;

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) end: End,
    /// Until the head of the answer was there, or until there was no hope of one.
    pub(crate) took: Duration,
    /// Whether the whole request was written before the answer came.
    pub(crate) sent_all: bool,
}

/// How an exchange ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// With an answer.
    Answered(Reply),
    /// The connection was closed without one.
    Closed,
    /// Nobody listens, or TLS failed.
    NotConnected(String),
    /// There was none in time.
    Silent,
}

/// A status, header fields with names in lower case, and a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn status(&self) -> Option<u16> {
        self.reply().map(|reply| reply.status)
    }

    pub(crate) fn reply(&self) -> Option<&Reply> {
        match &self.end {
            End::Answered(reply) => Some(reply),
            _ => None,
        }
    }

    pub(crate) fn is_accepted(&self) -> bool {
        self.status()
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// `401`, or why there is no status.
    pub(crate) fn words(&self) -> String {
        match &self.end {
            End::Answered(reply) => reply.status.to_string(),
            End::Closed => "closed without an answer".to_owned(),
            End::NotConnected(fault) => format!("no connection: {fault}"),
            End::Silent => format!("no answer in {} s", self.took.as_secs()),
        }
    }
}

/// The requests' way out: one for a run.
#[derive(Clone)]
pub(crate) struct Client {
    target: Target,
    tls: Option<TlsConnector>,
}

impl Client {
    pub(crate) fn new(target: Target) -> Self {
        let tls = target.is_https().then(tls).flatten();
        Self { target, tls }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Send one message and wait for its answer, all within `patience`.
    pub(crate) async fn send(&self, message: &Message, patience: Duration) -> Answer {
        let began = Instant::now();
        let mut sent_all = false;
        let exchange = self.exchange(message, began, &mut sent_all);
        let ended = tokio::time::timeout(patience, exchange).await;
        let (end, took) = ended.unwrap_or_else(|_| (End::Silent, began.elapsed()));
        Answer {
            end,
            took,
            sent_all,
        }
    }

    async fn exchange(
        &self,
        message: &Message,
        began: Instant,
        sent_all: &mut bool,
    ) -> (End, Duration) {
        let failed = |fault: io::Error| (End::NotConnected(fault.to_string()), began.elapsed());
        let stream = match TcpStream::connect(self.target.address()).await {
            Ok(stream) => stream,
            Err(fault) => return failed(fault),
        };
        // What is written in one piece should arrive in one.
        let _ = stream.set_nodelay(true);
        let head = message.head(&self.target);
        if !self.target.is_https() {
            return talk(stream, &head, message, began, sent_all).await;
        }
        let (Some(tls), Ok(name)) = (
            &self.tls,
            ServerName::try_from(self.target.host().to_owned()),
        ) else {
            return failed(io::Error::other("no TLS to such a name"));
        };
        match tls.connect(name, stream).await {
            Ok(stream) => talk(stream, &head, message, began, sent_all).await,
            Err(fault) => failed(fault),
        }
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite,
    head: &[u8],
    message: &Message,
    began: Instant,
    sent_all: &mut bool,
) -> (End, Duration) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let write = async {
        // Small bodies go with their head, as clients send them.
        let mut pending = head.to_vec();
        for (piece, pause) in message.pieces() {
            pending.extend_from_slice(&piece);
            if pause.is_zero() && pending.len() < 64 * 1024 {
                continue;
            }
            writer.write_all(&pending).await?;
            writer.flush().await?;
            pending.clear();
            tokio::time::sleep(pause).await;
        }
        writer.write_all(&pending).await?;
        writer.flush().await
    };
    let read = read(&mut reader, began);
    tokio::pin!(write, read);
    tokio::select! {
        biased;
        // First, or what was sent and answered between two polls would count as unsent.
        written = &mut write => {
            *sent_all = written.is_ok();
            // A server that refuses to read on may have answered all the same.
            read.await
        }
        answer = &mut read => answer,
    }
}

/// Read an answer. The time is that of its head.
async fn read(reader: &mut (impl AsyncRead + Unpin), began: Instant) -> (End, Duration) {
    let mut bytes = Vec::new();
    let mut buffer = vec![0_u8; 8 * 1024];
    let mut took = None;
    loop {
        let is_over = match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => true,
            Ok(count) => {
                bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
                bytes.len() > MAX_ANSWER
            }
        };
        skip_interim(&mut bytes);
        let head = find(&bytes, b"\r\n\r\n");
        if head.is_some() {
            took.get_or_insert_with(|| began.elapsed());
        }
        let reply = head.and_then(|at| parse(&bytes, at, is_over));
        let took = took.unwrap_or_else(|| began.elapsed());
        match reply {
            Some(reply) => return (End::Answered(reply), took),
            None if is_over => return (End::Closed, took),
            None => {}
        }
    }
}

/// `100 Continue` and its like come before the answer.
fn skip_interim(bytes: &mut Vec<u8>) {
    while bytes.starts_with(b"HTTP/1.1 1") {
        let Some(end) = find(bytes, b"\r\n\r\n") else {
            return;
        };
        bytes.drain(..end.saturating_add(4));
    }
}

/// The reply, once its body is there or the connection is over.
fn parse(bytes: &[u8], head_end: usize, is_over: bool) -> Option<Reply> {
    let head = String::from_utf8_lossy(bytes.get(..head_end)?);
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.get(2..5)?;
    let status = status.parse().ok()?;
    let fields = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<(String, String)> = fields
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let value = |name: &str| {
        headers
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value)
    };
    let body = bytes.get(head_end.saturating_add(4)..)?;
    let is_chunked = value("transfer-encoding").is_some_and(|value| value.contains("chunked"));
    let length = value("content-length").and_then(|value| value.parse::<usize>().ok());
    let (body, is_whole) = match length {
        _ if is_chunked => (dechunked(body), body.ends_with(b"0\r\n\r\n")),
        _ if matches!(status, 204 | 304) => (Vec::new(), true),
        Some(length) => (
            body.get(..length).unwrap_or(body).to_vec(),
            body.len() >= length,
        ),
        None => (body.to_vec(), false),
    };
    (is_whole || is_over).then_some(Reply {
        status,
        headers,
        body,
    })
}

fn dechunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = find(rest, b"\r\n") {
        let size = rest
            .get(..end)
            .and_then(|size| std::str::from_utf8(size).ok());
        let size =
            size.and_then(|size| usize::from_str_radix(size.split(';').next()?.trim(), 16).ok());
        let after = rest.get(end.saturating_add(2)..).unwrap_or_default();
        let Some(size @ 1..) = size else {
            break;
        };
        body.extend_from_slice(after.get(..size).unwrap_or(after));
        rest = after.get(size.saturating_add(2)..).unwrap_or_default();
    }
    body
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

fn tls() -> Option<TlsConnector> {
    let roots = webpki_roots::TLS_SERVER_ROOTS
        .iter()
        .cloned()
        .collect::<RootCertStore>();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Some(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answer(bytes: &[u8]) -> End {
        read(&mut &bytes[..], Instant::now()).await.0
    }

    #[tokio::test]
    async fn answers_of_every_framing() {
        for (bytes, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nto the end",
                "to the end",
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nok\r\n1\r\n!\r\n0\r\n\r\n",
                "ok!",
            ),
            ("HTTP/1.0 200\r\nContent-Length: 9\r\n\r\ncut", "cut"),
        ] {
            let End::Answered(reply) = answer(bytes.as_bytes()).await else {
                panic!("{bytes:?}");
            };
            assert_eq!(
                (reply.status, reply.body.as_slice()),
                (200, body.as_bytes())
            );
        }
    }

    #[tokio::test]
    async fn what_is_no_answer() {
        for bytes in [
            "",
            "HTTP/1.1 200 OK\r\n",
            "SSH-2.0-x\r\n\r\n",
            "HTTP/1.1 2é0\r\n\r\n",
        ] {
            assert!(
                matches!(answer(bytes.as_bytes()).await, End::Closed),
                "{bytes:?}"
            );
        }
    }
}
