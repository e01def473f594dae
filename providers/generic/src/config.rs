//! A configuration as it is written.

use serde::Deserialize;

/// What a scheme without a timestamp has to say in `untimestamped`.
pub const ACKNOWLEDGED: &str = "I accept that a captured request stays valid as long as its key";

/// A scheme, before it is checked. The keys are explained [here](crate#keys).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the crate's page is a table of the keys")]
pub struct Config {
    pub name: String,
    pub url: Option<String>,
    pub untimestamped: Option<String>,
    pub signature: Signature,
    pub timestamp: Option<Timestamp>,
    pub event: Event,
    #[serde(default)]
    pub secret: Secret,
    #[serde(default)]
    pub delivery: Delivery,
    pub handshake: Option<Handshake>,
}

/// Where signatures stand, and what they are over.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the crate's page is a table of the keys")]
pub struct Signature {
    pub header: String,
    pub content: String,
    #[serde(default)]
    pub algorithm: AlgorithmName,
    #[serde(default)]
    pub encoding: Encoding,
    #[serde(default)]
    pub form: Form,
    pub prefix: Option<String>,
    pub separator: Option<char>,
    pub timestamp: Option<String>,
    pub tag: Option<String>,
    pub mark: Option<char>,
    pub version: Option<String>,
}

/// An algorithm by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AlgorithmName {
    /// HMAC with SHA-1.
    #[cfg(feature = "sha1")]
    HmacSha1,
    /// HMAC with SHA-256.
    #[default]
    HmacSha256,
}

/// How a signature is spelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Encoding {
    /// Standard base64, padded.
    Base64,
    /// Lower-case hex.
    #[default]
    Hex,
}

/// The grammar of the signature's header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Form {
    /// `KEY-ID=SIG,KEY-ID=SIG`, or one bare signature.
    Keyed,
    /// `t=TIME,v1=SIG`.
    Pairs,
    /// One signature behind a prefix.
    #[default]
    Prefixed,
    /// `v1,SIG v1,SIG`.
    Versioned,
}

/// Where the timestamp stands, and how far it may be from our clock.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the crate's page is a table of the keys")]
pub struct Timestamp {
    pub header: Option<String>,
    pub body: Option<String>,
    #[serde(default)]
    pub format: TimestampFormat,
    pub window_secs: Option<u32>,
}

/// How a timestamp is spelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TimestampFormat {
    /// Unix milliseconds.
    Millis,
    /// RFC 3339 in UTC.
    Rfc3339,
    /// Unix seconds.
    #[default]
    Seconds,
}

/// Where an event says who it is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the crate's page is a table of the keys")]
pub struct Event {
    pub id: Place,
    #[serde(rename = "type")]
    pub event_type: Place,
    pub account: Option<Place>,
}

/// Where one value stands: exactly one of these.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the crate's page is a table of the keys")]
pub struct Place {
    pub body: Option<Pointers>,
    pub digest: Option<bool>,
    pub fixed: Option<String>,
    pub header: Option<String>,
    pub signed_header: Option<String>,
}

/// A JSON pointer, or several of which the first that is there counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Pointers {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

/// How secrets become key bytes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the crate's page is a table of the keys")]
pub struct Secret {
    #[serde(default)]
    pub format: SecretKind,
    #[serde(default)]
    pub prefix: String,
}

/// The format of secrets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SecretKind {
    /// What standard base64 decodes to.
    Base64,
    /// The text.
    #[default]
    Text,
}

/// What it sends, and what it does if nobody answers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the crate's page is a table of the keys")]
pub struct Delivery {
    pub success_status: Option<u16>,
    pub content_types: Option<Vec<String>>,
    pub max_body_bytes: Option<u32>,
    pub payload: Option<String>,
    #[serde(default)]
    pub volatile: Vec<String>,
    #[serde(default)]
    pub kept_headers: Vec<String>,
    #[serde(default)]
    pub repeats: Vec<String>,
    pub redelivers_for_secs: Option<u32>,
    pub resigns: Option<bool>,
}

/// A signed challenge that is echoed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Handshake {
    /// A pointer to what tells it from an event.
    pub at: String,
    /// What stands there.
    pub is: String,
    /// A pointer to the challenge.
    pub echo: String,
}

impl Config {
    /// Signatures over `content` in `header`, in hex and without a prefix; ids and types at these pointers of the body.
    ///
    /// Everything else is the public fields. It still lacks a [`Config::timestamp`], or says
    /// [`Config::dangerous_untimestamped`].
    pub fn new(
        name: impl Into<String>,
        header: impl Into<String>,
        content: impl Into<String>,
        id: impl Into<String>,
        event_type: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            url: None,
            untimestamped: None,
            signature: Signature {
                header: header.into(),
                content: content.into(),
                algorithm: AlgorithmName::default(),
                encoding: Encoding::default(),
                form: Form::default(),
                prefix: None,
                separator: None,
                timestamp: None,
                tag: None,
                mark: None,
                version: None,
            },
            timestamp: None,
            event: Event {
                id: Place::body(id),
                event_type: Place::body(event_type),
                account: None,
            },
            secret: Secret::default(),
            delivery: Delivery::default(),
            handshake: None,
        }
    }

    /// The sender signs no timestamp: a captured request stays valid as long as its key.
    #[must_use]
    pub fn dangerous_untimestamped(mut self) -> Self {
        self.untimestamped = Some(ACKNOWLEDGED.to_owned());
        self
    }
}

impl Place {
    /// At this pointer of the signed body.
    pub fn body(pointer: impl Into<String>) -> Self {
        Self {
            body: Some(Pointers::One(pointer.into())),
            ..Self::default()
        }
    }

    /// In a header that nobody signs.
    pub fn unsigned_header(name: impl Into<String>) -> Self {
        Self {
            header: Some(name.into()),
            ..Self::default()
        }
    }

    /// In a header that the content signs as `{id}`.
    pub fn signed_header(name: impl Into<String>) -> Self {
        Self {
            signed_header: Some(name.into()),
            ..Self::default()
        }
    }
}

impl Timestamp {
    /// In this header, in Unix seconds, five minutes on both sides.
    pub fn header(name: impl Into<String>) -> Self {
        Self {
            header: Some(name.into()),
            ..Self::default()
        }
    }
}
