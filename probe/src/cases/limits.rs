//! Bounds: what a stranger without a secret can make a receiver read, keep and wait for.

use std::time::Duration;

use webhook_fixtures::Delivery;

use crate::case::{Case, Forged, Group, Play, Verdict};
use crate::client::End;
use crate::judge::{accepted, refused, refused_or_closed};
use crate::message::{Framing, Message};
use crate::stage::Stage;

const GROUP: Group = Group::Limits;

const BOUNDED: &str = "413, or an end of the connection before the body's";
const MEMORY: &str = "a signature over a body is checked when the body is there: without a bound, strangers fill the memory";

pub(super) const CASES: &[Case] = &[
    Case::new(
        GROUP,
        "body-oversized",
        "a forged body far larger than any delivery, with its length",
        BOUNDED,
        MEMORY,
        Play::Scene(|stage| Box::pin(flood(stage, false))),
    ),
    Case::new(
        GROUP,
        "body-oversized-chunked",
        "a forged body far larger than any delivery, in chunks without a length",
        BOUNDED,
        MEMORY,
        Play::Scene(|stage| Box::pin(flood(stage, true))),
    ),
    Case::new(
        GROUP,
        "length-huge",
        "a forgery that announces 2^63 - 1 bytes and sends a few",
        "4xx or an end of the connection, and no memory for what was only announced",
        "a length is a claim",
        Play::Scene(|stage| {
            Box::pin(async {
                let message =
                    Message::framed(forgery(stage), Framing::Declared(i64::MAX.unsigned_abs()));
                let answer = stage.send("the forgery", message).await;
                match answer.end {
                    // It waits for the rest, as for any slow body: that is another case.
                    End::Silent => Verdict::Passed,
                    _ => refused_or_closed(&answer),
                }
            })
        }),
    ),
    Case::accepted(
        GROUP,
        "genuine-chunked",
        "a genuine delivery in chunks of seven bytes, without a length",
        "proxies send such; a character cut in two is two bytes of one body",
        |stage| {
            let event = stage.event();
            let chunked = Message::framed(stage.signed(&event), Framing::Chunked);
            Some(Forged::new(event.event_id(), chunked))
        },
    ),
    Case::new(
        GROUP,
        "slow-body",
        "a forged body of which a byte comes each second",
        "408 or an end of the connection, within a minute",
        "each connection that may wait for ever is one that strangers can hold",
        Play::Scene(|stage| {
            Box::pin(async {
                let limit = stage.bounds().slow_body;
                let pause = Duration::from_secs(1).min(limit / 8);
                let slow = forgery(stage).body(" ".repeat(4096));
                let answer = stage
                    .send_within(
                        "the forgery",
                        Message::framed(slow, Framing::Dripping(pause)),
                        limit,
                    )
                    .await;
                match answer.end {
                    End::Silent => {
                        Verdict::Failed(format!("it still waited after {} s", limit.as_secs()))
                    }
                    _ => refused_or_closed(&answer),
                }
            })
        }),
    ),
    Case::new(
        GROUP,
        "header-large",
        "a genuine delivery with one more field of a megabyte",
        "431, 400 or an end of the connection",
        "fields are read before anything can be verified: without a bound, strangers fill the memory",
        Play::Scene(|stage| {
            Box::pin(async {
                let large = stage
                    .signed(&stage.event())
                    .header("X-Probe", vec![b'x'; 1024 * 1024]);
                refused_or_closed(&stage.send("the delivery", large).await)
            })
        }),
    ),
    Case::new(
        GROUP,
        "headers-many",
        "a genuine delivery with five thousand fields more",
        "431, 400 or an end of the connection",
        "fields are read before anything can be verified: without a bound, strangers fill the memory",
        Play::Scene(|stage| {
            Box::pin(async {
                let signed = stage.signed(&stage.event());
                let many = (0..5000).fold(signed, |delivery, nth| {
                    delivery.header(format!("X-Probe-{nth}"), "x")
                });
                refused_or_closed(&stage.send("the delivery", many).await)
            })
        }),
    ),
    Case::refused(
        GROUP,
        "gzip",
        "a delivery compressed with gzip, signed over what it inflates to",
        "what is inflated before it is verified lets strangers send a kilobyte for a gigabyte; providers do not compress",
        |stage| {
            let event = stage.event();
            let signed = stage.signed(&event);
            let body = gzip(&signed.body)?;
            let packed = signed.header("Content-Encoding", "gzip").body(body);
            Some(Forged::new(event.event_id(), packed))
        },
    ),
];

/// A delivery by a stranger, which looks like a genuine one.
fn forgery(stage: &Stage<'_>) -> Delivery {
    stage.event().signed(&stage.keys().strange, stage.now())
}

async fn flood(stage: &Stage<'_>, chunked: bool) -> Verdict {
    let bytes = stage.bounds().flood_bytes;
    let message = Message::framed(forgery(stage), Framing::Flood { bytes, chunked });
    let answer = stage.send("the forgery", message).await;
    let was_read = || {
        Verdict::Failed(format!(
            "it read all of {} MiB from a stranger",
            bytes / 1024 / 1024
        ))
    };
    match (&answer.end, answer.status()) {
        (End::Closed, _) if !answer.sent_all => Verdict::Passed,
        (_, Some(413)) => Verdict::Passed,
        (End::Silent, _) if !answer.sent_all => {
            Verdict::Failed("it neither read on nor answered".to_owned())
        }
        _ if answer.sent_all && !answer.is_accepted() => was_read(),
        _ => refused(&answer).and(accepted_never(&answer)),
    }
}

fn accepted_never(answer: &crate::client::Answer) -> Verdict {
    match accepted(answer) {
        Verdict::Passed => Verdict::Failed("accepted".to_owned()),
        _ => Verdict::Passed,
    }
}

/// Bytes in the gzip format (RFC 1952), in stored blocks (RFC 1951, section 3.2.4).
fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = bytes.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).ok()?;
        packed.push(u8::from(blocks.peek().is_none()));
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend_from_slice(block);
    }
    packed.extend(crc32(bytes).to_le_bytes());
    packed.extend(u32::try_from(bytes.len()).ok()?.to_le_bytes());
    Some(packed)
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| {
        if crc & 1 == 1 {
            (crc >> 1) ^ 0xedb8_8320
        } else {
            crc >> 1
        }
    };
    !bytes
        .iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_the_format() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926); // the check value that every catalogue of CRCs gives
        let packed = gzip(b"abc").unwrap();
        assert_eq!(packed[10..18], [1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c']);
        assert_eq!(packed[22..], [3, 0, 0, 0]);
    }
}
