//! An application with endpoints as a test mounts them.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use webhook_actix::{Builder, Clock, KeyConfig, Keys, Webhooks};
use webhook_tests::app::{NOW, SECRET, block_on, run, signed};
use webhook_tests::stores::Store;
use webhook_tests::wire::post;
use webhook_timestamped::Timestamped;

use crate::handlers::Log;

/// An application that runs.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) log: Log,
    server: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start<S: Store>(
        store: &Arc<S>,
        mount: impl FnOnce(Builder<S::Ledger>) -> Builder<S::Ledger> + Send,
    ) -> Self {
        let (ready, is_ready) = mpsc::channel();
        let log = Log::default();
        // The builder is not `Send`, and the mount need not live for ever: built here, run there.
        let ledger = block_on(store.ledger());
        let builder = Webhooks::builder(ledger).data(log.clone()).clock(Present);
        let webhooks = mount(builder).build().unwrap();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(run(webhooks, |address, server| {
                ready.send((address, server)).unwrap();
            }));
        });
        let (address, server) = is_ready.recv_timeout(Duration::from_mins(1)).unwrap();
        Self {
            address,
            log,
            server,
            thread: Some(thread),
        }
    }

    pub(crate) fn post(&self, path: &str, name: &str, body: &[u8]) -> u16 {
        let headers = signed(name, &Timestamped, body, NOW);
        post(self.address, path, &headers, body).status
    }

    pub(crate) fn stop(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        if let Some(thread) = self.thread.take() {
            let server = self.server.clone();
            let stop = std::thread::spawn(move || block_on(server.stop(true)));
            let _ = stop.join();
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The clock at which test requests are signed.
#[derive(Debug)]
struct Present;

impl Clock for Present {
    fn unix_secs(&self) -> i64 {
        NOW
    }
}

pub(crate) fn keys(name: &str) -> Keys {
    Keys::new([KeyConfig::new(format!("{SECRET}-{name}")).id("k1")])
}
