//! A small application whose keys change, and what signs requests to it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use webhook_actix::{
    Builder, Clock, DynProvider, KeyConfig, Keyring, SecretFormat, Signing, Webhooks,
};
use webhook_tests::app::{NOW, block_on, run};
use webhook_tests::stores::Store;

/// A running application.
pub(crate) struct App<S: Store> {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Turned,
    pub(crate) store: Arc<S>,
    webhooks: Webhooks<S::Ledger>,
    server: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

/// A clock that tests turn.
#[derive(Debug, Clone)]
pub(crate) struct Turned(Arc<AtomicI64>);

/// A directory of mounted secrets.
pub(crate) struct Mount(PathBuf);

impl<S: Store> App<S> {
    /// Start with these endpoints, on a fresh store and a free port.
    pub(crate) fn start(
        endpoints: impl FnOnce(Builder<S::Ledger>) -> Builder<S::Ledger> + Send + 'static,
    ) -> Self {
        let store = Arc::new(block_on(S::fresh()));
        let clock = Turned(Arc::new(AtomicI64::new(NOW)));
        let (ready, is_ready) = mpsc::channel();
        let thread = std::thread::spawn({
            let (store, clock) = (store.clone(), clock.clone());
            move || {
                actix_web::rt::System::new().block_on(async move {
                    let builder = Webhooks::builder(store.ledger().await).clock(clock);
                    let webhooks = endpoints(builder).build().unwrap();
                    let handle = webhooks.clone();
                    run(webhooks, |address, server| {
                        ready.send((address, server, handle)).unwrap();
                    })
                    .await;
                });
            }
        });
        let (address, server, webhooks) = is_ready.recv_timeout(Duration::from_mins(1)).unwrap();
        Self {
            address,
            clock,
            store,
            webhooks,
            server,
            thread: Some(thread),
        }
    }

    /// Read the keys again, as a signal handler would.
    pub(crate) fn reload(&self) -> Result<(), String> {
        let reloaded = block_on(self.webhooks.reload_keys());
        reloaded.map_err(|fault| fault.to_string())
    }

    /// How often handlers took effect.
    pub(crate) fn effects(&self) -> i64 {
        self.number("select count(*) from effect")
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        block_on(self.store.number(sql))
    }
}

impl<S: Store> Drop for App<S> {
    fn drop(&mut self) {
        let server = self.server.clone();
        let stopped = std::thread::spawn(move || block_on(server.stop(true))).join();
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            stopped.unwrap();
            ended.unwrap().unwrap();
        }
    }
}

impl Turned {
    pub(crate) fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn set(&self, unix_secs: i64) {
        self.0.store(unix_secs, Ordering::SeqCst);
    }
}

impl Clock for Turned {
    fn unix_secs(&self) -> i64 {
        self.now()
    }
}

impl Mount {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("webhook-mount-{}-{next}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The secret that goes by this name in tests.
pub(crate) fn secret_of(name: &str) -> String {
    format!("secret-of-{name}-0123456789")
}

/// The keyring of one key with this id.
pub(crate) fn ring(id: &str, secret: &str) -> Keyring {
    let key = KeyConfig::new(secret).id(id);
    Keyring::build(SecretFormat::Text { prefix: "" }, [key]).unwrap()
}

/// The headers of a request signed at `at`.
pub(crate) fn signed(
    provider: &dyn DynProvider,
    keys: &Keyring,
    body: &[u8],
    at: i64,
) -> Vec<(String, String)> {
    let headers = provider.sign(&Signing::new(keys, body, at)).into_iter();
    headers
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
