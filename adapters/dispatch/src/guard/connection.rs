//! One connection, and one exchange on it at a time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::Request;
use http::response::Parts;
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::answer::BodyEnd;
use super::error::SendError;
use super::meter::{Meter, Metered};
use super::policy::Checked;
use super::target::Target;
use super::tls::{Tls, TlsFault};

/// A connection to a checked address.
///
/// Driven by whoever awaits an exchange on it, in their task: when they stop waiting, it is gone with all
/// that it would have read.
pub(super) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: http1::Connection<TokioIo<Metered<Box<dyn Stream>>>, Full<Bytes>>,
    is_closed: bool,
    /// Bytes of HTTP.
    http: Arc<Meter>,
    /// Bytes from the network, so that TLS records of nothing are counted too.
    wire: Arc<Meter>,
    checked: Checked,
    opened: Instant,
}

/// An answer as read, and what became of the connection.
pub(super) struct Exchange {
    pub(super) head: Parts,
    pub(super) body: Bytes,
    pub(super) body_end: BodyEnd,
    pub(super) answered: Instant,
    /// Whether another exchange may follow on the connection.
    pub(super) is_reusable: bool,
}

impl Connection {
    /// TLS over `stream`, if `target` wants it, and HTTP over that. `secured` is called when TLS stands.
    pub(super) async fn open(
        stream: TcpStream,
        checked: Checked,
        target: &Target,
        tls: &Tls,
        secured: impl FnOnce(),
    ) -> Result<Box<Self>, SendError> {
        let (stream, wire) = Metered::new(stream);
        let stream: Box<dyn Stream> = if target.is_https() {
            wire.restart(HANDSHAKE_BYTES);
            let handshake = tls.connect(stream, target.server_name());
            let stream = wire.bound(handshake).await.ok_or(TlsFault::TooLarge)??;
            secured();
            Box::new(stream)
        } else {
            Box::new(stream)
        };
        let (stream, http) = Metered::new(stream);
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(BUFFER_BYTES)
            .max_headers(HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|_| SendError::Closed)?;
        // Boxed, since it is handed on a dozen times for each request.
        Ok(Box::new(Self {
            sender,
            driver,
            is_closed: false,
            http,
            wire,
            checked,
            opened: Instant::now(),
        }))
    }

    /// Send `request` and read the answer within the budgets. `answered` is called when the head is there.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        answered: impl FnOnce(),
    ) -> Result<Exchange, SendError> {
        self.http.restart(HEAD_BYTES);
        self.wire.restart(WIRE_BYTES);
        let (head, body) = self.head(request).await?;
        let at = Instant::now();
        answered();
        self.http.refill(BODY_WIRE_BYTES);
        self.wire.refill(WIRE_BYTES);
        let (body, body_end) = self.body(body).await;
        let is_reusable = body_end == BodyEnd::Complete && self.is_ready().await;
        Ok(Exchange {
            head,
            body,
            body_end,
            answered: at,
            is_reusable,
        })
    }

    /// Whether nothing of an answer to the last request was read.
    pub(super) fn heard_nothing(&self) -> bool {
        self.http.read() == 0
    }

    /// Whether another request may be sent: it is neither closed nor in the middle of something.
    pub(super) async fn is_ready(&mut self) -> bool {
        // Whatever comes now was not asked for, and hyper closes; a byte is enough to see that.
        self.http.restart(1);
        self.wire.refill(WIRE_BYTES);
        poll_fn(|cx| {
            drive(&mut self.driver, &mut self.is_closed, cx);
            Poll::Ready(())
        })
        .await;
        !self.is_closed && self.sender.is_ready()
    }

    pub(super) fn checked(&self) -> Checked {
        self.checked
    }

    pub(super) fn opened(&self) -> Instant {
        self.opened
    }

    async fn head(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<(Parts, Incoming), SendError> {
        let Self {
            sender,
            driver,
            is_closed,
            http,
            wire,
            ..
        } = self;
        let mut response = pin!(sender.send_request(request));
        let response = poll_fn(|cx| {
            drive(driver, is_closed, cx);
            match response.as_mut().poll(cx) {
                Poll::Ready(response) => Poll::Ready(response.map_err(|error| fault(&error))),
                Poll::Pending if *is_closed => Poll::Ready(Err(SendError::Closed)),
                Poll::Pending => Poll::Pending,
            }
        });
        match bounded(http, wire, response).await {
            Some(response) => Ok(response?.into_parts()),
            None => Err(SendError::HeadTooLarge),
        }
    }

    async fn body(&mut self, mut body: Incoming) -> (Bytes, BodyEnd) {
        let Self {
            driver,
            is_closed,
            http,
            wire,
            ..
        } = self;
        let mut kept = BytesMut::new();
        let end = loop {
            let frame = poll_fn(|cx| {
                drive(driver, is_closed, cx);
                match Pin::new(&mut body).poll_frame(cx) {
                    Poll::Pending if *is_closed => Poll::Ready(Some(Err(()))),
                    frame => frame.map(|frame| frame.map(|frame| frame.map_err(drop))),
                }
            });
            match bounded(http, wire, frame).await {
                None => break BodyEnd::Truncated,
                Some(None) => break BodyEnd::Complete,
                Some(Some(Err(()))) => break BodyEnd::Broken,
                // Trailers have passed the budget and are nobody's business.
                Some(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else {
                        continue;
                    };
                    let room = BODY_BYTES.saturating_sub(kept.len());
                    let fits = data.get(..room).unwrap_or(&data);
                    kept.extend_from_slice(fits);
                    if fits.len() < data.len() {
                        break BodyEnd::Truncated;
                    }
                }
            }
        };
        (kept.freeze(), end)
    }
}

/// What HTTP runs over.
trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for S {}

fn drive<D: Future<Output = hyper::Result<()>> + Unpin>(
    driver: &mut D,
    is_closed: &mut bool,
    cx: &mut Context<'_>,
) {
    // Why it closed is told to whoever waits for the response or the body.
    *is_closed = *is_closed || Pin::new(driver).poll(cx).is_ready();
}

async fn bounded<T>(http: &Meter, wire: &Meter, work: impl Future<Output = T>) -> Option<T> {
    wire.bound(http.bound(work)).await.flatten()
}

fn fault(error: &hyper::Error) -> SendError {
    if error.is_parse() {
        SendError::Malformed
    } else {
        SendError::Closed
    }
}

/// The head, with every interim answer before it. Buffered reads may bring a part of the body along.
const HEAD_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;
/// Never full before a budget is spent.
const BUFFER_BYTES: usize = 2 * HEAD_BYTES;
/// As much of a body as is kept.
const BODY_BYTES: usize = 4 * 1024;
/// The body with its chunks' sizes, extensions and trailers.
const BODY_WIRE_BYTES: usize = 2 * BODY_BYTES;
/// Several times a long chain of certificates.
const HANDSHAKE_BYTES: usize = 32 * 1024;
/// Head or body, in small TLS records, with session tickets before them.
const WIRE_BYTES: usize = 64 * 1024;
