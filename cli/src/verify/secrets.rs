//! What people take for the key: the same secret, read in another way.

use base64::Engine as _;
use base64::prelude::{
    BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD,
};
use webhook_core::{KeyConfig, Keyring, SecretFormat};
use zeroize::Zeroizing;

/// Another reading of a secret, in words that complete "the signature holds if the secret is ...".
pub(crate) struct Reading {
    pub(crate) how: String,
    key: Zeroizing<Vec<u8>>,
}

impl Reading {
    /// A keyring of it alone, under the id of the key it stands for.
    pub(crate) fn keyring(&self, id: Option<&str>) -> Option<Keyring> {
        // Through base64 every byte can be a key's.
        let config = KeyConfig::new(BASE64_STANDARD.encode(&*self.key));
        let config = match id {
            Some(id) => config.id(id),
            None => config,
        };
        Keyring::build(SecretFormat::Base64 { prefix: "" }, [config]).ok()
    }
}

/// Whether keys of this format are secret on both sides, so that another reading can be tried.
pub(crate) fn is_shared(format: SecretFormat) -> bool {
    matches!(
        format,
        SecretFormat::Base64 { .. } | SecretFormat::StandardWebhooks | SecretFormat::Text { .. }
    )
}

/// Every other reading of `text`.
pub(crate) fn readings(format: SecretFormat, text: &str) -> Vec<Reading> {
    let prefix = match format {
        SecretFormat::Base64 { prefix } | SecretFormat::Text { prefix } => prefix,
        SecretFormat::StandardWebhooks => "whsec_",
        _ => return Vec::new(),
    };
    let mut spellings: Vec<(&str, String)> = vec![("", text.to_owned())];
    let trimmed = text.trim();
    if trimmed != text {
        spellings.push(("without the white space around it", trimmed.to_owned()));
    }
    let unquoted = trimmed.trim_matches(['"', '\'', '`']);
    if unquoted != trimmed {
        spellings.push(("without the quotes around it", unquoted.to_owned()));
    }
    let unescaped = unquoted.trim_end_matches("\\n").trim_end_matches("\\r");
    if unescaped != unquoted {
        spellings.push(("without the `\\n` at its end", unescaped.to_owned()));
    }
    if let Some((_, value)) = unquoted
        .split_once('=')
        .filter(|(name, _)| is_variable(name))
    {
        let value = value.trim_matches(['"', '\'']);
        spellings.push(("without the `NAME=` before it", value.to_owned()));
    }
    let is_text = matches!(format, SecretFormat::Text { .. });
    let mut all = Vec::new();
    for (how, spelling) in spellings {
        readings_of(prefix, is_text, how, &spelling, &mut all);
    }
    for (how, end) in [
        ("with a line feed behind it", "\n"),
        ("with CR LF behind it", "\r\n"),
    ] {
        all.push(reading(how, &[text, end].concat()));
    }
    all
}

fn readings_of(prefix: &str, is_text: bool, how: &str, text: &str, all: &mut Vec<Reading>) {
    let join = |more: &str| match (how, more) {
        ("", more) => more.to_owned(),
        (how, "") => how.to_owned(),
        (how, more) => format!("{how} and {more}"),
    };
    // Where the format is text, that is no other reading.
    let as_text = if is_text {
        ""
    } else {
        "taken as text, not decoded"
    };
    all.push(reading(&join(as_text), text));
    if let Some(bare) = text.strip_prefix(prefix).filter(|_| !prefix.is_empty()) {
        all.push(reading(
            &join(&format!("taken as text, without `{prefix}`")),
            bare,
        ));
    } else if !prefix.is_empty() {
        let full = [prefix, text].concat();
        all.push(reading(
            &join(&format!("taken as text, with `{prefix}` before it")),
            &full,
        ));
    }
    let bare = text.strip_prefix(prefix).unwrap_or(text);
    for (words, engine) in [
        ("decoded from base64", &BASE64_STANDARD),
        (
            "decoded from base64 without padding",
            &BASE64_STANDARD_NO_PAD,
        ),
        ("decoded from base64url", &BASE64_URL_SAFE),
        (
            "decoded from base64url without padding",
            &BASE64_URL_SAFE_NO_PAD,
        ),
    ] {
        if let Ok(key) = engine.decode(bare) {
            let words = if is_text || words != "decoded from base64" {
                words
            } else {
                ""
            };
            all.push(Reading {
                how: join(words),
                key: Zeroizing::new(key),
            });
        }
    }
    if let Some(key) = unhex(bare) {
        all.push(Reading {
            how: join("decoded from hex"),
            key: Zeroizing::new(key),
        });
    }
    for (words, changed) in [
        ("in lower case", text.to_lowercase()),
        ("in upper case", text.to_uppercase()),
    ] {
        all.push(reading(&join(&format!("taken as text, {words}")), &changed));
    }
    all.push(reading(
        &join("encoded in base64 once more"),
        &BASE64_STANDARD.encode(text),
    ));
}

fn reading(how: &str, text: &str) -> Reading {
    Reading {
        how: how.to_owned(),
        key: Zeroizing::new(text.as_bytes().to_vec()),
    }
}

fn is_variable(name: &str) -> bool {
    let name = name.strip_prefix("export ").unwrap_or(name);
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    pairs
        .iter()
        .map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(format: SecretFormat, text: &str, key: &[u8]) -> Option<String> {
        let mut all = readings(format, text).into_iter();
        all.find(|reading| *reading.key == key)
            .map(|reading| reading.how)
    }

    #[test]
    fn the_usual_mistakes_are_undone() {
        let base64 = SecretFormat::Base64 { prefix: "whsec_" };
        let text = SecretFormat::Text { prefix: "whsec_" };
        for (format, given, key, expected) in [
            (
                base64,
                "whsec_MDEyMzQ1Njc=",
                &b"whsec_MDEyMzQ1Njc="[..],
                "taken as text, not decoded",
            ),
            (
                base64,
                "whsec_MDEyMzQ1Njc=",
                b"MDEyMzQ1Njc=",
                "taken as text, without `whsec_`",
            ),
            (
                text,
                "whsec_MDEyMzQ1Njc=",
                b"01234567",
                "decoded from base64",
            ),
            (
                text,
                "abc",
                b"whsec_abc",
                "taken as text, with `whsec_` before it",
            ),
            (text, "30313233", b"0123", "decoded from hex"),
            (
                text,
                "whsec_abc\n",
                b"whsec_abc",
                "without the white space around it",
            ),
            (
                text,
                "\"whsec_abc\"",
                b"whsec_abc",
                "without the quotes around it",
            ),
            (
                text,
                "KEY=whsec_abc",
                b"whsec_abc",
                "without the `NAME=` before it",
            ),
            (text, "abc", b"abc\n", "with a line feed behind it"),
        ] {
            assert_eq!(
                how(format, given, key).as_deref(),
                Some(expected),
                "{given:?}"
            );
        }
    }
}
