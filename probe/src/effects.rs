//! How often an event took effect, as the receiver's owner counts it.

use std::process::Stdio;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tokio::process::Command;
use webhook_fixtures::Delivery;

use crate::client::Client;
use crate::message::Message;
use crate::target::{Target, UnusableUrl};

/// Longest that one count may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where effects are counted. `{id}` stands for the event's id.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Effects {
    /// By a command of the shell, which prints the number.
    Command(String),
    /// Nowhere: answers are all there is to judge by.
    #[default]
    Unknown,
    /// By a GET of a URL. It answers a number, `{"count": n}` or a list; 404 is none.
    Url(String),
}

/// Effects could not be counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("effects cannot be counted: {0}")]
pub(crate) struct Uncounted(String);

impl Effects {
    /// Whether they can be counted.
    pub fn are_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// The address that is asked, if one is.
    ///
    /// # Errors
    ///
    /// [`UnusableUrl`].
    pub async fn target(&self) -> Result<Option<Target>, UnusableUrl> {
        match self {
            Self::Url(template) => Target::resolve(&filled(template, "id")).await.map(Some),
            Self::Command(_) | Self::Unknown => Ok(None),
        }
    }

    /// How often the event of this id took effect. Zero if that is not known at all.
    pub(crate) async fn count(&self, id: &str) -> Result<u64, Uncounted> {
        match self {
            Self::Unknown => Ok(0),
            Self::Url(template) => get(&filled(template, id)).await,
            Self::Command(template) => {
                let output = shell(&template.replace("{id}", &quoted(id)), PATIENCE)
                    .await
                    .map_err(Uncounted)?;
                number(&output).ok_or_else(|| Uncounted("the command printed no number".to_owned()))
            }
        }
    }
}

async fn get(url: &str) -> Result<u64, Uncounted> {
    let target = Target::resolve(url)
        .await
        .map_err(|fault| Uncounted(fault.to_string()))?;
    let mut get = Delivery::post("");
    get.method = "GET";
    let answer = Client::new(target)
        .send(&Message::from(get), PATIENCE)
        .await;
    let counted = match answer.reply() {
        Some(reply) if reply.status == 404 => Some(0),
        Some(reply) if reply.status == 200 => number(&reply.body),
        _ => None,
    };
    counted.ok_or_else(|| {
        Uncounted(format!(
            "the effects' URL answered {} and no number",
            answer.words()
        ))
    })
}

/// A number, an object with a `count` of one, or a list's length.
fn number(bytes: &[u8]) -> Option<u64> {
    match serde_json::from_slice(bytes).ok()? {
        Value::Array(list) => u64::try_from(list.len()).ok(),
        Value::Object(object) => object.get("count")?.as_u64(),
        value => value.as_u64(),
    }
}

/// Run a line of the shell and return what it prints.
pub(crate) async fn shell(line: &str, patience: Duration) -> Result<Vec<u8>, String> {
    let child = Command::new("/bin/sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ended = tokio::time::timeout(patience, child).await;
    match ended {
        Err(_) => Err(format!(
            "the command took longer than {} s",
            patience.as_secs()
        )),
        Ok(Err(fault)) => Err(format!("the command could not be run: {fault}")),
        Ok(Ok(output)) if output.status.success() => Ok(output.stdout),
        Ok(Ok(output)) => Err(format!("the command ended with {}", output.status)),
    }
}

fn filled(template: &str, id: &str) -> String {
    template.replace(
        "{id}",
        &utf8_percent_encode(id, NON_ALPHANUMERIC).to_string(),
    )
}

/// One word of the shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, count) in [
            ("2", Some(2)),
            (" 3\n", Some(3)),
            (r#"{"count": 4}"#, Some(4)),
            ("[{},{}]", Some(2)),
            ("[]", Some(0)),
            ("-1", None),
            ("", None),
            (r#"{"n": 1}"#, None),
        ] {
            assert_eq!(number(text.as_bytes()), count, "{text}");
        }
    }

    #[tokio::test]
    async fn ids_stay_one_word() {
        let effects = Effects::Command("printf %s {id} | wc -c".to_owned());
        assert_eq!(effects.count("a'; echo 99; '").await, Ok(14));
        assert!(
            Effects::Command("exit 3".to_owned())
                .count("x")
                .await
                .is_err()
        );
        assert_eq!(filled("http://h/{id}", "a/b?c"), "http://h/a%2Fb%3Fc");
    }
}
