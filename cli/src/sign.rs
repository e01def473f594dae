//! `webhook sign`: a signed request, printed and not sent.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use url::Url;
use webhook_fixtures::Delivery;

use crate::client::target;
use crate::event::EventArgs;
use crate::fault::Fault;
use crate::output::{Output, printable, say, say_raw};

/// Sign an event and print the request.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  webhook sign stripe invoice.paid --secret-env STRIPE_SECRET
  webhook sign github push --secret-file key --format curl --url http://localhost:8080/hooks
  webhook sign slack --secret-env S --at -10m | webhook verify slack --secret-env S --request -")]
pub(crate) struct Sign {
    #[command(flatten)]
    event: EventArgs,
    /// How to print it
    #[arg(long, value_enum, default_value = "http")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A line for a shell
    Curl,
    /// The header fields alone
    Headers,
    /// The whole request, as `webhook verify --request` reads it
    Http,
}

impl Sign {
    /// Run the command.
    ///
    /// # Errors
    ///
    /// [`Fault::Usage`].
    pub(crate) fn run(&self, output: &Output) -> Result<(), Fault> {
        let prepared = self.event.prepare()?;
        let delivery = prepared.delivery();
        let url = self.event.url.as_ref();
        if output.json {
            let mut value = describe(&delivery, url);
            if let Some(object) = value.as_object_mut() {
                object.insert("provider".to_owned(), self.event.provider.clone().into());
                object.insert("event".to_owned(), prepared.event.event_type().into());
                object.insert("id".to_owned(), prepared.event.event_id().into());
            }
            say(&value.to_string());
            return Ok(());
        }
        match self.format {
            Format::Curl => say(&curl(&delivery, url)?),
            Format::Headers => say_raw(fields(&delivery).as_bytes()),
            Format::Http => {
                let target = url.map_or_else(
                    || delivery.target(&delivery.path),
                    |url| target(url, delivery.query.as_deref()),
                );
                let head = format!("{} {target} HTTP/1.1\r\n", delivery.method);
                let fields = fields(&delivery).replace('\n', "\r\n");
                let length = format!("Content-Length: {}\r\n\r\n", delivery.body.len());
                say_raw(
                    &[
                        head.as_bytes(),
                        fields.as_bytes(),
                        length.as_bytes(),
                        &delivery.body,
                    ]
                    .concat(),
                );
            }
        }
        Ok(())
    }
}

/// A request as JSON: the body as text where it is UTF-8, else in base64.
pub(crate) fn describe(delivery: &Delivery, url: Option<&Url>) -> Value {
    let headers: Vec<Value> = delivery
        .headers
        .iter()
        .map(|(name, value)| json!([name, String::from_utf8_lossy(value)]))
        .collect();
    let mut value = json!({
        "method": delivery.method,
        "target": url.map_or_else(|| delivery.target(&delivery.path), |url| target(url, delivery.query.as_deref())),
        "url": url.map(Url::as_str),
        "headers": headers,
    });
    let (name, body) = match std::str::from_utf8(&delivery.body) {
        Ok(text) => ("body", text.to_owned()),
        Err(_) => ("body_base64", BASE64_STANDARD.encode(&delivery.body)),
    };
    if let Some(object) = value.as_object_mut() {
        object.insert(name.to_owned(), body.into());
    }
    value
}

/// A line for a POSIX shell that sends the same bytes.
///
/// # Errors
///
/// [`Fault::Usage`] for a body that no argument can hold.
pub(crate) fn curl(delivery: &Delivery, url: Option<&Url>) -> Result<String, Fault> {
    let body = std::str::from_utf8(&delivery.body)
        .ok()
        .filter(|text| !text.contains('\0'))
        .ok_or_else(|| Fault::usage("the body is no text: a shell's line cannot hold it"))?;
    let mut to = url.map_or("http://localhost:8080/", Url::as_str).to_owned();
    if let Some(query) = &delivery.query {
        let _ = write!(to, "{}{query}", if to.contains('?') { '&' } else { '?' });
    }
    let mut line = format!("curl -i -X {} {}", delivery.method, quoted(&to));
    for (name, value) in &delivery.headers {
        let field = format!("{name}: {}", String::from_utf8_lossy(value));
        let _ = write!(line, " -H {}", quoted(&field));
    }
    if !body.is_empty() {
        let _ = write!(line, " --data-raw {}", quoted(body));
    }
    Ok(line)
}

fn fields(delivery: &Delivery) -> String {
    delivery
        .headers
        .iter()
        .fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name}: {}", printable(value));
            text
        })
}

/// One word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_cannot_be_left() {
        let delivery = Delivery::post("it's {\"a\":1}").header("X", "a'; rm -rf /; '");
        let line = curl(&delivery, None).unwrap();
        assert_eq!(
            line,
            r#"curl -i -X POST 'http://localhost:8080/' -H 'X: a'\''; rm -rf /; '\''' --data-raw 'it'\''s {"a":1}'"#
        );
        assert!(curl(&Delivery::post(&b"\xff"[..]), None).is_err());
    }
}
