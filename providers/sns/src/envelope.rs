//! The signature in the body, and what is known of Amazon SNS.

use std::borrow::Cow;
use std::time::Duration;

use webhook_core::{
    Algorithm, Candidate, Envelope, Head, Identities, InvalidEvent, Malformed, Provider,
    Redelivery, Resigns, SecretFormat, Segment, Signed, Signing, Spec, Tag, TimestampForm,
    UntrustedBody, Verified, Window,
};

use crate::{event, text};

/// Amazon SNS: subscriptions of one endpoint to topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sns {
    topics: Vec<String>,
}

impl Sns {
    /// Take the messages of these topics, by their ARNs. Those of all others are acknowledged, and not run.
    pub fn of<S: Into<String>>(topics: impl IntoIterator<Item = S>) -> Self {
        Self {
            topics: topics.into_iter().map(Into::into).collect(),
        }
    }

    /// Whether this URL, of a confirmation, leads to SNS in some region: `https://sns.REGION.amazonaws.com/?…`, or the
    /// same with `.cn`.
    pub fn is_subscribe_url(url: &str) -> bool {
        path_at_sns(url).is_some_and(|path| path.starts_with("/?"))
    }

    /// Whether this URL is that of a certificate of SNS in some region: `https://sns.REGION.amazonaws.com/NAME.pem`, or the
    /// same with `.cn`, without a query or a further path.
    pub fn is_certificate_url(url: &str) -> bool {
        let name = path_at_sns(url).and_then(|path| path.strip_prefix('/')?.strip_suffix(".pem"));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        name.is_some_and(|name| !name.is_empty() && name.bytes().all(is_name))
    }
}

/// Path and query of a URL at the host of SNS in some region.
fn path_at_sns(url: &str) -> Option<&str> {
    let (region, rest) = url.strip_prefix("https://sns.")?.split_once('.')?;
    let rest = rest.strip_prefix("amazonaws.com")?;
    let path = rest.strip_prefix(".cn").unwrap_or(rest);
    let fits = is_region(region)
        && path.starts_with('/')
        && path.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(path)
}

/// `eu-west-1`, `us-gov-east-1`: a pair of letters, words, a number. Not just any label: `s3` and `s3-us-west-2` would make
/// the host that of a bucket named `sns`, which anybody may own.
fn is_region(text: &str) -> bool {
    let [area, words @ .., number] = &*text.split('-').collect::<Vec<_>>() else {
        return false;
    };
    let is_word =
        |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    area.len() == 2
        && is_word(area)
        && !words.is_empty()
        && words.iter().all(is_word)
        && (1..=2).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

impl Provider for Sns {
    type Identity = Signed;

    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn envelope<'r>(&self, _head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Ok(Envelope::in_body(read))
    }

    fn sign(&self, _with: &Signing<'_>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn enclose(&self, with: &Signing<'_>) -> Option<Vec<u8>> {
        let topic = self.topics.first()?;
        event::enclose(with, topic)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let identity = event::identity(verified.body(), &self.topics)?;
        Ok([identity].into_iter().collect())
    }
}

/// Members in the order in which they are signed, then the signature's.
const MEMBERS: [&str; 11] = [
    "Message",
    "MessageId",
    "Subject",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
    "SignatureVersion",
    "Signature",
    "SigningCertURL",
];

fn read(body: UntrustedBody<'_>) -> Result<Envelope<'_>, Malformed> {
    let [
        message,
        id,
        subject,
        subscribe,
        at,
        token,
        topic,
        kind,
        version,
        signature,
        certificate,
    ] = body.texts(&[], MEMBERS)?;
    let Some(Cow::Borrowed(at)) = at else {
        return Err(Malformed::Body);
    };
    let at = TimestampForm::Rfc3339.read(at)?;
    let is_confirmation = match kind.as_deref() {
        Some("Notification") => false,
        Some("SubscriptionConfirmation" | "UnsubscribeConfirmation") => true,
        _ => return Err(Malformed::Body),
    };
    // Neither signs the other's members: beside its own they would pass for signed.
    let is_whole = subscribe.is_some() == is_confirmation
        && token.is_some() == is_confirmation
        && !(subject.is_some() && is_confirmation)
        && version.as_deref() == Some("2")
        && id.as_deref().is_some_and(text::is_message_id);
    // Only the first may hold line breaks, so that each of the others ends where its line does.
    let others = [&subject, &subscribe, &token, &topic];
    let are_lines = others
        .iter()
        .copied()
        .flatten()
        .all(|line| text::is_line(line));
    if !is_whole || !are_lines {
        return Err(Malformed::Body);
    }
    let (Some(message), Some(topic), Some(signature)) = (message, topic, signature) else {
        return Err(Malformed::Body);
    };
    let tag = Tag::from_base64(Algorithm::RsaPkcs1Sha256, &signature).ok_or(Malformed::Body)?;
    let mut content = Vec::new();
    let values = [
        Some(Segment::text(message)),
        id.map(Segment::text),
        subject.map(Segment::text),
        subscribe.map(Segment::text),
        Some(Segment::Timestamp),
        token.map(Segment::text),
        Some(Segment::text(topic)),
        kind.map(Segment::text),
    ];
    for (name, value) in MEMBERS.into_iter().zip(values) {
        if let Some(value) = value {
            content.extend([
                Segment::text(name),
                Segment::text("\n"),
                value,
                Segment::text("\n"),
            ]);
        }
    }
    let envelope = Envelope::new(content)
        .at(at)
        .candidate(Candidate::unnamed(Algorithm::RsaPkcs1Sha256, tag));
    Ok(match certificate {
        Some(url) => envelope.certified_at(url),
        None => envelope,
    })
}

static SPEC: Spec = Spec::timestamped("sns", Window::FIVE_MINUTES)
    .envelope_in_body()
    .names_certificate()
    .secret_format(SecretFormat::RsaSpki)
    .content_types(&["text/plain", "application/json"])
    // A message is at most 256 KiB; as a JSON text it may be several times longer.
    .max_body_bytes(2 * 1024 * 1024)
    .redelivers(
        Redelivery::For(Duration::from_hours(1)),
        Redelivery::Unknown,
    )
    // After 5xx and 429 alone.
    .takes_refusals_as_final()
    .resigns_on_retry(Resigns::No);
