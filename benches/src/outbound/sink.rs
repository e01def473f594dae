//! Receivers: one that answers at once and knows what came when, and some that do not.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use webhook_benches::quantile;

use crate::server::Running;

/// Answers 204 to everything.
pub(super) struct Sink {
    running: Running,
    came: Arc<Came>,
}

#[derive(Default)]
struct Came {
    count: AtomicUsize,
    at: Mutex<HashMap<String, Instant>>,
}

/// Hangs, drips, answers late, floods with heads or with a body, or refuses.
pub(super) struct Hostile {
    address: SocketAddr,
    refused: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

impl Sink {
    pub(super) fn start() -> Self {
        let came: Arc<Came> = Arc::default();
        let kept = came.clone();
        let running = Running::start(move |ready| async move {
            let server = HttpServer::new(move || {
                App::new()
                    .app_data(web::Data::from(kept.clone()))
                    .default_service(web::to(take))
            })
            .workers(1)
            .bind("127.0.0.1:0")
            .expect("an address");
            let address = *server.addrs().first().expect("an address");
            let server = server.run();
            ready.send((address, server.handle())).expect("a starter");
            server.await.expect("a server");
        });
        Self { running, came }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.running.address())
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.running.address()
    }

    pub(super) fn count(&self) -> usize {
        self.came.count.load(Ordering::Relaxed)
    }

    pub(super) fn wait(&self, count: usize) {
        let from = Instant::now();
        while self.count() < count {
            assert!(from.elapsed() < LONGEST, "{} of {count} came", self.count());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub(super) fn forget(&self) {
        self.came.times().clear();
    }

    /// Of the events that came: seconds from their commit to their arrival.
    pub(super) fn p99(&self, committed: &HashMap<String, Instant>) -> f64 {
        let came = self.came.times();
        let took = came.iter().filter_map(|(id, at)| {
            let committed = committed.get(id)?;
            Some(at.duration_since(*committed).as_secs_f64())
        });
        quantile(took.collect::<Vec<_>>().into_iter(), 0.99)
    }
}

impl Came {
    fn times(&self) -> std::sync::MutexGuard<'_, HashMap<String, Instant>> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn take(came: web::Data<Came>, request: HttpRequest, _body: web::Bytes) -> HttpResponse {
    if let Some(id) = request.headers().get("webhook-id") {
        let id = id.to_str().expect("an id").to_owned();
        came.times().entry(id).or_insert_with(Instant::now);
    }
    came.count.fetch_add(1, Ordering::Relaxed);
    HttpResponse::NoContent().finish()
}

impl Hostile {
    pub(super) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a thread");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("an address");
        let address = listener.local_addr().expect("an address");
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("an address");
        let refused = free.local_addr().expect("an address");
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(misbehave(stream));
            }
        });
        Self {
            address,
            refused,
            _runtime: runtime,
        }
    }

    /// One of six kinds of trouble.
    pub(super) fn url(&self, number: usize) -> String {
        let kinds = ["hang", "drip", "late", "flood", "bomb", "refuse"];
        match kinds.iter().cycle().nth(number.rem_euclid(kinds.len())) {
            Some(&"refuse") | None => self.refused(),
            Some(kind) => format!("http://{}/{kind}", self.address),
        }
    }

    /// Where nobody listens.
    pub(super) fn refused(&self) -> String {
        format!("http://{}/", self.refused)
    }
}

async fn misbehave(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = [0; 4096];
    let read = stream.read(&mut head).await?;
    let head = String::from_utf8_lossy(head.get(..read).unwrap_or_default()).into_owned();
    if head.contains("/late") {
        tokio::time::sleep(Duration::from_millis(4900)).await;
        stream
            .write_all(b"HTTP/1.1 204 x\r\nconnection: close\r\n\r\n")
            .await?;
    } else if head.contains("/drip") {
        for byte in b"HTTP/1.1 200 x\r\ncontent-length: 9999\r\n\r\n"
            .iter()
            .cycle()
        {
            stream.write_all(&[*byte]).await?;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    } else if head.contains("/flood") {
        let early = b"HTTP/1.1 103 x\r\nlink: </a>\r\n\r\n".repeat(100);
        while stream.write_all(&early).await.is_ok() {}
    } else if head.contains("/bomb") {
        let head =
            b"HTTP/1.1 200 x\r\ncontent-encoding: gzip\r\ncontent-length: 1000000000\r\n\r\n";
        stream.write_all(head).await?;
        let zeros = vec![0; 64 * 1024];
        while stream.write_all(&zeros).await.is_ok() {}
    } else {
        tokio::time::sleep(LONGEST).await;
    }
    Ok(())
}

const LONGEST: Duration = Duration::from_mins(5);
