//! HTTP/1.1 by hand: what a test sends is exactly what stands in it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer, as read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Header lines in lower case, without the ones that differ from answer to answer.
    pub headers: Vec<String>,
    /// The body.
    pub body: String,
    /// `Retry-After` names a number of seconds, of a minute at most.
    pub comes_again: bool,
}

/// A request head without length or coding.
pub fn head(path: &str, headers: &[(String, String)]) -> String {
    let mut head = format!("POST {path} HTTP/1.1\r\nHost: test\r\n");
    for (name, value) in headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head
}

/// Send a whole request with its length and read the answer.
///
/// # Panics
///
/// If the server does not answer within 30 s.
pub fn post(to: SocketAddr, path: &str, headers: &[(String, String)], body: &[u8]) -> Answer {
    let mut request = head(path, headers).into_bytes();
    request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(body);
    raw(to, &request)
}

/// Send a whole request; `None` if the connection ends without an answer.
///
/// # Panics
///
/// If the server does neither within 30 s.
pub fn try_post(
    to: SocketAddr,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Option<Answer> {
    let mut request = head(path, headers).into_bytes();
    request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(body);
    let mut stream = TcpStream::connect(to).ok()?;
    let patience = Some(Duration::from_secs(30));
    stream
        .set_read_timeout(patience)
        .expect("a timeout can be set");
    let _ = stream.write_all(&request);
    try_read(&mut stream).ok()
}

/// Send these bytes and read one answer.
///
/// # Panics
///
/// If the server does not answer within 30 s.
pub fn raw(to: SocketAddr, request: &[u8]) -> Answer {
    let mut stream = connect(to);
    // A refusal may close the connection before everything is sent; the answer still counts.
    let _ = stream.write_all(request);
    read(&mut stream)
}

/// A connection to write to piece by piece.
///
/// # Panics
///
/// If nobody listens.
pub fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("the server listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .expect("a timeout can be set");
    stream
}

/// Read one answer.
///
/// # Panics
///
/// If there is none.
pub fn read(stream: &mut TcpStream) -> Answer {
    try_read(stream).unwrap_or_else(|so_far| panic!("no answer: {so_far:?}"))
}

/// Read one answer, or what came instead.
fn try_read(stream: &mut TcpStream) -> Result<Answer, String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(answer) = parse(&bytes) {
            return Ok(answer);
        }
        match stream.read(&mut chunk) {
            Ok(0) => return Err(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(count) => bytes.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if is_timeout(&error) => panic!("neither an answer nor an end in 30 s"),
            Err(_) => return Err(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    if status == 100 {
        return parse(body.as_bytes());
    }
    let mut headers: Vec<String> = lines.map(str::to_ascii_lowercase).collect();
    let length = headers
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "))
        .and_then(|length| length.parse().ok())
        .unwrap_or(0usize);
    let retry_after_secs = headers
        .iter()
        .find_map(|line| line.strip_prefix("retry-after: "))
        .and_then(|seconds| seconds.parse().ok());
    headers.retain(|line| !line.starts_with("date: ") && !line.starts_with("retry-after: "));
    headers.sort();
    let comes_again = retry_after_secs.is_some_and(|seconds: u64| (1..=60).contains(&seconds));
    (body.len() >= length).then(|| Answer {
        status,
        headers,
        body: body.to_owned(),
        comes_again,
    })
}
