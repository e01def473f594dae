//! A receiver behind an address: any framework, any language.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use webhook_fixtures::Delivery;

use crate::answer::Answer;

/// An answer that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(30);
/// Nothing more is read of an answer.
const MOST_BYTES: u64 = 1024 * 1024;

/// A server that listens for `http://`. What is sent is what stands in the [`Delivery`]: repeated fields, empty ones and
/// the case of names as they are.
#[derive(Debug, Clone)]
pub struct Http {
    authority: String,
}

impl Http {
    /// The server at `authority`: `127.0.0.1:8080`. The path is each delivery's own.
    pub fn at(authority: impl std::fmt::Display) -> Self {
        Self {
            authority: format!("{authority}"),
        }
    }

    /// Send it, with a length and on a connection of its own.
    ///
    /// # Panics
    ///
    /// If nobody listens.
    pub async fn deliver(&self, delivery: &Delivery) -> Answer {
        self.exchange(delivery, &Barrier::new(1)).await
    }

    /// Send it `times` at once: the last byte of each goes off when all the others of all are sent.
    ///
    /// # Panics
    ///
    /// If nobody listens.
    pub async fn race(&self, times: usize, delivery: &Delivery) -> Vec<Answer> {
        let start = Barrier::new(times);
        join_all((0..times).map(|_| self.exchange(delivery, &start))).await
    }

    async fn exchange(&self, delivery: &Delivery, start: &Barrier) -> Answer {
        let mut stream = TcpStream::connect(&self.authority).await;
        let stream = stream
            .as_mut()
            .unwrap_or_else(|fault| panic!("{}: {fault}", self.authority));
        // A last byte that waits for the one before to be acknowledged comes late.
        let _ = stream.set_nodelay(true);
        let request = self.request(delivery);
        let (last, first) = request.split_last().unwrap();
        // Who answers early need not read on.
        let _ = stream.write_all(first).await;
        start.wait().await;
        let _ = stream.write_all(&[*last]).await;
        let mut answer = Vec::new();
        let read = stream.take(MOST_BYTES);
        let _ = tokio::time::timeout(PATIENCE, { read }.read_to_end(&mut answer)).await;
        read_answer(&answer).unwrap_or_else(Answer::none)
    }

    fn request(&self, delivery: &Delivery) -> Vec<u8> {
        let target = delivery.target(&delivery.path);
        let (method, body) = (delivery.method, &delivery.body);
        let mut request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n",
            self.authority,
            body.len()
        )
        .into_bytes();
        for (name, value) in &delivery.headers {
            request.extend_from_slice(name.as_bytes());
            request.extend_from_slice(b": ");
            request.extend_from_slice(value);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        request
    }
}

/// Of a server that closes the connection after it.
fn read_answer(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let fields: Vec<(String, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let field = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    let body = &bytes[end + 4..];
    let is_chunked = field("transfer-encoding").is_some_and(|coding| coding == "chunked");
    let body = if is_chunked {
        join_chunks(body)
    } else {
        body.to_vec()
    };
    Some(Answer {
        status: Some(status),
        content_type: field("content-type"),
        body: Bytes::from(body),
    })
}

fn join_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let digits = std::str::from_utf8(&rest[..end]).unwrap_or_default();
        let size = digits.split(';').next().unwrap_or_default();
        let Ok(length @ 1..) = usize::from_str_radix(size.trim(), 16) else {
            break;
        };
        let from = end + 2;
        let to = (from + length).min(rest.len());
        body.extend_from_slice(&rest[from..to]);
        rest = rest.get(to + 2..).unwrap_or_default();
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_a_length_and_in_chunks() {
        let plain = read_answer(b"HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n").unwrap();
        assert!(plain.is_success() && plain.body.is_empty());
        let chunked = b"HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n\
            3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        let chunked = read_answer(chunked).unwrap();
        assert!(chunked.is_refusal());
        assert_eq!(chunked.body, "abcde");
        assert_eq!(chunked.content_type.as_deref(), Some("text/plain"));
        assert_eq!(read_answer(b"HTTP/1.1 200 OK\r\n"), None);
        assert_eq!(read_answer(b""), None);
    }
}
