//! The template of the signed content.

use webhook_core::Part;

use crate::config::Config;
use crate::error::ConfigError;
use crate::scheme::keep;

const KEY: &str = "signature.content";

/// The parts of a template, and what it holds.
pub(crate) struct Content {
    pub(crate) parts: &'static [Part],
    pub(crate) has_timestamp: bool,
    pub(crate) has_id: bool,
}

// Input:  `v0:{timestamp}:{body}`
// Output: the literal `v0:`, the timestamp, the literal `:`, the body
pub(crate) fn read(config: &Config) -> Result<Content, ConfigError> {
    let fault = |why: &str| Err(ConfigError::new(KEY, why));
    let mut parts: Vec<Part> = Vec::new();
    let (mut bodies, mut stamps, mut ids) = (0_usize, 0_usize, 0_usize);
    let mut rest = config.signature.content.as_str();
    while !rest.is_empty() {
        let (literal, after) = rest.split_once('{').unwrap_or((rest, ""));
        if literal.contains('}') {
            return fault("`}` closes nothing");
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(keep(literal)));
        }
        if literal.len() == rest.len() {
            break;
        }
        let Some((name, behind)) = after.split_once('}') else {
            return fault("`{` is not closed");
        };
        let count = match name {
            "body" => &mut bodies,
            "id" => &mut ids,
            "timestamp" => &mut stamps,
            "url" => {
                let url = config.url.as_deref().filter(|url| !url.is_empty());
                let why = "is needed by `{url}` in the content, as the sender has it";
                parts.push(Part::Literal(keep(
                    url.ok_or(ConfigError::new("url", why))?,
                )));
                rest = behind;
                continue;
            }
            _ => return fault("knows `{body}`, `{id}`, `{timestamp}` and `{url}`"),
        };
        *count = count.saturating_add(1);
        parts.push(match name {
            "body" => Part::Body,
            "id" => Part::Id,
            _ => Part::Timestamp,
        });
        rest = behind;
    }
    if bodies != 1 {
        return fault("holds `{body}` exactly once: a body that is not signed is anybody's");
    }
    if stamps > 1 || ids > 1 {
        return fault("holds `{timestamp}` and `{id}` at most once");
    }
    let ends = parts
        .array_windows()
        .all(|pair| !matches!(pair, [Part::Id, other] if !matches!(other, Part::Literal(_))));
    if !ends || matches!(parts.last(), Some(Part::Id)) {
        return fault("needs a text behind `{id}`: bytes could move between it and what follows");
    }
    let begins = parts
        .array_windows()
        .all(|pair| !matches!(pair, [Part::Body | Part::Timestamp, Part::Id]));
    if !begins {
        return fault(
            "needs a text before `{id}`: bytes could move between it and what it follows",
        );
    }
    Ok(Content {
        parts: parts.leak(),
        has_timestamp: stamps == 1,
        has_id: ids == 1,
    })
}
