//! A receiver that keeps what it gets and answers as it is told. HTTP by hand, so that it shares no
//! fault with the client.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// One request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Instant,
}

/// What to answer, and after how long.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) after: Duration,
    pub(crate) headers: String,
    pub(crate) body: String,
}

#[derive(Debug)]
pub(crate) struct Sink {
    pub(crate) address: SocketAddr,
    got: Arc<Mutex<Vec<Request>>>,
    serving: JoinHandle<()>,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }
}

impl Sink {
    /// `reply` is given each request and how many came before it.
    pub(crate) async fn start(
        reply: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (kept, reply) = (got.clone(), Arc::new(reply));
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, reply) = (kept.clone(), reply.clone());
                tokio::spawn(async move { serve(stream, &kept, &*reply).await });
            }
        });
        Self {
            address,
            got,
            serving,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn got(&self) -> Vec<Request> {
        self.got.lock().unwrap().clone()
    }

    /// Wait for as many requests.
    pub(crate) async fn wait(&self, count: usize) -> Vec<Request> {
        for _ in 0..1000 {
            let got = self.got();
            if got.len() >= count {
                return got;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("{} of {count} requests came", self.got().len());
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    kept: &Mutex<Vec<Request>>,
    reply: &(dyn Fn(&Request, usize) -> Reply + Send + Sync),
) {
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
        let mut lines = text.lines();
        let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
        let mut headers: HashMap<String, String> = HashMap::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').unwrap();
            let name = name.to_ascii_lowercase();
            let repeated = headers.insert(name, value.trim().to_owned());
            assert_eq!(repeated, None, "a header came twice");
        }
        let length: usize = headers["content-length"].parse().unwrap();
        while bytes.len() < head + length {
            assert!(stream.read_buf(&mut bytes).await.unwrap() > 0);
        }
        let request = Request {
            path,
            headers,
            body: bytes[head..head + length].to_vec(),
            at: Instant::now(),
        };
        bytes.drain(..head + length);
        let before = {
            let mut kept = kept.lock().unwrap();
            kept.push(request.clone());
            kept.len() - 1
        };
        let reply = reply(&request, before);
        sleep(reply.after).await;
        let answer = format!(
            "HTTP/1.1 {} Because\r\ncontent-length: {}\r\n{}\r\n{}",
            reply.status,
            reply.body.len(),
            reply.headers,
            reply.body
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}
