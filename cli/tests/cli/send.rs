//! `send` to `listen`, and on to an application.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use serde_json::Value;

use crate::run::webhook;

pub(crate) const SECRET: &str = "whsec_only-for-tests-0123456789";

/// A `listen` and what it prints.
pub(crate) struct Listening {
    child: Child,
    lines: mpsc::Receiver<Value>,
    pub(crate) url: String,
}

pub(crate) fn listen(more: &[&str]) -> Listening {
    listen_for("stripe", SECRET, more)
}

pub(crate) fn listen_for(provider: &str, secret: &str, more: &[&str]) -> Listening {
    let call = more.iter().fold(
        webhook(["listen", provider, "--port", "0", "--json"]),
        crate::run::Call::arg,
    );
    let mut child = call
        .secret(secret)
        .command()
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (say, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            let _ = say.send(serde_json::from_str(&line).unwrap());
        }
    });
    let mut listening = Listening {
        child,
        lines,
        url: String::new(),
    };
    let first = listening.next();
    first["listening"]
        .as_str()
        .unwrap()
        .clone_into(&mut listening.url);
    listening
}

impl Listening {
    fn next(&self) -> Value {
        self.lines
            .recv_timeout(std::time::Duration::from_mins(1))
            .unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An application that answers one request with 202 and hands over what came, raw.
fn application() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hooks?from=cli", listener.local_addr().unwrap());
    let (say, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&request).into_owned();
            let length = text.lines().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse::<usize>()
                    .ok()
            });
            if let (Some((_, body)), Some(length)) = (text.split_once("\r\n\r\n"), length)
                && body.len() >= length
            {
                stream
                    .write_all(
                        b"HTTP/1.1 202 Accepted\r\nX-App: yes\r\nContent-Length: 5\r\n\r\nheard",
                    )
                    .unwrap();
                say.send(text).unwrap();
                return;
            }
        }
    });
    (url, heard)
}

#[test]
fn what_is_authentic_is_passed_on_byte_for_byte() {
    let (application, heard) = application();
    let listening = listen(&["--forward", &application]);
    let sent = webhook([
        "send",
        "stripe",
        "invoice.paid",
        "--json",
        "--id",
        "evt_1",
        "--set",
        "/data/object/amount_paid=77",
        "--url",
        &listening.url,
    ])
    .secret(SECRET)
    .run()
    .code(0)
    .json();
    assert_eq!(
        (&sent["id"], &sent["answers"][0]["status"]),
        (&"evt_1".into(), &202.into())
    );
    assert_eq!(sent["answers"][0]["body"], "heard");
    let raw = heard
        .recv_timeout(std::time::Duration::from_mins(1))
        .unwrap();
    assert!(
        raw.starts_with("POST /hooks?from=cli HTTP/1.1\r\n"),
        "{raw}"
    );
    assert!(raw.contains("\"amount_paid\": 77"), "{raw}");
    // What the application got is what was signed.
    webhook(["verify", "stripe", "--request", "-"])
        .secret(SECRET)
        .stdin(raw.as_bytes())
        .run()
        .code(0);
    let told = listening.next();
    assert_eq!(
        (&told["accepted"], &told["forwarded"]["status"]),
        (&true.into(), &202.into())
    );
}

#[test]
fn what_is_not_is_refused_and_the_exit_code_says_so() {
    let (application, heard) = application();
    let listening = listen(&["--forward", &application]);
    let stale = webhook(["send", "stripe", "--at", "-1h", "--url", &listening.url])
        .secret(SECRET)
        .run()
        .code(1);
    assert!(stale.text().contains("401"), "{}", stale.text());
    assert_eq!(listening.next()["reason"], "stale");
    webhook(["send", "stripe", "--url", &listening.url])
        .secret("whsec_somebody-elses-0123")
        .run()
        .code(1);
    assert_eq!(listening.next()["reason"], "no-match");
    assert!(heard.try_recv().is_err());
}

#[test]
fn one_event_is_sent_many_times_or_many_events_once() {
    let mut listening = listen(&["--count", "8"]);
    let send = |more: &[&str]| {
        let call = webhook([
            "send",
            "stripe",
            "--json",
            "--repeat",
            "4",
            "--concurrency",
            "2",
            "--url",
            &listening.url,
        ]);
        let value = more
            .iter()
            .fold(call, crate::run::Call::arg)
            .secret(SECRET)
            .run()
            .code(0)
            .json();
        assert_eq!(value["answers"].as_array().unwrap().len(), 4);
    };
    let ids = || {
        let mut ids: Vec<String> = (0..4)
            .map(|_| {
                serde_json::from_str::<Value>(listening.next()["body"].as_str().unwrap())
                        .unwrap()["id"]
                        .to_string()
            })
            .collect();
        ids.sort();
        ids.dedup();
        ids.len()
    };
    send(&[]);
    assert_eq!(ids(), 1);
    send(&["--fresh"]);
    assert_eq!(ids(), 4);
    // It has seen enough.
    assert!(listening.child.wait().unwrap().success());
}

#[test]
fn a_curl_line_holds_the_whole_request() {
    let line = webhook([
        "sign",
        "slack",
        "--format",
        "curl",
        "--url",
        "http://localhost:1/x",
    ])
    .secret(SECRET)
    .run()
    .code(0)
    .text();
    assert!(
        line.starts_with("curl -i -X POST 'http://localhost:1/x' -H '"),
        "{line}"
    );
    assert!(
        line.to_lowercase().contains("x-slack-signature: v0="),
        "{line}"
    );
}
