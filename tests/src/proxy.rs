//! A way to PostgreSQL that can be closed, fall silent, or be cut at a chosen message.

use std::io;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{mpsc, watch};

/// The way to one database. It ends with the test.
#[derive(Debug)]
pub struct Proxy {
    /// The database's URL, by this way.
    pub url: String,
    way: watch::Sender<Way>,
    cut: Arc<Mutex<Option<Cut>>>,
    _alive: mpsc::Sender<()>,
}

/// How the way is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// Nobody listens, and whoever was connected no longer is: a server that is down.
    Closed,
    /// All is passed on.
    Open,
    /// Nothing is passed on, and nobody is told: a server, or a network, that hangs.
    Silent,
}

/// A connection is cut at the client's message number `occurrence` that contains `words`.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "tests say what they cut")]
pub struct Cut {
    /// What the message contains.
    pub words: String,
    /// The first, the second, ..
    pub occurrence: u32,
    /// Before or after the server has it.
    pub moment: Moment,
}

/// When a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// The server acted on the message; its answer never comes.
    Answered,
    /// The server never has the message.
    Asked,
    /// The server has the message and is at it.
    Running,
}

impl Proxy {
    /// An open way to the database at `url`.
    ///
    /// # Panics
    ///
    /// If there is no port for it.
    pub fn to(url: &str) -> Self {
        let options = PgConnectOptions::from_str(url).unwrap();
        let server = (options.get_host().to_owned(), options.get_port());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (way, ways) = watch::channel(Way::Open);
        let (alive, mut end) = mpsc::channel(1);
        let cut = Arc::new(Mutex::new(None));
        let passing = Passing {
            server,
            ways,
            cut: cut.clone(),
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                tokio::select! {
                    () = passing.listen(listener) => {}
                    _ = end.recv() => {}
                }
            });
        });
        let url = options
            .host("127.0.0.1")
            .port(port)
            .ssl_mode(PgSslMode::Disable)
            .to_url_lossy()
            .to_string();
        Self {
            url,
            way,
            cut,
            _alive: alive,
        }
    }

    /// Make the way so, for connections that are and that come.
    pub fn set(&self, way: Way) {
        self.way.send_replace(way);
    }

    /// Cut one connection, once.
    ///
    /// # Panics
    ///
    /// If the proxy panicked.
    pub fn cut(&self, cut: Cut) {
        *self.cut.lock().unwrap() = Some(cut);
    }

    /// Whether a cut that was asked for was made.
    ///
    /// # Panics
    ///
    /// If the proxy panicked.
    pub fn has_cut(&self) -> bool {
        self.cut.lock().unwrap().is_none()
    }
}

#[derive(Clone)]
struct Passing {
    server: (String, u16),
    ways: watch::Receiver<Way>,
    cut: Arc<Mutex<Option<Cut>>>,
}

impl Passing {
    async fn listen(mut self, listener: std::net::TcpListener) {
        let address = listener.local_addr().unwrap();
        let mut listener = Some(TcpListener::from_std(listener).unwrap());
        loop {
            if *self.ways.borrow_and_update() == Way::Closed {
                listener = None;
                if self.ways.changed().await.is_err() {
                    return;
                }
                continue;
            }
            let open = match listener.take() {
                Some(open) => open,
                None => TcpListener::bind(address).await.unwrap(),
            };
            tokio::select! {
                client = open.accept() => {
                    if let Ok((client, _)) = client {
                        let this = self.clone();
                        tokio::spawn(async move { this.pass(client).await });
                    }
                }
                changed = self.ways.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
            }
            listener = Some(open);
        }
    }

    async fn pass(self, client: TcpStream) -> io::Result<()> {
        let (host, port) = self.server.clone();
        if host.starts_with('/') {
            let server = UnixStream::connect(format!("{host}/.s.PGSQL.{port}")).await?;
            let (read, write) = server.into_split();
            self.relay(client, read, write).await
        } else {
            let server = TcpStream::connect((host, port)).await?;
            let (read, write) = server.into_split();
            self.relay(client, read, write).await
        }
    }

    async fn relay(
        mut self,
        mut client: TcpStream,
        mut from_server: impl AsyncReadExt + Unpin,
        mut to_server: impl AsyncWriteExt + Unpin,
    ) -> io::Result<()> {
        let (mut asked, mut answered) = (vec![0; 65536], vec![0; 65536]);
        loop {
            let way = *self.ways.borrow_and_update();
            tokio::select! {
                changed = self.ways.changed() => {
                    if changed.is_err() || *self.ways.borrow() == Way::Closed {
                        return Ok(());
                    }
                }
                read = client.read(&mut asked), if way == Way::Open => {
                    let bytes = &asked[..read?];
                    if bytes.is_empty() {
                        return Ok(());
                    }
                    let moment = self.is_cut_at(bytes);
                    if moment == Some(Moment::Asked) {
                        return Ok(());
                    }
                    to_server.write_all(bytes).await?;
                    if let Some(moment) = moment {
                        if moment == Moment::Answered {
                            let _ = from_server.read(&mut answered).await;
                        }
                        return Ok(());
                    }
                }
                read = from_server.read(&mut answered), if way == Way::Open => {
                    let bytes = &answered[..read?];
                    if bytes.is_empty() {
                        return Ok(());
                    }
                    client.write_all(bytes).await?;
                }
            }
        }
    }

    fn is_cut_at(&self, bytes: &[u8]) -> Option<Moment> {
        let mut cut = self.cut.lock().unwrap();
        let wanted = cut.as_mut()?;
        let words = wanted.words.as_bytes();
        if !bytes.windows(words.len()).any(|window| window == words) {
            return None;
        }
        wanted.occurrence -= 1;
        if wanted.occurrence > 0 {
            return None;
        }
        cut.take().map(|cut| cut.moment)
    }
}
