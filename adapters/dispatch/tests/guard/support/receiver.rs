//! Receivers that do as a test says.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A listener whose connections are handled by a test's closure, and counted.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Receiver {
    /// `serve` gets each connection, with its number from 0.
    pub(crate) async fn start<F, R>(serve: F) -> Self
    where
        F: Fn(TcpStream, usize) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self::on("127.0.0.1:0", serve).await
    }

    pub(crate) async fn on<F, R>(address: &str, serve: F) -> Self
    where
        F: Fn(TcpStream, usize) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, count.fetch_add(1, SeqCst)));
            }
        });
        Self {
            address,
            connections,
            accepting,
        }
    }

    /// Answers every request with `answer`, and keeps connections.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::start(move |mut stream, _| {
            let answer = Arc::clone(&answer);
            async move {
                while read_request(&mut stream).await.is_some() {
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// Takes connections on every address of this host, says nothing and counts.
    pub(crate) async fn sink() -> Self {
        Self::on("[::]:0", |stream, _| async move {
            let _stays_open = stream;
            std::future::pending::<()>().await;
        })
        .await
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// One request with a `content-length`, or nothing when the other side is gone.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let all = head + length.map_or(0, |length| length.parse().unwrap());
    while bytes.len() < all {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    assert_eq!(
        bytes.len(),
        all,
        "a second request came along with the first"
    );
    Some(String::from_utf8(bytes).unwrap())
}

/// Write `piece` until the other side is gone or `most` bytes were taken. Returns the bytes taken.
pub(crate) async fn flood(
    stream: &mut (impl AsyncWrite + Unpin),
    piece: &[u8],
    most: usize,
) -> usize {
    let mut taken = 0;
    while taken < most && stream.write_all(piece).await.is_ok() {
        taken += piece.len();
    }
    taken
}
