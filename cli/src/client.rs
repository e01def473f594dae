//! A small HTTP/1.1 client: one request a connection, header fields as given, no proxy, no redirect, no retry.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::{Host, Url};
use webhook_fixtures::Delivery;

/// Longest answer that is read.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// What an endpoint answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Bytes,
    pub(crate) took: Duration,
}

/// Read a URL that can be sent to.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("not a URL: {error}"))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        _ => Err("expected http:// or https://".to_owned()),
    }
}

/// Send `delivery` to `url` and read the answer, all within `patience`.
///
/// # Errors
///
/// Why there is none, in words that name no query.
pub(crate) async fn send(
    url: &Url,
    delivery: &Delivery,
    patience: Duration,
) -> Result<Answer, String> {
    let begin = Instant::now();
    let answer = tokio::time::timeout(patience, exchange(url, delivery));
    let mut answer = answer
        .await
        .map_err(|_| format!("no answer within {} s", patience.as_secs()))??;
    answer.took = begin.elapsed();
    Ok(answer)
}

async fn exchange(url: &Url, delivery: &Delivery) -> Result<Answer, String> {
    let host = url.host().ok_or("the URL names no host")?;
    let port = url.port_or_known_default().unwrap_or(80);
    let name = url.host_str().unwrap_or_default();
    let connected = match host {
        Host::Domain(domain) => TcpStream::connect((domain, port)).await,
        Host::Ipv4(address) => TcpStream::connect((address, port)).await,
        Host::Ipv6(address) => TcpStream::connect((address, port)).await,
    };
    let stream = connected.map_err(|error| format!("cannot connect to {name}:{port}: {error}"))?;
    let request = request(url, delivery)?;
    if url.scheme() == "https" {
        let server = ServerName::try_from(name.trim_matches(['[', ']']).to_owned())
            .map_err(|_| format!("{name} is no name that a certificate could bear"))?;
        let stream = tls()?
            .connect(server, stream)
            .await
            .map_err(|error| format!("TLS with {name}:{port}: {error}"))?;
        return talk(stream, request).await;
    }
    talk(stream, request).await
}

async fn talk<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let said = |error: hyper::Error| format!("the connection failed: {error}");
    let (mut sender, connection) = http1::Builder::new()
        .preserve_header_case(true)
        .handshake::<_, Full<Bytes>>(TokioIo::new(stream))
        .await
        .map_err(said)?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(said)?;
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let headers = headers
        .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect();
    let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES);
    let body = body
        .collect()
        .await
        .map_err(|error| format!("the answer's body: {error}"))?
        .to_bytes();
    connection.abort();
    Ok(Answer {
        status,
        headers,
        body,
        took: Duration::ZERO,
    })
}

fn request(url: &Url, delivery: &Delivery) -> Result<Request<Full<Bytes>>, String> {
    let method = Method::from_bytes(delivery.method.as_bytes());
    let mut request = Request::new(Full::new(delivery.body.clone()));
    *request.method_mut() = method.map_err(|_| "the method is none".to_owned())?;
    let target = target(url, delivery.query.as_deref());
    *request.uri_mut() = target
        .parse()
        .map_err(|_| "the URL's path cannot be sent".to_owned())?;
    let port = url.port().map(|port| format!(":{port}"));
    let host = format!(
        "{}{}",
        url.host_str().unwrap_or_default(),
        port.unwrap_or_default()
    );
    let fields = delivery
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_slice()));
    for (name, value) in [("Host", host.as_bytes())].into_iter().chain(fields) {
        let field = HeaderName::from_bytes(name.as_bytes());
        let field = field.map_err(|_| format!("`{name}` is no name of a header"))?;
        let value = HeaderValue::from_bytes(value);
        let value = value.map_err(|_| format!("the value of `{name}` cannot be sent"))?;
        request.headers_mut().append(field, value);
    }
    Ok(request)
}

/// Path and query, the delivery's own behind the URL's.
pub(crate) fn target(url: &Url, query: Option<&str>) -> String {
    let parts: Vec<&str> = url.query().into_iter().chain(query).collect();
    if parts.is_empty() {
        url.path().to_owned()
    } else {
        format!("{}?{}", url.path(), parts.join("&"))
    }
}

fn tls() -> Result<TlsConnector, String> {
    let roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
