//! Bounds on bytes read, below everything that parses them.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much may still be read, and how much was.
///
/// A stream whose budget is spent stays pending and says so here. An error would reach the parser above
/// it, which could no longer tell an answer that is complete from one that is not.
#[derive(Debug, Default)]
pub(super) struct Meter {
    left: AtomicUsize,
    read: AtomicUsize,
    is_starved: AtomicBool,
}

impl Meter {
    /// Forget what was read, and let `bytes` be read from here on.
    pub(super) fn restart(&self, bytes: usize) {
        self.read.store(0, Relaxed);
        self.refill(bytes);
    }

    /// Let `bytes` be read from here on.
    pub(super) fn refill(&self, bytes: usize) {
        self.left.store(bytes, Relaxed);
        self.is_starved.store(false, Relaxed);
    }

    /// Bytes read since the last [`Self::restart`].
    pub(super) fn read(&self) -> usize {
        self.read.load(Relaxed)
    }

    /// Whether somebody wanted to read more than was left.
    pub(super) fn is_starved(&self) -> bool {
        self.is_starved.load(Relaxed)
    }

    /// Wait for `work`, which reads the metered stream in this very task, or for the end of the budget.
    pub(super) async fn bound<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.is_starved() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    fn count(&self, bytes: usize) {
        self.left
            .store(self.left.load(Relaxed).saturating_sub(bytes), Relaxed);
        self.read
            .store(self.read.load(Relaxed).saturating_add(bytes), Relaxed);
    }
}

/// A stream that reads no more than its [`Meter`] lets it.
#[derive(Debug)]
pub(super) struct Metered<S> {
    stream: S,
    meter: Arc<Meter>,
}

impl<S> Metered<S> {
    /// The meter starts without any budget.
    pub(super) fn new(stream: S) -> (Self, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        let metered = Self {
            stream,
            meter: Arc::clone(&meter),
        };
        (metered, meter)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.meter.left.load(Relaxed);
        if left == 0 {
            self.meter.is_starved.store(true, Relaxed);
            return Poll::Pending;
        }
        let read = if buf.remaining() <= left {
            let before = buf.filled().len();
            ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
            buf.filled().len().saturating_sub(before)
        } else {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(left));
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
            let read = part.filled().len();
            buf.advance(read);
            read
        };
        self.meter.count(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn no_byte_beyond_the_budget_is_read() {
        let source: &[u8] = &[7; 100];
        let (mut stream, meter) = Metered::new(source);
        meter.restart(30);
        let mut all = Vec::new();
        assert!(meter.bound(stream.read_to_end(&mut all)).await.is_none());
        assert_eq!((all.len(), meter.read()), (30, 30));

        meter.refill(1000);
        let rest = meter.bound(stream.read_to_end(&mut all)).await.unwrap();
        assert_eq!((rest.unwrap(), meter.read()), (70, 100));
        assert!(!meter.is_starved());
    }
}
