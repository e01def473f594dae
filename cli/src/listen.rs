//! `webhook listen`: an endpoint for one provider on this machine, which says what comes and passes it on.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use url::Url;
use webhook_core::Handshake;
use webhook_fixtures::{Delivery, Sender};

use crate::client::{Answer, parse_url, send};
use crate::event::find;
use crate::fault::Fault;
use crate::moment::now;
use crate::output::{Output, Tone, printable};
use crate::secret::{SecretArgs, Secrets};
use crate::send::one;
use crate::verify::Captured;
use crate::verify::explain::{Case, Explanation, answer, explain};

/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);
/// Header fields that belong to one connection, RFC 9110 section 7.6.1, and those that the client writes itself.
const NOT_FORWARDED: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Receive deliveries, say whether they are authentic, and pass them on.
///
/// Handshakes and challenges are answered. Without --forward an authentic delivery is answered with the status that its provider
/// takes for success and everything else with 401; with it, what the application answers is answered. Nothing is
/// stored, and duplicates are not noticed: this is a tool for development.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  webhook listen stripe --secret-env STRIPE_SECRET
  webhook listen github --secret-file key --port 8080 --forward http://localhost:3000/hooks/github")]
pub(crate) struct Listen {
    /// The provider, or the file of a scheme, `acme.toml`
    provider: String,
    /// The port; 0 is any that is free
    #[arg(long, default_value_t = 4040)]
    port: u16,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Send what is authentic on to this URL, byte for byte
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    forward: Option<Url>,
    /// Send on what is not authentic, too
    #[arg(long, requires = "forward")]
    forward_refused: bool,
    /// The URL by which the provider knows this endpoint. Some sign it
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<Url>,
    /// End after this many requests
    #[arg(long, value_name = "N")]
    count: Option<u32>,
    #[command(flatten)]
    secrets: SecretArgs,
}

struct Receiver {
    sender: Sender,
    url: Option<Url>,
    secrets: Secrets,
    forward: Option<Url>,
    forward_refused: bool,
    output: Output,
}

impl Listen {
    /// Run the command, until it is interrupted or has seen enough.
    ///
    /// # Errors
    ///
    /// A secret that cannot be used, a port that is taken.
    pub(crate) async fn run(&self, output: &Output) -> Result<(), Fault> {
        let sender = find(&self.provider, self.url.as_ref())?;
        let secrets = self.secrets.read()?;
        secrets.must_keyring(sender.provider().spec().secret())?;
        let receiver = Arc::new(Receiver {
            sender,
            url: self.url.clone(),
            secrets,
            forward: self.forward.clone(),
            forward_refused: self.forward_refused,
            output: output.clone(),
        });
        let wanted = SocketAddr::new(self.bind, self.port);
        let taken = |error| Fault::unreachable(format!("cannot listen on {wanted}: {error}"));
        let listener = TcpListener::bind(wanted).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        output.show(&json!({"listening": format!("http://{address}/")}), |_| {
            format!("listening on http://{address}/ for {}", self.provider)
        });
        // A word for each request that was answered.
        let (answered, mut words) = mpsc::channel::<()>(64);
        let accepting = tokio::spawn(accept(listener, receiver, answered));
        let mut left = self.count;
        while left != Some(0) && words.recv().await.is_some() {
            left = left.map(|left| left.saturating_sub(1));
        }
        // The last answer is still on its way.
        tokio::time::sleep(Duration::from_millis(100)).await;
        accepting.abort();
        Ok(())
    }
}

async fn accept(listener: TcpListener, receiver: Arc<Receiver>, answered: mpsc::Sender<()>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many files are open, for example.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (receiver, answered) = (Arc::clone(&receiver), answered.clone());
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let (receiver, answered) = (Arc::clone(&receiver), answered.clone());
                async move {
                    let response = receiver.receive(request).await;
                    let _ = answered.send(()).await;
                    Ok::<_, Infallible>(response)
                }
            });
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(ARRIVAL)
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

impl Receiver {
    async fn receive(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let at = now();
        let (parts, body) = request.into_parts();
        // Enough to see that it is too large.
        let cap = self.sender.provider().spec().body_cap().saturating_add(1);
        let body = tokio::time::timeout(ARRIVAL, Limited::new(body, cap).collect()).await;
        let body = match body {
            Err(_) => {
                return plain(
                    StatusCode::REQUEST_TIMEOUT,
                    "the body did not come in time\n",
                );
            }
            Ok(Err(_)) => return plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large\n"),
            Ok(Ok(body)) => body.to_bytes(),
        };
        let headers = parts.headers.iter();
        let captured = Captured {
            method: parts.method.to_string(),
            target: parts
                .uri
                .path_and_query()
                .map_or_else(|| "/".to_owned(), ToString::to_string),
            headers: headers
                .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
                .collect(),
            body,
        };
        let case = Case {
            sender: &self.sender,
            url: self.url.as_ref(),
            captured: &captured,
            secrets: &self.secrets,
            at,
            is_now: false,
        };
        let explanation = explain(&case);
        let handshake = answer(&case);
        let forwarded = self
            .pass_on(&captured, &explanation, handshake.is_some())
            .await;
        self.tell(&captured, &explanation, forwarded.as_ref());
        match (handshake, forwarded) {
            (Some(handshake), _) => greeted(&handshake),
            (None, Some(Ok(answer))) => passed_back(&answer),
            (None, Some(Err(_))) => {
                plain(StatusCode::BAD_GATEWAY, "the application did not answer\n")
            }
            (None, None) if explanation.is_accepted() => {
                let success = self.sender.provider().spec().success();
                plain(StatusCode::from_u16(success).unwrap_or(StatusCode::OK), "")
            }
            (None, None) => plain(StatusCode::UNAUTHORIZED, "refused\n"),
        }
    }

    async fn pass_on(
        &self,
        captured: &Captured,
        explanation: &Explanation,
        is_handshake: bool,
    ) -> Option<Result<Answer, String>> {
        let url = self.forward.as_ref()?;
        if is_handshake || !(explanation.is_accepted() || self.forward_refused) {
            return None;
        }
        let mut delivery = Delivery::post(captured.body.clone());
        delivery.query = captured
            .target
            .split_once('?')
            .map(|(_, query)| query.to_owned());
        for (name, value) in &captured.headers {
            if !NOT_FORWARDED.contains(&name.to_ascii_lowercase().as_str()) {
                delivery = delivery.header(name, value.clone());
            }
        }
        Some(send(url, &delivery, ARRIVAL).await)
    }

    fn tell(
        &self,
        captured: &Captured,
        explanation: &Explanation,
        forwarded: Option<&Result<Answer, String>>,
    ) {
        let steps: Vec<Value> = explanation
            .steps
            .iter()
            .map(|step| json!({"step": step.name, "verdict": step.verdict.as_str(), "text": step.text}))
            .collect();
        let forwarded_json = forwarded.map(|answer| match answer {
            Ok(answer) => {
                json!({"status": answer.status, "body": String::from_utf8_lossy(&answer.body)})
            }
            Err(error) => json!({"error": error}),
        });
        let value = json!({
            "method": captured.method,
            "target": captured.target,
            "accepted": explanation.is_accepted(),
            "reason": explanation.reason.as_str(),
            "steps": steps,
            "body": String::from_utf8_lossy(&captured.body),
            "forwarded": forwarded_json,
        });
        self.output.show(&value, |output| {
            let (tone, word) = if explanation.is_accepted() {
                (Tone::Good, "accepted")
            } else {
                (Tone::Bad, "refused")
            };
            let target = printable(captured.target.as_bytes());
            let mut text = format!(
                "\n{} {} {target}",
                output.paint(tone, word),
                captured.method
            );
            for step in &explanation.steps {
                let verdict = step.verdict.as_str();
                let _ = write!(
                    text,
                    "\n  {}{}  {}",
                    output.paint(step.verdict.tone(), verdict),
                    " ".repeat(4usize.saturating_sub(verdict.len())),
                    step.text
                );
            }
            let _ = write!(
                text,
                "\n{}",
                output.paint(Tone::Dim, &pretty(&captured.body))
            );
            match forwarded {
                Some(Ok(answer)) => {
                    let _ = write!(text, "\n-> {}", one(output, answer));
                }
                Some(Err(error)) => {
                    let _ = write!(text, "\n-> {}", output.paint(Tone::Bad, error));
                }
                None => {}
            }
            text
        });
    }
}

/// A body as a person reads it; what is checked and forwarded are the raw bytes.
fn pretty(body: &Bytes) -> String {
    let text = serde_json::from_slice::<Value>(body)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned());
    printable(text.as_bytes())
}

fn plain(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(body.as_bytes())));
    *response.status_mut() = status;
    response
}

fn greeted(handshake: &Handshake) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(handshake.body.clone()));
    let headers = response.headers_mut();
    headers.insert(
        "content-type",
        HeaderValue::from_static(handshake.content_type),
    );
    headers.insert(
        "x-content-type-options",
        HeaderValue::from_static("nosniff"),
    );
    response
}

fn passed_back(answer: &Answer) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(answer.body.clone()));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in &answer.headers {
        if NOT_FORWARDED.contains(&name.as_str()) {
            continue;
        }
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_bytes(value),
        ) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
