//! Who may answer for a name.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::TlsAcceptor;
use webhook_dispatch::guard::{BodyEnd, GuardedClient, Phase, SendError, SetupError, TlsFault};

use crate::support::receiver::{Receiver, flood, read_request};
use crate::support::{builder, post};

/// An authority of the test.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn der(&self) -> Vec<u8> {
        self.0.der().to_vec()
    }

    fn client(&self) -> GuardedClient {
        builder()
            .trust(self.der())
            .deadline(Duration::from_secs(2))
            .build()
            .unwrap()
    }

    /// A certificate for `names`, changed by `change`.
    fn issue(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Identity::new(certificate.der().clone(), &key)
    }
}

struct Identity(CertificateDer<'static>, PrivateKeyDer<'static>);

impl Identity {
    fn new(certificate: CertificateDer<'static>, key: &KeyPair) -> Self {
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        Self(certificate, key.into())
    }

    /// A TLS receiver that answers everything with `answer`.
    async fn serve(self, answer: impl Into<Vec<u8>>) -> Receiver {
        self.serve_in_pieces(answer, usize::MAX).await
    }

    /// As [`Self::serve`], in TLS records of `piece` bytes at most.
    async fn serve_in_pieces(self, answer: impl Into<Vec<u8>>, piece: usize) -> Receiver {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.0], self.1)
            .unwrap();
        // As receivers do that speak both; who asks for nothing would get HTTP/2 from some.
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let answer: Arc<[u8]> = answer.into().into();
        Receiver::start(move |stream, _| {
            let (acceptor, answer) = (acceptor.clone(), Arc::clone(&answer));
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                if stream.get_ref().1.alpn_protocol() != Some(b"http/1.1") {
                    return;
                }
                while read_request(&mut stream).await.is_some() {
                    for piece in answer.chunks(piece) {
                        if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
                            return;
                        }
                    }
                }
            }
        })
        .await
    }
}

const NO_CONTENT: &str = "HTTP/1.1 204 No Content\r\n\r\n";

fn url(receiver: &Receiver, host: &str) -> String {
    format!("https://{host}:{}/", receiver.address.port())
}

#[tokio::test]
async fn a_receiver_with_a_good_certificate_is_answered_for() {
    let authority = Authority::new();
    let names = ["hooks.test", "127.0.0.1"];
    let receiver = authority.issue(&names, |_| {}).serve(NO_CONTENT).await;
    let client = authority.client();
    for host in ["hooks.test", "hooks.test.", "127.0.0.1"] {
        let answer = post(&client, &url(&receiver, host)).await.unwrap();
        assert_eq!(answer.status, 204, "{host}");
    }
    // Kept and used again, as over plain http.
    assert!(
        post(&client, &url(&receiver, "hooks.test"))
            .await
            .unwrap()
            .is_reused
    );
    assert_eq!(receiver.connections(), 2);
}

#[tokio::test]
async fn certificates_that_are_refused() {
    let authority = Authority::new();
    let client = authority.client();
    let past = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    };
    let future = |params: &mut CertificateParams| params.not_before = date_time_ymd(4000, 1, 1);
    let key = KeyPair::generate().unwrap();
    let alone = CertificateParams::new(["hooks.test".to_owned()]).unwrap();
    let alone = alone.self_signed(&key).unwrap();
    for (identity, expected) in [
        (
            authority.issue(&["other.test"], |_| {}),
            TlsFault::WrongName,
        ),
        (
            authority.issue(&["hooks.test.evil.test"], |_| {}),
            TlsFault::WrongName,
        ),
        (
            authority.issue(&["*.hooks.test"], |_| {}),
            TlsFault::WrongName,
        ),
        (authority.issue(&["hooks.test"], past), TlsFault::Expired),
        (authority.issue(&["hooks.test"], future), TlsFault::Expired),
        (
            Authority::new().issue(&["hooks.test"], |_| {}),
            TlsFault::Untrusted,
        ),
        (
            Identity::new(alone.der().clone(), &key),
            TlsFault::Untrusted,
        ),
    ] {
        let receiver = identity.serve(NO_CONTENT).await;
        let error = post(&client, &url(&receiver, "hooks.test"))
            .await
            .unwrap_err();
        assert_eq!(error, SendError::Tls(expected));
        assert!(!error.may_have_arrived());
    }
}

#[tokio::test]
async fn receivers_without_tls() {
    let client = Authority::new().client();
    let plain = Receiver::start(|mut stream, _| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    let error = post(&client, &url(&plain, "hooks.test")).await.unwrap_err();
    assert_eq!(error, SendError::Tls(TlsFault::Protocol));

    let closing = Receiver::start(|mut stream, _| async move {
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 1024]).await;
    })
    .await;
    let error = post(&client, &url(&closing, "hooks.test"))
        .await
        .unwrap_err();
    assert_eq!(error, SendError::Tls(TlsFault::Closed));
}

#[tokio::test]
async fn a_handshake_that_never_ends_takes_no_longer_than_the_deadline() {
    let receiver = Receiver::sink().await;
    let client = builder()
        .deadline(Duration::from_millis(500))
        .build()
        .unwrap();
    let error = post(&client, &url(&receiver, "127.0.0.1"))
        .await
        .unwrap_err();
    assert_eq!(error, SendError::TimedOut(Phase::Tls));
    assert!(!error.may_have_arrived());
}

/// Records that are well-formed and say nothing.
#[tokio::test]
async fn a_handshake_that_never_ends_in_bytes_is_cut_off() {
    let receiver = Receiver::start(|mut stream, _| async move {
        // Alerts at the level of a warning, which TLS 1.2 lets pass.
        let warnings = [21, 3, 3, 0, 2, 1, 90].repeat(1000);
        let taken = flood(&mut stream, &warnings, 256 << 20).await;
        assert!(taken < 16 << 20, "{taken}");
    })
    .await;
    let client = builder().deadline(Duration::from_secs(20)).build().unwrap();
    let error = post(&client, &url(&receiver, "127.0.0.1"))
        .await
        .unwrap_err();
    assert_eq!(error, SendError::Tls(TlsFault::Protocol));
}

#[tokio::test]
async fn a_certificate_that_is_too_large_is_cut_off() {
    let authority = Authority::new();
    let client = authority.client();
    for (names, expected) in [(300, None), (1500, Some(TlsFault::TooLarge))] {
        let names: Vec<_> = (0..names)
            .map(|n| format!("name-{n:05}.hooks.test"))
            .collect();
        let mut names: Vec<_> = names.iter().map(String::as_str).collect();
        names.push("hooks.test");
        let receiver = authority.issue(&names, |_| {}).serve(NO_CONTENT).await;
        let error = post(&client, &url(&receiver, "hooks.test")).await.err();
        assert_eq!(error, expected.map(SendError::Tls));
    }
}

/// A head of few bytes in many records.
#[tokio::test]
async fn records_are_counted_with_their_frames() {
    let authority = Authority::new();
    let head = format!("HTTP/1.1 204 No Content\r\nx: {}\r\n\r\n", "v".repeat(8000));
    let in_one = authority
        .issue(&["hooks.test"], |_| {})
        .serve(head.clone())
        .await;
    let answer = post(&authority.client(), &url(&in_one, "hooks.test")).await;
    assert_eq!(answer.unwrap().status, 204);
    let in_bytes = authority
        .issue(&["hooks.test"], |_| {})
        .serve_in_pieces(head, 1)
        .await;
    let client = builder()
        .trust(authority.der())
        .deadline(Duration::from_secs(20))
        .build();
    let error = post(&client.unwrap(), &url(&in_bytes, "hooks.test"))
        .await
        .unwrap_err();
    assert_eq!(error, SendError::HeadTooLarge);
}

#[tokio::test]
async fn budgets_hold_inside_tls() {
    let authority = Authority::new();
    let client = authority.client();
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(10_000);
    let receiver = authority
        .issue(&["hooks.test"], |_| {})
        .serve(interim)
        .await;
    let error = post(&client, &url(&receiver, "hooks.test"))
        .await
        .unwrap_err();
    assert_eq!(error, SendError::HeadTooLarge);

    let body = "b".repeat(1 << 20);
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let receiver = authority.issue(&["hooks.test"], |_| {}).serve(answer).await;
    let answer = post(&client, &url(&receiver, "hooks.test")).await.unwrap();
    assert_eq!(
        (answer.body.len(), answer.body_end),
        (4096, BodyEnd::Truncated)
    );
}

#[test]
fn a_root_that_is_none_stops_the_start() {
    let broken = builder().trust(b"not a certificate".as_slice()).build();
    assert!(matches!(broken.unwrap_err(), SetupError::Authority(_)));
    for deadline in [Duration::ZERO, Duration::from_secs(31)] {
        let broken = builder().deadline(deadline).build();
        assert_eq!(broken.unwrap_err(), SetupError::Deadline);
    }
}
