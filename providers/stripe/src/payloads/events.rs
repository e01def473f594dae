//! The members around an object.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::common::UnixSeconds;

/// A whole event: what stands around the object, and the object itself.
///
/// ```
/// use webhook_stripe::payloads::{Snapshot, Subscription};
///
/// # fn canceled_just_now(raw: &[u8]) -> Result<bool, serde_json::Error> {
/// // A handler takes `raw: RawEvent` beside `Event<Subscription>`.
/// let event: Snapshot<Subscription> = serde_json::from_slice(raw)?;
/// let before = event.data.previous_attributes.unwrap_or_default();
/// Ok(event.data.object.cancel_at_period_end && before.contains_key("cancel_at_period_end"))
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Snapshot<T> {
    /// `evt_…`
    pub id: String,
    /// Its type, for example `invoice.paid`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Whether real money is concerned.
    pub livemode: bool,
    /// When it happened.
    pub created: UnixSeconds,
    /// The API version that decides the object's shape.
    pub api_version: Option<String>,
    /// The connected account, on Connect.
    pub account: Option<String>,
    /// The object.
    pub data: SnapshotData<T>,
    /// What brought it about.
    pub request: Option<Request>,
}

/// An object as it was when the event was made.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct SnapshotData<T> {
    /// The object.
    pub object: T,
    /// What the members that changed were before, in `*.updated`.
    pub previous_attributes: Option<Map<String, Value>>,
}

/// The API request that brought an event about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// `req_…`. Absent where nobody asked.
    pub id: Option<String>,
    /// Its idempotency key.
    pub idempotency_key: Option<String>,
}

/// A thin event: it names an object and does not carry it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Thin {
    /// `evt_…`
    pub id: String,
    /// Its type, for example `v1.billing.meter.error_report_triggered`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Whether real money is concerned.
    pub livemode: bool,
    /// When it happened, RFC 3339.
    pub created: String,
    /// The account it happened in.
    pub context: Option<String>,
    /// The object, to be fetched from the API.
    pub related_object: Option<RelatedObject>,
    /// Members of this type of event.
    pub data: Option<Value>,
}

/// An object that an event names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RelatedObject {
    /// Its id.
    pub id: String,
    /// Its type, for example `billing.meter`.
    #[serde(rename = "type")]
    pub object_type: String,
    /// Where to fetch it, without scheme and host.
    pub url: Option<String>,
}

/// Before 2017-05-25 only the id was sent.
impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            id: Option<String>,
            idempotency_key: Option<String>,
        }
        Ok(
            match super::Expandable::<Members>::deserialize(deserializer)? {
                super::Expandable::Id(id) => Self {
                    id: Some(id),
                    idempotency_key: None,
                },
                super::Expandable::Object(members) => Self {
                    id: members.id,
                    idempotency_key: members.idempotency_key,
                },
            },
        )
    }
}
