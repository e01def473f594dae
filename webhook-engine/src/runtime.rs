//! The engine's own threads: control apart from handlers, so that no handler starves a heartbeat.

use std::sync::Mutex;

use tokio::runtime::{Builder, Handle, Runtime};

/// Two runtimes. Shut down without waiting when dropped; everything that must end has ended by then.
#[derive(Debug)]
pub(crate) struct Runtimes {
    control: Handle,
    handlers: Handle,
    owned: Mutex<Vec<Runtime>>,
}

impl Runtimes {
    pub(crate) fn start(handler_threads: usize) -> std::io::Result<Self> {
        let build = |name: &str, threads| {
            Builder::new_multi_thread()
                .worker_threads(threads)
                .thread_name(name)
                .enable_all()
                .build()
        };
        let control = build("webhook-control", 1)?;
        let handlers = build("webhook-handler", handler_threads)?;
        Ok(Self {
            control: control.handle().clone(),
            handlers: handlers.handle().clone(),
            owned: Mutex::new(vec![control, handlers]),
        })
    }

    pub(crate) fn control(&self) -> &Handle {
        &self.control
    }

    pub(crate) fn handlers(&self) -> &Handle {
        &self.handlers
    }
}

impl Drop for Runtimes {
    fn drop(&mut self) {
        let owned = self.owned.get_mut().map(std::mem::take).unwrap_or_default();
        owned.into_iter().for_each(Runtime::shutdown_background);
    }
}
