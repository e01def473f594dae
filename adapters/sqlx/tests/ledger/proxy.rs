//! A way to PostgreSQL that loses the answer to a commit.

use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// Passes everything on. Once armed, the next connection that sends `COMMIT` is cut after the server
/// has had it, before the client sees the answer.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) url: String,
    armed: Arc<AtomicBool>,
}

impl Proxy {
    pub(crate) async fn to(url: &str) -> Self {
        let options = PgConnectOptions::from_str(url).unwrap();
        let server = (options.get_host().to_owned(), options.get_port());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let armed = Arc::new(AtomicBool::new(false));
        let url = options
            .host("127.0.0.1")
            .port(port)
            .ssl_mode(PgSslMode::Disable)
            .to_url_lossy()
            .to_string();
        let is_armed = armed.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, is_armed) = (server.clone(), is_armed.clone());
                tokio::spawn(async move {
                    let _ = pass(client, &server, &is_armed).await;
                });
            }
        });
        Self { url, armed }
    }

    pub(crate) fn lose_the_next_commit(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }
}

async fn pass(
    client: TcpStream,
    (host, port): &(String, u16),
    is_armed: &AtomicBool,
) -> io::Result<()> {
    if host.starts_with('/') {
        let socket = format!("{host}/.s.PGSQL.{port}");
        let (read, write) = UnixStream::connect(socket).await?.into_split();
        relay(client, read, write, is_armed).await
    } else {
        let (read, write) = TcpStream::connect((host.as_str(), *port))
            .await?
            .into_split();
        relay(client, read, write, is_armed).await
    }
}

async fn relay(
    mut client: TcpStream,
    mut from_server: impl AsyncReadExt + Unpin,
    mut to_server: impl AsyncWriteExt + Unpin,
    is_armed: &AtomicBool,
) -> io::Result<()> {
    let (mut asked, mut answered) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let bytes = &asked[..read?];
                if bytes.is_empty() {
                    return Ok(());
                }
                to_server.write_all(bytes).await?;
                let is_commit = bytes.windows(7).any(|window| window == b"COMMIT\0");
                if is_commit && is_armed.swap(false, Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    return Ok(());
                }
            }
            read = from_server.read(&mut answered) => {
                let bytes = &answered[..read?];
                if bytes.is_empty() {
                    return Ok(());
                }
                client.write_all(bytes).await?;
            }
        }
    }
}
