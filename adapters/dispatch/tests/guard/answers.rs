//! What is done with an answer, and what is not.

use std::process::Command;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;
use webhook_dispatch::guard::{BodyEnd, GuardedRequest, SendError};

use crate::support::receiver::{Receiver, read_request};
use crate::support::{client, impatient, post, target};

#[tokio::test]
async fn a_request_arrives_byte_for_byte() {
    let (sender, mut requests) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream, _| {
        let sender = sender.clone();
        async move {
            sender
                .send(read_request(&mut stream).await.unwrap())
                .unwrap();
            let answer = b"HTTP/1.1 202 Accepted\r\nx-id: 7\r\ncontent-length: 2\r\n\r\nok";
            stream.write_all(answer).await.unwrap();
        }
    })
    .await;
    let url = format!(
        "http://hooks.test:{}/in?key=%20é#part",
        receiver.address.port()
    );
    let request = GuardedRequest::post(target(&url), "{\"b\":\"é\", \"a\":1}")
        .header(
            HeaderName::from_static("content-type"),
            HeaderValue::from_static("application/json"),
        )
        .unwrap();
    let signed = || {
        let value = HeaderValue::from_static("v1,c2ln");
        HeaderMap::from_iter([(HeaderName::from_static("webhook-signature"), value)])
    };
    let answer = client().send(&request, signed).await.unwrap();

    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert_eq!(answer.headers["x-id"], "7");
    assert_eq!(
        (&answer.body[..], answer.body_end),
        (&b"ok"[..], BodyEnd::Complete)
    );
    assert_eq!(answer.address, receiver.address);
    assert!(!answer.is_reused && answer.times.resolved <= answer.times.connected);

    let text = requests.recv().await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "{\"b\":\"é\", \"a\":1}");
    let mut lines: Vec<_> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /in?key=%20%C3%A9 HTTP/1.1");
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "accept-encoding: identity",
            "content-length: 17",
            "content-type: application/json",
            &format!("host: hooks.test:{}", receiver.address.port()),
            concat!("user-agent: webhook-dispatch/", env!("CARGO_PKG_VERSION")),
            "webhook-signature: v1,c2ln",
        ]
    );
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let inner = Receiver::sink().await;
    let port = inner.address.port();
    for status in [300, 301, 302, 303, 305, 307, 308] {
        for location in [
            format!("http://127.0.0.1:{port}/"),
            format!("https://localhost:{port}/"),
            format!("//[::1]:{port}/"),
            "http://169.254.169.254/latest/meta-data/".to_owned(),
            "file:///etc/passwd".to_owned(),
            "/elsewhere".to_owned(),
        ] {
            let receiver = Receiver::answering(format!(
                "HTTP/1.1 {status} Moved\r\nlocation: {location}\r\nrefresh: 0; url={location}\r\ncontent-length: 0\r\n\r\n"
            ))
            .await;
            let answer = post(&client(), &receiver.url("/")).await.unwrap();
            assert_eq!(answer.status, status);
            assert_eq!(answer.headers["location"], location);
            assert_eq!(receiver.connections(), 1, "{status} to {location}");
        }
    }
    assert_eq!(inner.connections(), 0);
}

#[tokio::test]
async fn a_page_that_refreshes_is_a_body() {
    let inner = Receiver::sink().await;
    let page = format!(
        "<meta http-equiv=refresh content='0;url=http://{}/'>",
        inner.address
    );
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{page}",
        page.len()
    );
    let receiver = Receiver::answering(answer).await;
    let answer = post(&client(), &receiver.url("/")).await.unwrap();
    assert_eq!(answer.body, page);
    assert_eq!(inner.connections(), 0);
}

/// The variables are set in a process of its own: this test again.
#[tokio::test]
async fn proxies_of_the_environment_are_ignored() {
    const MARK: &str = "WEBHOOK_DISPATCH_TEST_CHILD";
    if std::env::var_os(MARK).is_some() {
        let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
        let url = format!("http://hooks.test:{}/", receiver.address.port());
        assert_eq!(post(&client(), &url).await.unwrap().status, 204);
        assert_eq!(receiver.connections(), 1);
        return;
    }
    let proxy = Receiver::sink().await;
    let url = format!("http://127.0.0.1:{}", proxy.address.port());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "answers::proxies_of_the_environment_are_ignored"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        child.env(name, &url).env(name.to_lowercase(), &url);
    }
    child
        .env(MARK, "1")
        .env("NO_PROXY", "")
        .env_remove("no_proxy");
    let output = tokio::task::spawn_blocking(move || child.output())
        .await
        .unwrap()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn nothing_is_decompressed() {
    // The first bytes of a bomb; whoever unpacks it makes zeros of it.
    let bomb = [
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 0xec, 0xc1][..],
        &[0; 600],
    ]
    .concat();
    for coding in ["gzip", "br", "deflate", "zstd", "gzip, gzip"] {
        let mut answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\n\r\n",
            bomb.len()
        )
        .into_bytes();
        answer.extend(&bomb);
        let receiver = Receiver::answering(answer).await;
        let answer = post(&client(), &receiver.url("/")).await.unwrap();
        assert_eq!(answer.body, bomb);
        assert_eq!(answer.body_end, BodyEnd::Complete);
    }
}

#[tokio::test]
async fn no_cookie_is_kept() {
    let (sender, mut requests) = mpsc::unbounded_channel();
    let receiver = Receiver::start(move |mut stream, _| {
        let sender = sender.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                sender.send(request).unwrap();
                let answer = b"HTTP/1.1 204 No Content\r\nset-cookie: a=b; Path=/\r\n\r\n";
                stream.write_all(answer).await.unwrap();
            }
        }
    })
    .await;
    let client = client();
    for _ in 0..2 {
        post(&client, &receiver.url("/")).await.unwrap();
        assert!(!requests.recv().await.unwrap().contains("cookie"));
    }
}

#[tokio::test]
async fn odd_answers_and_what_they_are() {
    type Case = (
        &'static [u8],
        Result<(u16, &'static [u8], BodyEnd), SendError>,
    );
    let cases: [Case; 16] = [
        // A body that ends with the connection.
        (
            b"HTTP/1.0 200 OK\r\n\r\nold",
            Ok((200, b"old", BodyEnd::Complete)),
        ),
        (
            b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
            Ok((200, b"until the end", BodyEnd::Complete)),
        ),
        (
            b"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n",
            Ok((200, b"", BodyEnd::Complete)),
        ),
        (
            b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            Ok((204, b"", BodyEnd::Complete)),
        ),
        // Nobody asked for another protocol.
        (
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: raw\r\nconnection: upgrade\r\n\r\nraw",
            Ok((101, b"", BodyEnd::Complete)),
        ),
        (
            "HTTP/1.1 200 OK\r\nx-name: Ren\u{e9}e\r\ncontent-length: 0\r\n\r\n".as_bytes(),
            Ok((200, b"", BodyEnd::Complete)),
        ),
        // Broken off, and broken.
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort",
            Ok((200, b"short", BodyEnd::Broken)),
        ),
        (
            b"HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n",
            Ok((500, b"abc", BodyEnd::Broken)),
        ),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
            Ok((200, b"abc", BodyEnd::Broken)),
        ),
        (b"", Err(SendError::Closed)),
        (b"HTTP/1.1 200 O", Err(SendError::Closed)),
        (b"SSH-2.0-OpenSSH_9.9\r\n", Err(SendError::Malformed)),
        (b"220 mail.example ESMTP\r\n", Err(SendError::Malformed)),
        (
            b"HTTP/1.1 200 OK\r\nna\xc3\xafve: 1\r\n\r\n",
            Err(SendError::Malformed),
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
            Err(SendError::Malformed),
        ),
        (
            b"HTTP/1.1 200 OK\r\na: 1\r\n folded\r\n\r\n",
            Err(SendError::Malformed),
        ),
    ];
    for (bytes, expected) in cases {
        let receiver = Receiver::start(move |mut stream, _| async move {
            read_request(&mut stream).await;
            stream.write_all(bytes).await.unwrap();
        })
        .await;
        let outcome = post(&impatient(), &receiver.url("/")).await;
        let seen = outcome.map(|answer| (answer.status.as_u16(), answer.body, answer.body_end));
        let expected = expected.map(|(status, body, end)| (status, body.into(), end));
        assert_eq!(seen, expected, "{}", bytes.escape_ascii());
    }
}
