//! Who an SNS event is, by the signed text alone.

use serde::Serialize;
use webhook_core::{
    Account, Algorithm, EventId, EventType, Identity, InvalidEvent, Segment, Signing, TimestampForm,
};

use crate::text::{self, Members};

/// What handlers get.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Payload<'t> {
    r#type: &'t str,
    message_id: &'t str,
    topic_arn: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'t str>,
    message: &'t str,
    timestamp: &'t str,
    #[serde(rename = "SubscribeURL", skip_serializing_if = "Option::is_none")]
    subscribe_url: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'t str>,
}

/// A body as SNS sends it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Body<'t> {
    #[serde(flatten)]
    signed: Payload<'t>,
    signature_version: &'static str,
    signature: String,
}

pub(crate) fn identity(signed: &[u8], topics: &[String]) -> Result<Identity, InvalidEvent> {
    let text = std::str::from_utf8(signed).map_err(|_| InvalidEvent::Body)?;
    let members = Members::read(text).ok_or(InvalidEvent::Body)?;
    let payload = payload(&members);
    let payload = serde_json::to_vec(&payload).map_err(|_| InvalidEvent::Body)?;
    let identity = Identity::new(EventId::new(members.id)?, EventType::new(members.kind)?)
        .account(Some(Account::new(members.topic)?))
        .payload(payload.into());
    let is_ours = topics.iter().any(|topic| topic == members.topic);
    Ok(if is_ours {
        identity
    } else {
        identity.outside("topic")
    })
}

/// A notification of `topic` with the text that is [`Signing::body`].
pub(crate) fn enclose(with: &Signing<'_>, topic: &str) -> Option<Vec<u8>> {
    let id = with.event_id();
    let id = if text::is_message_id(&id) {
        id.into_owned()
    } else {
        let mut rest = id.get(..32)?;
        let mut groups = Vec::new();
        for len in [8, 4, 4, 4, 12] {
            let (group, others) = rest.split_at_checked(len)?;
            groups.push(group);
            rest = others;
        }
        groups.join("-")
    };
    let timestamp = TimestampForm::Rfc3339.write(with.unix_secs());
    let members = Members {
        message: std::str::from_utf8(with.body()).ok()?,
        id: &id,
        subject: None,
        subscribe_url: None,
        timestamp: &timestamp,
        token: None,
        topic,
        kind: "Notification",
    };
    let lines = [
        ("Message", members.message),
        ("MessageId", members.id),
        ("Timestamp", members.timestamp),
        ("TopicArn", members.topic),
        ("Type", members.kind),
    ];
    let text: String = lines
        .map(|(name, value)| format!("{name}\n{value}\n"))
        .concat();
    let tags = with.tags(Algorithm::RsaPkcs1Sha256, &[Segment::text(text)]);
    let body = Body {
        signed: payload(&members),
        signature_version: "2",
        signature: tags.first()?.tag.to_base64(),
    };
    serde_json::to_vec(&body).ok()
}

fn payload<'t>(members: &Members<'t>) -> Payload<'t> {
    Payload {
        r#type: members.kind,
        message_id: members.id,
        topic_arn: members.topic,
        subject: members.subject,
        message: members.message,
        timestamp: members.timestamp,
        subscribe_url: members.subscribe_url,
        token: members.token,
    }
}
