//! A client that costs as little as it can: requests are ready bytes, answers are only recognised.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;

use crate::timings::{Timings, Work};

/// Send `request` so often, one after the other on one connection.
pub(crate) fn send(server: SocketAddr, request: &[u8], times: u64) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    let mut answer = Answer::default();
    for _ in 0..times {
        stream.write_all(request)?;
        answer.begin();
        while !answer.is_whole() {
            let read = stream.read(answer.space())?;
            answer.took(read);
        }
    }
    Ok(())
}

/// Requests a second that `server` answers on so many connections.
pub(crate) fn rate(
    server: SocketAddr,
    request: &Bytes,
    connections: usize,
    length: Duration,
) -> std::io::Result<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..connections {
            let stream = tokio::net::TcpStream::connect(server).await?;
            stream.set_nodelay(true)?;
            streams.push(stream);
        }
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for stream in streams {
            tasks.spawn(repeat(stream, request.clone(), began, length));
        }
        let mut answered = 0.0;
        while let Some(count) = tasks.join_next().await {
            answered += count.map_err(std::io::Error::other)??;
        }
        Ok(answered / began.elapsed().as_secs_f64())
    })
}

/// Send each of `requests` once, on so many connections.
pub(crate) fn send_all(
    server: SocketAddr,
    requests: Vec<Bytes>,
    connections: usize,
) -> std::io::Result<Timings> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    runtime.block_on(async {
        let mut streams = Vec::new();
        for _ in 0..connections {
            let stream = tokio::net::TcpStream::connect(server).await?;
            stream.set_nodelay(true)?;
            streams.push(stream);
        }
        let work = Work::new(requests);
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for stream in streams {
            tasks.spawn(share(stream, work.clone()));
        }
        let mut calls = Vec::new();
        while let Some(share) = tasks.join_next().await {
            calls.extend(share.map_err(std::io::Error::other)??);
        }
        Ok(Timings::new(calls, began.elapsed()))
    })
}

async fn share(
    mut stream: tokio::net::TcpStream,
    work: Work<Bytes>,
) -> std::io::Result<Vec<Duration>> {
    let mut answer = Answer::default();
    let mut calls = Vec::new();
    while let Some(request) = work.next() {
        let began = Instant::now();
        stream.write_all(&request).await?;
        answer.begin();
        while !answer.is_whole() {
            let read = stream.read(answer.space()).await?;
            answer.took(read);
        }
        calls.push(began.elapsed());
    }
    Ok(calls)
}

async fn repeat(
    mut stream: tokio::net::TcpStream,
    request: Bytes,
    began: Instant,
    length: Duration,
) -> std::io::Result<f64> {
    let mut answer = Answer::default();
    let mut count = 0.0;
    while began.elapsed() < length {
        stream.write_all(&request).await?;
        answer.begin();
        while !answer.is_whole() {
            let read = stream.read(answer.space()).await?;
            answer.took(read);
        }
        count += 1.0;
    }
    Ok(count)
}

/// An answer without a body. It must be a success.
struct Answer {
    bytes: [u8; 1024],
    len: usize,
}

impl Answer {
    fn begin(&mut self) {
        self.len = 0;
    }

    fn space(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.len..).unwrap_or_default()
    }

    fn took(&mut self, read: usize) {
        assert!(read > 0, "the server hung up");
        self.len = self.len.saturating_add(read);
    }

    fn is_whole(&self) -> bool {
        let bytes = self.bytes.get(..self.len).unwrap_or_default();
        let is_whole = bytes.ends_with(b"\r\n\r\n");
        assert!(
            !is_whole || bytes.starts_with(b"HTTP/1.1 200 "),
            "a refusal"
        );
        is_whole
    }
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            bytes: [0; 1024],
            len: 0,
        }
    }
}
