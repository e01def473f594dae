//! How to send a message again, with nothing but a shell.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::effects::quoted;
use crate::message::{Framing, Message};
use crate::target::Target;

/// A line for a POSIX shell. Bytes that no terminal shows go through `base64`.
pub(crate) fn curl(target: &Target, message: &Message) -> String {
    let delivery = &message.delivery;
    let mut line = format!("curl -i --http1.1 --max-time 60 -X {}", delivery.method);
    for (name, value) in &delivery.headers {
        let value = String::from_utf8_lossy(value);
        // curl drops fields without a value, unless they end in a semicolon.
        let field = if value.trim().is_empty() {
            format!("{name};")
        } else {
            format!("{name}: {}", shortened(&value))
        };
        let _ = write!(line, " -H {}", quoted(&field));
    }
    let mut path = target.url().to_owned();
    if let Some(query) = &delivery.query {
        let _ = write!(
            path,
            "{}{query}",
            if path.contains('?') { '&' } else { '?' }
        );
    }
    let filling = match message.framing {
        Framing::Length => None,
        Framing::Chunked => {
            line.push_str(" -H 'Transfer-Encoding: chunked'");
            None
        }
        Framing::Declared(length) => {
            let _ = write!(line, " -H 'Content-Length: {length}'");
            None
        }
        Framing::Dripping(_) => {
            line.push_str(" --limit-rate 1");
            None
        }
        Framing::Flood { bytes, chunked } => {
            if chunked {
                line.push_str(" -H 'Transfer-Encoding: chunked'");
            }
            Some(bytes)
        }
    };
    let _ = write!(line, " {}", quoted(&path));
    let text = std::str::from_utf8(&delivery.body).ok();
    let text =
        text.filter(|text| !text.contains(|char: char| char.is_control() || char == '\u{feff}'));
    match (text, filling) {
        (Some(""), None) => line,
        // An `@` in front would name a file.
        (Some(text), None) if !text.starts_with('@') => {
            format!("{line} --data-binary {}", quoted(text))
        }
        _ => {
            let body = BASE64_STANDARD.encode(&delivery.body);
            let body = format!("printf %s {} | base64 -d", quoted(&body));
            let body = match filling {
                None => body,
                Some(bytes) => format!("{{ {body}; head -c {bytes} /dev/zero | tr '\\0' ' '; }}"),
            };
            format!("{body} | {line} --data-binary @-")
        }
    }
}

/// A header of a megabyte is told, not shown.
fn shortened(value: &str) -> String {
    let count = value.chars().count();
    if count <= 8 * 1024 {
        return value.to_owned();
    }
    let start: String = value.chars().take(64).collect();
    format!("{start}… ({count} characters)")
}

#[cfg(test)]
mod tests {
    use webhook_fixtures::Delivery;

    use super::*;

    #[tokio::test]
    async fn nothing_leaves_its_quotes() {
        let target = Target::resolve("http://127.0.0.1:1/a?b=c").await.unwrap();
        let line = |delivery: Delivery| curl(&target, &Message::from(delivery));
        assert_eq!(
            line(
                Delivery::post("it's")
                    .header("X", "'; reboot; '")
                    .header("Y", "")
            ),
            r"curl -i --http1.1 --max-time 60 -X POST -H 'X: '\''; reboot; '\''' -H 'Y;' 'http://127.0.0.1:1/a?b=c' --data-binary 'it'\''s'"
        );
        for odd in [&b"\xff"[..], b"a\n", b"@/etc/passwd"] {
            let line = line(Delivery::post(odd));
            assert!(
                line.starts_with("printf %s '") && line.ends_with("--data-binary @-"),
                "{line}"
            );
        }
    }
}
