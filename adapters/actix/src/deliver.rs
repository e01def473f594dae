//! One delivery: head, gates, raw body under its bounds, and what the engine makes of it.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::web::{Bytes, Payload};
use futures_util::StreamExt as _;
use webhook_core::ledger::Ledger;
use webhook_core::{Head, Outcome, Verifier};
use webhook_engine::{EndpointHandle, Reception};

/// The answer, and what of the request's body was not read. With an unread body the connection
/// cannot be used again.
pub(crate) struct Delivered {
    pub(crate) reception: Reception,
    pub(crate) unread: Option<Payload>,
}

/// Every chunk costs a turn of the event loop, however small it is: beyond this many of them they must
/// hold so many bytes on average.
const FREE_CHUNKS: usize = 2048;
const LEAST_CHUNK: usize = 64;
/// Most bytes of a refused body that are read and forgotten so that the sender sees the answer
/// instead of a reset connection.
const LINGER_BYTES: usize = 2 * 1024 * 1024;

pub(crate) async fn deliver<L: Ledger>(
    endpoint: &EndpointHandle<L>,
    request: &HttpRequest,
    mut payload: Payload,
) -> Delivered {
    let fields = request
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()));
    let target = request
        .uri()
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let head = match Head::new(request.method().as_str(), target, fields) {
        Ok(head) => head,
        Err(malformed) => return early(endpoint.rejected(malformed.into()), payload).await,
    };
    if request.method() == Method::GET {
        return early(endpoint.greet(&head), payload).await;
    }
    let admitted = endpoint
        .admit(&head, request.match_info().get("tenant"))
        .await;
    let verifier = match admitted {
        Ok(verifier) => verifier,
        Err(reception) => return early(reception, payload).await,
    };
    let verifier = match read(endpoint, verifier, &mut payload).await {
        Ok(verifier) => verifier,
        Err(reception) => return early(reception, payload).await,
    };
    let reception = match verifier.finish(&head) {
        Ok(authentic) => endpoint.receive(authentic).await,
        Err(rejection) => endpoint.rejected(rejection),
    };
    Delivered {
        reception,
        unread: None,
    }
}

/// Feed the wire bytes to the verifier: below any decompressor, within time, cap and budget.
async fn read<L: Ledger>(
    endpoint: &EndpointHandle<L>,
    mut verifier: Verifier,
    payload: &mut Payload,
) -> Result<Verifier, Reception> {
    let share = endpoint.budget().open();
    let late = tokio::time::sleep(endpoint.body_timeout());
    tokio::pin!(late);
    let (mut chunks, mut bytes) = (0usize, 0usize);
    loop {
        let chunk: Bytes = tokio::select! {
            biased;
            _ = share.evicted() => return Err(endpoint.reception(Outcome::Overloaded)),
            // Before the timer, which then is set only for bodies that are waited for. What is there
            // already is bounded by the cap.
            chunk = payload.next() => match chunk {
                None => return Ok(verifier),
                Some(Ok(chunk)) => chunk,
                Some(Err(_)) => return Err(endpoint.reception(Outcome::Incomplete)),
            },
            () = &mut late => return Err(endpoint.reception(Outcome::TooSlow)),
        };
        chunks = chunks.saturating_add(1);
        bytes = bytes.saturating_add(chunk.len());
        if chunks > FREE_CHUNKS && bytes.div_euclid(chunks) < LEAST_CHUNK {
            return Err(endpoint.reception(Outcome::TooSlow));
        }
        share
            .charge(chunk.len())
            .map_err(|_| endpoint.reception(Outcome::Overloaded))?;
        verifier
            .update(chunk)
            .map_err(|rejection| endpoint.rejected(rejection))?;
    }
}

/// Answer with part of the body unread: linger for a moment, keep nothing, close the connection.
async fn early(reception: Reception, mut payload: Payload) -> Delivered {
    let mut left = LINGER_BYTES;
    let drain = async {
        while let Some(Ok(chunk)) = payload.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                return false;
            }
        }
        true
    };
    let drained = tokio::time::timeout(std::time::Duration::from_secs(1), drain).await;
    Delivered {
        reception,
        unread: (!drained.unwrap_or(false)).then_some(payload),
    }
}
