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
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(answer) = parse(&bytes) {
            return answer;
        }
        match stream.read(&mut chunk) {
            Ok(0) => panic!("no answer: {:?}", String::from_utf8_lossy(&bytes)),
            Ok(count) => bytes.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) => panic!("no answer ({error}): {:?}", String::from_utf8_lossy(&bytes)),
        }
    }
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
    headers.retain(|line| !line.starts_with("date: ") && !line.starts_with("retry-after: "));
    headers.sort();
    (body.len() >= length).then(|| Answer {
        status,
        headers,
        body: body.to_owned(),
    })
}
