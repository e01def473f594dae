//! What a receiver can make us read, and for how long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use webhook_dispatch::guard::{Answer, BodyEnd, Phase, SendError};

use crate::support::receiver::{Receiver, flood, read_request};
use crate::support::{builder, impatient, post};

/// What flows into the buffers of two sockets before somebody notices that nobody reads.
const BUFFERS: usize = 16 << 20;
const MOST: usize = 256 << 20;

/// A receiver that sends `start`, then `piece` again and again. Returns what became of the request, and
/// how many bytes the receiver got rid of before its connection was gone.
async fn flooded(start: &'static str, piece: String) -> (Result<Answer, SendError>, usize) {
    let (sender, mut taken) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream, _| {
        let (sender, piece) = (sender.clone(), piece.clone());
        async move {
            read_request(&mut stream).await;
            let _ = stream.write_all(start.as_bytes()).await;
            let taken = flood(&mut stream, piece.as_bytes(), MOST).await;
            sender.send(taken).unwrap();
        }
    })
    .await;
    // Long enough that what ends it is a budget.
    let client = builder().deadline(Duration::from_secs(30)).build().unwrap();
    let outcome = post(&client, &receiver.url("/")).await;
    assert_eq!(client.idle_connections(), 0);
    (outcome, taken.recv().await.unwrap())
}

#[tokio::test]
async fn endless_heads_are_cut_off() {
    let one = "x".repeat(7000);
    for (start, piece) in [
        // Interim answers: none of them is too large.
        (
            "",
            "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n".repeat(100),
        ),
        ("", "HTTP/1.1 100 Continue\r\n\r\n".repeat(100)),
        // Few headers, all of them long.
        ("HTTP/1.1 200 OK\r\n", format!("x-long: {one}\r\n")),
        // One header without an end, a status line without an end.
        ("HTTP/1.1 200 OK\r\nx-long: ", one.clone()),
        ("HTTP/1.1 200 ", one.clone()),
    ] {
        let (outcome, taken) = flooded(start, piece).await;
        assert_eq!(outcome.unwrap_err(), SendError::HeadTooLarge, "{start:?}");
        assert!(taken < BUFFERS, "{taken} bytes after {start:?}");
    }
}

#[tokio::test]
async fn many_headers_are_refused() {
    let answer = |headers: usize| {
        let headers: Vec<_> = (0..headers).map(|n| format!("h{n}: 1\r\n")).collect();
        let headers = headers.concat();
        format!("HTTP/1.1 204 No Content\r\n{headers}\r\n")
    };
    let receiver = Receiver::answering(answer(64)).await;
    let answered = post(&impatient(), &receiver.url("/")).await.unwrap();
    assert_eq!(answered.headers.len(), 64);
    let receiver = Receiver::answering(answer(65)).await;
    let refused = post(&impatient(), &receiver.url("/")).await;
    assert_eq!(refused.unwrap_err(), SendError::Malformed);
}

#[tokio::test]
async fn a_head_of_sixteen_kibibytes_is_the_largest() {
    let answer = |bytes: usize| {
        let frame = "HTTP/1.1 204 No Content\r\nx: \r\n\r\n".len();
        let value = "v".repeat(bytes - frame);
        format!("HTTP/1.1 204 No Content\r\nx: {value}\r\n\r\n")
    };
    let receiver = Receiver::answering(answer(16 * 1024)).await;
    assert_eq!(
        post(&impatient(), &receiver.url("/")).await.unwrap().status,
        204
    );
    let receiver = Receiver::answering(answer(16 * 1024 + 1)).await;
    let refused = post(&impatient(), &receiver.url("/")).await;
    assert_eq!(refused.unwrap_err(), SendError::HeadTooLarge);
}

#[tokio::test]
async fn endless_bodies_are_cut_at_four_kibibytes() {
    for start in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 9223372036854775807\r\n\r\n",
    ] {
        let (outcome, taken) = flooded(start, "z".repeat(10_000)).await;
        let answer = outcome.unwrap();
        assert_eq!(
            (answer.status.as_u16(), answer.body_end),
            (200, BodyEnd::Truncated)
        );
        assert_eq!(answer.body, "z".repeat(4096));
        assert!(taken < BUFFERS, "{taken} bytes after {start:?}");
    }
}

#[tokio::test]
async fn framing_without_a_body_is_cut_off() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for (piece, most) in [
        // A byte of body, and its size with many zeros: within the grammar, but no body is so framed.
        (format!("{}1\r\nz\r\n", "0".repeat(10)), 2000),
        // A byte of body, and a kilobyte of extension.
        (format!("1;ext={}\r\nz\r\n", "e".repeat(1000)), 32),
        (format!("1;ext={}", "e".repeat(100_000)), 0),
        // A chunk's size that never ends.
        ("0".repeat(100_000), 0),
        // Trailers that never end.
        (format!("0\r\n{}", "t: 1\r\n".repeat(100_000)), 0),
    ] {
        let (outcome, taken) = flooded(chunked, piece.clone()).await;
        let answer = outcome.unwrap();
        assert_eq!(answer.status, 200, "{piece:.60}");
        // Ours or hyper's bound, whichever is met first.
        assert_ne!(answer.body_end, BodyEnd::Complete, "{piece:.60}");
        assert!(
            answer.body.len() <= most,
            "{} bytes of {piece:.60}",
            answer.body.len()
        );
        assert!(taken < BUFFERS, "{taken} bytes of {piece:.60}");
    }
}

#[tokio::test]
async fn four_kibibytes_are_complete_and_one_more_is_not() {
    for (bytes, kept, end) in [
        (4095, 4095, BodyEnd::Complete),
        (4096, 4096, BodyEnd::Complete),
        (4097, 4096, BodyEnd::Truncated),
    ] {
        let body = "b".repeat(bytes);
        for answer in [
            format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n{body}"),
            format!(
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{bytes:x}\r\n{body}\r\n0\r\n\r\n"
            ),
        ] {
            let receiver = Receiver::answering(answer).await;
            let answer = post(&impatient(), &receiver.url("/")).await.unwrap();
            assert_eq!((answer.body.len(), answer.body_end), (kept, end));
        }
    }
}

/// Drips `drop` from the given moment on, a byte every 20 ms.
async fn dripped(start: &'static str, drop: &'static [u8]) -> SendError {
    let receiver = Receiver::start(move |mut stream, _| async move {
        read_request(&mut stream).await;
        stream.write_all(start.as_bytes()).await.unwrap();
        while stream.write_all(drop).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let started = Instant::now();
    let error = post(&impatient(), &receiver.url("/")).await.unwrap_err();
    assert!(started.elapsed() >= Duration::from_millis(700));
    assert!(error.may_have_arrived());
    error
}

#[tokio::test]
async fn dripping_does_not_move_the_deadline() {
    let error = dripped("HTTP/1.1 200 OK\r\nx: ", b"d").await;
    assert_eq!(error, SendError::TimedOut(Phase::Answer));
    let error = dripped("HTTP/1.1 200 OK\r\ncontent-length: 4000\r\n\r\n", b"d").await;
    assert_eq!(error, SendError::TimedOut(Phase::Body));
    let error = dripped("", b"HTTP/1.1 100 Continue\r\n\r\n").await;
    assert_eq!(error, SendError::TimedOut(Phase::Answer));
}

#[tokio::test]
async fn silence_ends_at_the_deadline() {
    let receiver = Receiver::sink().await;
    let url = format!("http://127.0.0.1:{}/", receiver.address.port());
    let error = post(&impatient(), &url).await.unwrap_err();
    assert_eq!(error, SendError::TimedOut(Phase::Answer));
}

#[tokio::test]
async fn a_request_that_nobody_reads_ends_at_the_deadline() {
    let receiver = Receiver::start(|stream, _| async move {
        let _stays_open_and_unread = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let request = webhook_dispatch::guard::GuardedRequest::post(
        crate::support::target(&receiver.url("/")),
        vec![b' '; 64 << 20],
    );
    let outcome = impatient().send(&request, http::HeaderMap::new).await;
    assert_eq!(outcome.unwrap_err(), SendError::TimedOut(Phase::Answer));
}

#[tokio::test]
async fn the_connection_goes_with_the_deadline() {
    let (sender, closed) = tokio::sync::oneshot::channel();
    let sender = Arc::new(std::sync::Mutex::new(Some(sender)));
    let receiver = Receiver::start(move |mut stream, _| {
        let sender = sender.lock().unwrap().take().unwrap();
        async move {
            read_request(&mut stream).await;
            let end = stream.read(&mut [0; 8]).await;
            sender.send(matches!(end, Ok(0) | Err(_))).unwrap();
        }
    })
    .await;
    post(&impatient(), &receiver.url("/")).await.unwrap_err();
    assert!(closed.await.unwrap());
}
