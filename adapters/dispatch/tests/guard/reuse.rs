//! Connections kept for the next request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use http::HeaderMap;
use tokio::io::AsyncWriteExt as _;
use webhook_dispatch::guard::{
    AddressClass, GuardedClient, GuardedRequest, IdleLimits, Passage, Refused, SendError,
};

use crate::support::receiver::{Receiver, read_request};
use crate::support::{any_port, builder, client, loopback_open, post, target};

const NO_CONTENT: &str = "HTTP/1.1 204 No Content\r\n\r\n";

fn limits(change: impl FnOnce(&mut IdleLimits)) -> GuardedClient {
    let mut limits = IdleLimits::default();
    change(&mut limits);
    builder().idle(limits).build().unwrap()
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let receiver = Receiver::answering(
        "HTTP/1.1 200 OK\r\ncontent-length: 4096\r\n\r\n".to_owned() + &"a".repeat(4096),
    )
    .await;
    let client = client();
    for n in 0..20 {
        let answer = post(&client, &receiver.url(&format!("/{n}")))
            .await
            .unwrap();
        assert_eq!(
            (answer.is_reused, answer.passage),
            (n > 0, Passage::AllowListed)
        );
        assert_eq!(answer.times.connected.is_some(), n == 0);
    }
    assert_eq!((receiver.connections(), client.idle_connections()), (1, 1));
}

#[tokio::test]
async fn a_connection_serves_one_origin() {
    let receiver = Receiver::answering(NO_CONTENT).await;
    let port = receiver.address.port();
    let client = client();
    for host in ["a.test", "b.test", "127.0.0.1"] {
        let answer = post(&client, &format!("http://{host}:{port}/"))
            .await
            .unwrap();
        assert!(!answer.is_reused, "{host}");
    }
    assert!(
        post(&client, &format!("http://A.test.:{port}/"))
            .await
            .unwrap()
            .is_reused
    );
    assert_eq!(receiver.connections(), 3);
}

#[tokio::test]
async fn answers_after_which_a_connection_is_not_kept() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned(),
        format!(
            "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{}",
            "a".repeat(5000)
        ),
        // An answer to a request that was never made.
        format!("{NO_CONTENT}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
    ] {
        let receiver = Receiver::answering(answer.clone()).await;
        let client = client();
        for _ in 0..3 {
            let answered = post(&client, &receiver.url("/")).await.unwrap();
            assert!(!answered.is_reused, "{answer:.60}");
        }
        assert_eq!(receiver.connections(), 3, "{answer:.60}");
    }
}

/// What comes while nobody asks must not become the answer to the next question.
#[tokio::test]
async fn an_answer_nobody_asked_for_ends_the_connection() {
    let receiver = Receiver::start(|mut stream, _| async move {
        read_request(&mut stream).await;
        stream.write_all(NO_CONTENT.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged")
            .await;
        std::future::pending::<()>().await;
    })
    .await;
    let client = client();
    for _ in 0..2 {
        let answer = post(&client, &receiver.url("/")).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.is_reused), (204, false));
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    assert_eq!(receiver.connections(), 2);
}

/// The receiver reads the second request, and closes instead of answering.
#[tokio::test]
async fn a_kept_connection_that_dies_costs_one_more_try_with_a_fresh_signature() {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let receiver = Receiver::start(move |mut stream, _| {
        let count = Arc::clone(&count);
        async move {
            read_request(&mut stream).await.unwrap();
            count.fetch_add(1, SeqCst);
            stream.write_all(NO_CONTENT.as_bytes()).await.unwrap();
            if read_request(&mut stream).await.is_some() {
                count.fetch_add(1, SeqCst);
            }
        }
    })
    .await;
    let client = client();
    let request = GuardedRequest::post(target(&receiver.url("/")), "{}");
    let mut signatures = 0;
    for _ in 0..2 {
        let sign = || {
            signatures += 1;
            HeaderMap::new()
        };
        let answer = client.send(&request, sign).await.unwrap();
        assert!(!answer.is_reused);
    }
    assert_eq!(signatures, 3);
    assert_eq!((receiver.connections(), requests.load(SeqCst)), (2, 3));
}

/// Nobody takes the second try, but the first may have been acted on.
#[tokio::test]
async fn a_second_try_that_fails_does_not_hide_the_first() {
    let receiver = Receiver::start(|mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
        stream.write_all(NO_CONTENT.as_bytes()).await.unwrap();
        read_request(&mut stream).await;
    })
    .await;
    let client = client();
    let url = receiver.url("/");
    post(&client, &url).await.unwrap();
    drop(receiver);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let error = post(&client, &url).await.unwrap_err();
    assert_eq!(error, SendError::Closed);
    assert!(error.may_have_arrived());
    // And nothing hides that the third was never sent.
    let error = post(&client, &url).await.unwrap_err();
    assert!(!error.may_have_arrived(), "{error:?}");
}

/// An answer was begun, so the request arrived: it is not sent again behind the caller's back.
#[tokio::test]
async fn nothing_is_sent_twice_once_an_answer_has_begun() {
    let receiver = Receiver::start(|mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
        stream.write_all(NO_CONTENT.as_bytes()).await.unwrap();
        if read_request(&mut stream).await.is_some() {
            stream.write_all(b"HTTP/1.1 2").await.unwrap();
        }
    })
    .await;
    let client = client();
    post(&client, &receiver.url("/")).await.unwrap();
    let error = post(&client, &receiver.url("/")).await.unwrap_err();
    assert_eq!(error, SendError::Closed);
    assert!(error.may_have_arrived());
    assert_eq!(receiver.connections(), 1);
}

/// A fresh connection that is closed without an answer is a failure, not a reason to try again.
#[tokio::test]
async fn a_fresh_connection_is_tried_once() {
    let receiver = Receiver::start(|mut stream, _| async move {
        read_request(&mut stream).await;
    })
    .await;
    let error = post(&client(), &receiver.url("/")).await.unwrap_err();
    assert_eq!(error, SendError::Closed);
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn a_new_policy_drops_what_the_old_one_opened() {
    let receiver = Receiver::answering(NO_CONTENT).await;
    let client = client();
    let clone = client.clone();
    post(&client, &receiver.url("/")).await.unwrap();
    assert_eq!(client.idle_connections(), 1);
    client.set_policy(any_port());
    assert_eq!(client.idle_connections(), 0);
    match post(&clone, &receiver.url("/")).await.unwrap_err() {
        SendError::Refused(Refused::Address(denied)) => {
            assert_eq!(denied.class(), AddressClass::Loopback);
        }
        other => panic!("{other}"),
    }
    client.set_policy(loopback_open());
    assert!(!post(&clone, &receiver.url("/")).await.unwrap().is_reused);
}

/// A request under way when the policy changes leaves no connection behind for the new one.
#[tokio::test]
async fn a_connection_of_an_old_policy_is_not_kept() {
    let receiver = Receiver::start(|mut stream, _| async move {
        while read_request(&mut stream).await.is_some() {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let _ = stream.write_all(NO_CONTENT.as_bytes()).await;
        }
    })
    .await;
    let client = client();
    let url = receiver.url("/");
    let under_way = tokio::spawn({
        let (client, url) = (client.clone(), url.clone());
        async move { post(&client, &url).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.set_policy(loopback_open());
    assert_eq!(under_way.await.unwrap().unwrap().status, 204);
    assert!(!post(&client, &url).await.unwrap().is_reused);
    assert_eq!(client.idle_connections(), 1);
}

#[tokio::test]
async fn few_are_kept_and_not_for_long() {
    let receiver = Receiver::answering(NO_CONTENT).await;
    let url = receiver.url("/");
    let client = limits(|limits| limits.per_origin = 0);
    post(&client, &url).await.unwrap();
    assert_eq!(client.idle_connections(), 0);

    let client = limits(|limits| limits.total = 1);
    post(&client, &url).await.unwrap();
    post(
        &client,
        &format!("http://other.test:{}/", receiver.address.port()),
    )
    .await
    .unwrap();
    assert_eq!(client.idle_connections(), 1);

    let client = limits(|limits| limits.life = Duration::ZERO);
    post(&client, &url).await.unwrap();
    assert_eq!(client.idle_connections(), 0);

    // Nobody asks again; they go all the same.
    let client = limits(|limits| limits.age = Duration::from_millis(100));
    post(&client, &url).await.unwrap();
    assert_eq!(client.idle_connections(), 1);
    while client.idle_connections() > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn many_at_once_get_a_connection_each_and_few_are_kept() {
    let receiver = Receiver::answering(NO_CONTENT).await;
    let client = client();
    let sends: Vec<_> = (0..64)
        .map(|n| {
            let (client, url) = (client.clone(), receiver.url(&format!("/{n}")));
            tokio::spawn(async move { post(&client, &url).await.unwrap().status })
        })
        .collect();
    for send in sends {
        assert_eq!(send.await.unwrap(), 204);
    }
    assert!((1..=8).contains(&client.idle_connections()));
}
