//! What is sent: a delivery, and how its bytes come.

use std::time::Duration;

use bytes::Bytes;
use webhook_fixtures::Delivery;

use crate::target::Target;

/// A request as it goes on the wire, well-formed or not.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) delivery: Delivery,
    pub(crate) framing: Framing,
}

/// How a body's length is told, and how fast the body comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `Content-Length`, all at once.
    Length,
    /// `Transfer-Encoding: chunked`, cut in the middle of characters.
    Chunked,
    /// A `Content-Length` that is not the body's.
    Declared(u64),
    /// One byte after the other, with this pause.
    Dripping(Duration),
    /// This many bytes of filling behind the delivery's own, with their length or in chunks.
    Flood { bytes: usize, chunked: bool },
}

impl From<Delivery> for Message {
    fn from(delivery: Delivery) -> Self {
        Self {
            delivery,
            framing: Framing::Length,
        }
    }
}

impl Message {
    pub(crate) fn framed(delivery: Delivery, framing: Framing) -> Self {
        Self { delivery, framing }
    }

    /// Everything up to the body.
    pub(crate) fn head(&self, target: &Target) -> Vec<u8> {
        let Delivery {
            method,
            query,
            headers,
            body,
            ..
        } = &self.delivery;
        let path = target.path_and_query(query.as_deref());
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n",
            target.authority()
        );
        head.push_str("Accept: */*\r\nConnection: close\r\n");
        let mut head = head.into_bytes();
        for (name, value) in headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            // A line end would be another field.
            head.extend(
                value
                    .iter()
                    .filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)),
            );
            head.extend_from_slice(b"\r\n");
        }
        let length = match self.framing {
            Framing::Length | Framing::Dripping(_) => Some(body.len() as u64),
            Framing::Declared(length) => Some(length),
            Framing::Flood {
                bytes,
                chunked: false,
            } => Some(body.len().saturating_add(bytes) as u64),
            Framing::Chunked | Framing::Flood { chunked: true, .. } => None,
        };
        let framing = match length {
            Some(length) => format!("Content-Length: {length}\r\n\r\n"),
            None => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        };
        head.extend_from_slice(framing.as_bytes());
        head
    }

    /// The body in the pieces in which it is written, each with a pause behind it.
    pub(crate) fn pieces(&self) -> Box<dyn Iterator<Item = (Bytes, Duration)> + Send + '_> {
        const FILLING: &[u8] = &[b' '; 64 * 1024];
        let body = &self.delivery.body;
        match self.framing {
            Framing::Length | Framing::Declared(_) => {
                Box::new([(body.clone(), Duration::ZERO)].into_iter())
            }
            Framing::Chunked => {
                // After every seventh byte: no character of four bytes stays whole for long.
                let chunks = body.chunks(7).map(chunk);
                let end = Bytes::from_static(b"0\r\n\r\n");
                Box::new(chunks.chain([end]).map(|piece| (piece, Duration::ZERO)))
            }
            Framing::Dripping(pause) => {
                let bytes = body.chunks(1).map(Bytes::copy_from_slice);
                Box::new(bytes.map(move |byte| (byte, pause)))
            }
            Framing::Flood { bytes, chunked } => {
                let filling = (0..bytes.div_ceil(FILLING.len())).map(move |nth| {
                    let done = nth.saturating_mul(FILLING.len());
                    let size = bytes.saturating_sub(done).min(FILLING.len());
                    FILLING.get(..size).unwrap_or_default()
                });
                let all = [&body[..]].into_iter().chain(filling);
                let end = chunked.then(|| Bytes::from_static(b"0\r\n\r\n"));
                let pieces = all.map(move |piece| {
                    if chunked {
                        chunk(piece)
                    } else {
                        Bytes::copy_from_slice(piece)
                    }
                });
                Box::new(pieces.chain(end).map(|piece| (piece, Duration::ZERO)))
            }
        }
    }
}

fn chunk(piece: &[u8]) -> Bytes {
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    chunk.into()
}
