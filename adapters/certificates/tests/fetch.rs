//! What is fetched, from whom, and what is made of the answer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use webhook_certificates::Certificates;
use webhook_core::{KeyFault, KeyQuery, KeySource as _};
use webhook_dispatch::guard::{AddressPolicy, Allow, GuardedClient, Policy};

const CERTIFICATE: &str = include_str!("../testdata/certificate.pem");

/// Answers every request with `answer`, and counts them.
async fn serve(answer: String) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            assert!(
                request.starts_with(b"GET /a.pem HTTP/1.1\r\n"),
                "{read} bytes"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (address, asked)
}

fn answer(status: &str, body: &str) -> String {
    let len = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n{body}")
}

/// The allow-list of this test: what stands in place of a provider's.
fn is_ours(url: &str) -> bool {
    url.starts_with("http://127.0.0.1:") && url.ends_with("/a.pem")
}

fn local() -> Certificates {
    let loopback = Allow::address([127, 0, 0, 1].into());
    let policy = Policy::strict()
        .addresses(AddressPolicy::public().allow(loopback))
        .allow_http()
        .any_port();
    let client = GuardedClient::builder().policy(policy).build().unwrap();
    Certificates::with_client(client, is_ours)
}

#[tokio::test]
async fn a_certificate_is_a_key() {
    let (address, asked) = serve(answer("200 OK", CERTIFICATE)).await;
    let url = format!("http://{address}/a.pem");
    let keys = local().keys(KeyQuery::certificate(&url)).await.unwrap();
    assert_eq!((keys.infos().count(), keys.tenant()), (1, None));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn nobody_is_asked_about_what_the_list_does_not_know() {
    let (address, asked) = serve(answer("200 OK", CERTIFICATE)).await;
    let source = local();
    for url in [
        format!("http://{address}/b.pem"),
        format!("http://evil.example@{address}/a.pem"),
        format!("https://{address}/a.pem"),
        String::new(),
    ] {
        let refused = source.keys(KeyQuery::certificate(&url)).await.unwrap_err();
        assert_eq!(refused, KeyFault::Unknown, "{url}");
    }
    let url = format!("http://{address}/a.pem");
    for query in [KeyQuery::new(None), KeyQuery::new(Some(&url))] {
        assert_eq!(source.keys(query).await.unwrap_err(), KeyFault::Unknown);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

/// The list says yes, and the client still does not go where only an insider should.
#[tokio::test]
async fn private_addresses_are_not_dialled() {
    let (address, asked) = serve(answer("200 OK", CERTIFICATE)).await;
    let url = format!("http://{address}/a.pem");
    let strict = Certificates::allowed(is_ours).unwrap();
    let refused = strict.keys(KeyQuery::certificate(&url)).await.unwrap_err();
    assert_eq!(
        (refused, asked.load(Ordering::SeqCst)),
        (KeyFault::Unavailable, 0)
    );
}

#[tokio::test]
async fn other_answers_are_no_keys() {
    let moved = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/a.pem\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let endless = format!("{}{CERTIFICATE}", "x".repeat(10_000));
    for (answer, why) in [
        (answer("404 Not Found", ""), KeyFault::Unavailable),
        (answer("403 Forbidden", CERTIFICATE), KeyFault::Unavailable),
        (answer("500 Oops", CERTIFICATE), KeyFault::Unavailable),
        (moved.to_owned(), KeyFault::Unavailable),
        (answer("200 OK", ""), KeyFault::Unavailable),
        (answer("200 OK", junk), KeyFault::Unavailable),
        (answer("200 OK", &endless), KeyFault::Unavailable),
    ] {
        let (address, asked) = serve(answer).await;
        let url = format!("http://{address}/a.pem");
        let refused = local().keys(KeyQuery::certificate(&url)).await.unwrap_err();
        assert_eq!((refused, asked.load(Ordering::SeqCst)), (why, 1));
    }
}
