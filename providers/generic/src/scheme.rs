//! From a configuration to the wire and the facts, with every refusal.

use std::time::Duration;

use webhook_core::{
    Algorithm, Grammar, Redelivery, Resigns, SecretFormat, Spec, TimestampForm, Window, Wire,
};

use crate::config::{
    ACKNOWLEDGED, AlgorithmName, Config, Encoding, Form, SecretKind, Signature, TimestampFormat,
};
use crate::content::{self, Content};
use crate::error::ConfigError;
use crate::places;

const MAX_BODY_BYTES: u32 = 32 * 1024 * 1024;

pub(crate) fn wire(config: &Config) -> Result<Wire, ConfigError> {
    let signature = &config.signature;
    let content = content::read(config)?;
    check_timestamp(config, &content)?;
    let id = &config.event.id.signed_header;
    match (content.has_id, id) {
        (true, None) => {
            let why = "is `{ signed_header = .. }` where the content has `{id}`";
            return Err(ConfigError::new("event.id", why));
        }
        (false, Some(_)) => {
            let why = "signs no `{id}`, and `event.id` is a `signed_header`";
            return Err(ConfigError::new("signature.content", why));
        }
        (true, Some(_)) | (false, None) => {}
    }
    let algorithm = match signature.algorithm {
        #[cfg(feature = "sha1")]
        AlgorithmName::HmacSha1 => Algorithm::HmacSha1,
        AlgorithmName::HmacSha256 => Algorithm::HmacSha256,
    };
    let name = header("signature.header", &signature.header)?;
    let mut wire = Wire::new(algorithm, name, grammar(signature)?, content.parts);
    if signature.encoding == Encoding::Base64 {
        wire = wire.base64();
    }
    if let Some(stamp) = &config.timestamp {
        wire = wire.timestamps(form(stamp.format));
        if let Some(name) = &stamp.header {
            wire = wire.timestamp_header(header("timestamp.header", name)?);
        }
    }
    if let Some(id) = id {
        wire = wire.id_header(header("event.id.signed_header", id)?);
    }
    Ok(wire)
}

pub(crate) fn spec(config: &Config) -> Result<Spec, ConfigError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !(1..=64).contains(&config.name.len()) || !config.name.bytes().all(fits) {
        let why = "is 1 to 64 lower-case letters, digits and `-`";
        return Err(ConfigError::new("name", why));
    }
    let name = keep(&config.name);
    let mut spec = match &config.timestamp {
        None => Spec::untimestamped(name),
        Some(stamp) => {
            let side = Duration::from_secs(stamp.window_secs.unwrap_or(300).into());
            let window = Window::new(side, side);
            let fault = |fault| ConfigError::new("timestamp.window_secs", format!("{fault}"));
            Spec::timestamped(name, window.map_err(fault)?)
        }
    };
    if let Some(stamp) = &config.timestamp
        && let Some(pointer) = &stamp.body
    {
        let path = places::path("timestamp.body", pointer)?;
        spec = spec.timestamp_in_body(path, form(stamp.format));
    }
    let prefix = keep(&config.secret.prefix);
    spec = spec.secret_format(match config.secret.format {
        SecretKind::Base64 => SecretFormat::Base64 { prefix },
        SecretKind::Text => SecretFormat::Text { prefix },
    });
    delivery(config, spec)
}

fn delivery(config: &Config, mut spec: Spec) -> Result<Spec, ConfigError> {
    let delivery = &config.delivery;
    if let Some(status) = delivery.success_status {
        if !(200..=299).contains(&status) {
            let why = "is 200 to 299";
            return Err(ConfigError::new("delivery.success_status", why));
        }
        spec = spec.success_status(status);
    }
    if let Some(bytes) = delivery.max_body_bytes {
        let fits = (1..=MAX_BODY_BYTES).contains(&bytes);
        let bytes = usize::try_from(bytes).ok().filter(|_| fits);
        let why = "is 1 to 33554432";
        let fault = || ConfigError::new("delivery.max_body_bytes", why);
        spec = spec.max_body_bytes(bytes.ok_or_else(fault)?);
    }
    if let Some(types) = &delivery.content_types {
        let is_type = |text: &String| text.contains('/') && !text.contains([';', ' ', ',']);
        if types.is_empty() || !types.iter().all(is_type) {
            let why = "are media types without parameters, `application/json` for example";
            return Err(ConfigError::new("delivery.content_types", why));
        }
        spec = spec.content_types(keep_all(types.iter().map(|text| text.to_ascii_lowercase())));
    }
    if let Some(pointer) = &delivery.payload {
        spec = spec.payload_at(places::path("delivery.payload", pointer)?);
    }
    let volatile = delivery.volatile.iter();
    let volatile: Result<Vec<_>, _> = volatile
        .map(|pointer| places::path("delivery.volatile", pointer))
        .collect();
    spec = spec.volatile(volatile?.leak());
    let kept = delivery.kept_headers.iter();
    let kept: Result<Vec<_>, _> = kept
        .map(|name| header("delivery.kept_headers", name))
        .collect();
    spec = spec.kept_headers(kept?.leak());
    spec = spec.repeats_legitimately(keep_all(delivery.repeats.iter().cloned()));
    if let Some(secs) = delivery.redelivers_for_secs {
        let automatic = match secs {
            0 => Redelivery::Never,
            secs => Redelivery::For(Duration::from_secs(secs.into())),
        };
        spec = spec.redelivers(automatic, Redelivery::Unknown);
    }
    Ok(match delivery.resigns {
        None => spec,
        Some(true) => spec.resigns_on_retry(Resigns::Yes),
        Some(false) => spec.resigns_on_retry(Resigns::No),
    })
}

/// A timestamp in exactly one place, and under the signature; or the words that say that there is none.
fn check_timestamp(config: &Config, content: &Content) -> Result<(), ConfigError> {
    let in_pairs = config.signature.form == Form::Pairs;
    let Some(stamp) = &config.timestamp else {
        if config.untimestamped.as_deref() != Some(ACKNOWLEDGED) {
            let why = format!(
                "is missing, and replays could not be told from deliveries. If the sender signs none: untimestamped = \"{ACKNOWLEDGED}\""
            );
            return Err(ConfigError::new("timestamp", why));
        }
        return if content.has_timestamp {
            let why = "has `{timestamp}`, and there is no `[timestamp]`";
            Err(ConfigError::new("signature.content", why))
        } else if in_pairs {
            let why = "`pairs` hold a timestamp, and there is no `[timestamp]`";
            Err(ConfigError::new("signature.form", why))
        } else {
            Ok(())
        };
    };
    if config.untimestamped.is_some() {
        let why = "is said beside a `[timestamp]`";
        return Err(ConfigError::new("untimestamped", why));
    }
    let places = [in_pairs, stamp.header.is_some(), stamp.body.is_some()];
    if places.iter().filter(|is| **is).count() != 1 {
        let why = "stands in one place: a `pairs` header, a `header` of its own, or the `body`";
        return Err(ConfigError::new("timestamp", why));
    }
    if content.has_timestamp == stamp.body.is_some() {
        let why = "holds `{timestamp}` if that stands in the head, and only then: a timestamp that is not signed is anybody's";
        return Err(ConfigError::new("signature.content", why));
    }
    Ok(())
}

fn grammar(signature: &Signature) -> Result<Grammar, ConfigError> {
    let belongs: &[&str] = match signature.form {
        Form::Keyed => &["separator"],
        Form::Pairs => &["separator", "timestamp", "tag"],
        Form::Prefixed => &["prefix"],
        Form::Versioned => &["separator", "mark", "version"],
    };
    for (name, is_there) in [
        ("prefix", signature.prefix.is_some()),
        ("separator", signature.separator.is_some()),
        ("timestamp", signature.timestamp.is_some()),
        ("tag", signature.tag.is_some()),
        ("mark", signature.mark.is_some()),
        ("version", signature.version.is_some()),
    ] {
        let fault = |why| Err(ConfigError::new(&format!("signature.{name}"), why));
        if is_there && !belongs.contains(&name) {
            return fault("does not belong to this form");
        }
        if !is_there && belongs.contains(&name) && name != "prefix" {
            return fault("is missing: this form needs it");
        }
    }
    let separator = signature.separator.unwrap_or(',');
    let mark = signature.mark.unwrap_or('=');
    let [prefix, timestamp, tag, version] = [
        &signature.prefix,
        &signature.timestamp,
        &signature.tag,
        &signature.version,
    ]
    .map(|text| keep(text.as_deref().unwrap_or_default()));
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_graphic())
            && !text.contains([separator, mark])
    };
    let is_visible = |letter: char| letter == ' ' || letter.is_ascii_punctuation();
    let spelled = match signature.form {
        Form::Keyed => is_visible(separator) && separator != '=',
        Form::Pairs => {
            is_visible(separator)
                && separator != '='
                && is_plain(timestamp)
                && is_plain(tag)
                && tag != timestamp
        }
        Form::Prefixed => prefix.bytes().all(|byte| byte.is_ascii_graphic()),
        Form::Versioned => {
            is_visible(separator) && is_visible(mark) && separator != mark && is_plain(version)
        }
    };
    // A sign of base64 cannot part one signature from the next.
    let parts_base64 = signature.encoding == Encoding::Base64
        && signature.form != Form::Prefixed
        && matches!(separator, '+' | '/' | '=');
    if !spelled || parts_base64 {
        let why = "has names of visible ASCII that hold no separator, and a separator and a mark that are punctuation and differ";
        return Err(ConfigError::new("signature.form", why));
    }
    Ok(match signature.form {
        Form::Keyed => Grammar::Keyed { separator },
        Form::Pairs => Grammar::Pairs {
            separator,
            timestamp,
            tag,
        },
        Form::Prefixed => Grammar::Prefixed(prefix),
        Form::Versioned => Grammar::Versioned {
            separator,
            mark,
            version,
        },
    })
}

fn form(format: TimestampFormat) -> TimestampForm {
    match format {
        TimestampFormat::Millis => TimestampForm::Millis,
        TimestampFormat::Rfc3339 => TimestampForm::Rfc3339,
        TimestampFormat::Seconds => TimestampForm::Seconds,
    }
}

/// The name of a header (RFC 9110 section 5.1), in lower case.
pub(crate) fn header(key: &str, name: &str) -> Result<&'static str, ConfigError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > 128 || !name.bytes().all(is_token) {
        return Err(ConfigError::new(key, "is the name of a header"));
    }
    Ok(keep(&name.to_ascii_lowercase()))
}

/// Until the process ends: what describes a provider is borrowed for as long.
pub(crate) fn keep(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn keep_all(texts: impl Iterator<Item = String>) -> &'static [&'static str] {
    let kept: Vec<&'static str> = texts.map(|text| keep(&text)).collect();
    kept.leak()
}
