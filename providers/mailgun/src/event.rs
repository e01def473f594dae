//! Who a Mailgun event is: named by the signed token, described by nobody in particular.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use webhook_core::{EventId, EventType, Identity, InvalidEvent, Verified, json_object};

use crate::envelope::TOKEN_LEN;

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Delivery<'b> {
    #[serde(borrow, rename = "event-data")]
    data: &'b RawValue,
}

#[derive(Deserialize)]
struct Named<'b> {
    #[serde(borrow, default)]
    event: Cow<'b, str>,
}

pub(crate) fn identity(verified: &Verified<'_>) -> Result<Identity, InvalidEvent> {
    // Signed: a timestamp and a token.
    let signed = std::str::from_utf8(verified.body()).map_err(|_| InvalidEvent::Id)?;
    let at = signed.len().checked_sub(TOKEN_LEN);
    let token = at.and_then(|at| signed.get(at..));
    let id = EventId::new(token.ok_or(InvalidEvent::Id)?)?;
    // Not signed: everything else.
    let body = verified.unsigned_body().ok_or(InvalidEvent::Body)?;
    let Delivery { data } = json_object(body)?;
    let named: Named<'_> = json_object(data.get().as_bytes())?;
    let payload = body.slice_ref(data.get().as_bytes());
    Ok(Identity::new(id, EventType::new(&named.event)?).payload(payload))
}

/// The event in a body with its signature; `None` if it is no JSON.
pub(crate) fn enclose(
    timestamp: &str,
    token: &str,
    signature: &str,
    event: &[u8],
) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Body<'b> {
        signature: Seal<'b>,
        #[serde(rename = "event-data")]
        data: &'b RawValue,
    }
    #[derive(Serialize)]
    struct Seal<'b> {
        timestamp: &'b str,
        token: &'b str,
        signature: &'b str,
    }
    let body = Body {
        signature: Seal {
            timestamp,
            token,
            signature,
        },
        data: serde_json::from_slice(event).ok()?,
    };
    serde_json::to_vec(&body).ok()
}
