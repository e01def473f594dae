//! An operator's own egress proxy.

use http::HeaderValue;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use webhook_dispatch::guard::{AddressClass, EgressProxy, GuardedClient, Refused, SendError};

use crate::support::receiver::{Receiver, read_request};
use crate::support::{Fixed, any_port, builder, post};

/// A proxy that answers `CONNECT` with `answer`, and then plays the receiver behind the tunnel. What it
/// was sent comes through the channel.
async fn proxy(answer: &'static str) -> (Receiver, UnboundedReceiver<String>) {
    let (sender, requests) = unbounded_channel();
    let proxy = Receiver::start(move |mut stream, _| {
        let sender = sender.clone();
        async move {
            sender
                .send(read_request(&mut stream).await.unwrap())
                .unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            while let Some(request) = read_request(&mut stream).await {
                sender.send(request).unwrap();
                let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
                stream.write_all(answer).await.unwrap();
            }
        }
    })
    .await;
    (proxy, requests)
}

fn client(proxy: &Receiver, addresses: &[&str]) -> GuardedClient {
    let password = HeaderValue::from_static("Basic cGFzc3dvcmQ=");
    let way_out = EgressProxy::new(proxy.address).authorization(password);
    assert!(!format!("{way_out:?}").contains("cGFzc3dvcmQ"));
    builder()
        .policy(any_port())
        .resolver(Fixed::new(addresses))
        .egress_proxy(way_out)
        .build()
        .unwrap()
}

/// By name it would resolve anew, behind the policy's back.
#[tokio::test]
async fn the_proxy_is_told_the_checked_address_and_the_receiver_the_name() {
    let (proxy, mut requests) =
        proxy("HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n").await;
    let client = client(&proxy, &["8.8.8.8"]);
    let answer = post(&client, "http://hooks.test/in").await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.address),
        (204, ([8, 8, 8, 8], 80).into())
    );
    assert_eq!(
        requests.recv().await.unwrap(),
        "CONNECT 8.8.8.8:80 HTTP/1.1\r\nhost: 8.8.8.8:80\r\nproxy-authorization: Basic cGFzc3dvcmQ=\r\n\r\n"
    );
    let request = requests.recv().await.unwrap();
    assert!(
        request.starts_with("POST /in HTTP/1.1\r\nhost: hooks.test\r\n"),
        "{request}"
    );
    assert!(!request.contains("proxy-authorization"));
    // The tunnel is kept like any connection.
    assert!(
        post(&client, "http://hooks.test/in")
            .await
            .unwrap()
            .is_reused
    );
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
async fn the_policy_holds_before_the_proxy_hears_of_anything() {
    let (proxy, _requests) = proxy("HTTP/1.1 200 OK\r\n\r\n").await;
    for (addresses, url) in [
        (["8.8.8.8", "10.0.0.1"], "http://hooks.test/"),
        (["8.8.8.8", "8.8.4.4"], "http://10.0.0.1/"),
    ] {
        match post(&client(&proxy, &addresses), url).await.unwrap_err() {
            SendError::Refused(Refused::Address(denied)) => {
                assert_eq!(denied.class(), AddressClass::Private);
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn a_proxy_that_does_not_want_to() {
    for answer in [
        "HTTP/1.1 403 Forbidden\r\n\r\n",
        "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
    ] {
        let (proxy, _requests) = proxy(answer).await;
        let error = post(&client(&proxy, &["8.8.8.8"]), "http://hooks.test/")
            .await
            .unwrap_err();
        let refused = SendError::Unreachable(std::io::ErrorKind::ConnectionRefused);
        assert_eq!(error, refused, "{answer}");
        assert!(!error.may_have_arrived());
    }
}
