//! The events of a batch.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use webhook_core::bounds::MAX_EVENTS_PER_DELIVERY;
use webhook_core::{Identities, InvalidEvent, json_object};

use crate::item::{self, Origin};

/// The members read; all others are skipped unread.
#[derive(Deserialize)]
struct Batch<'b> {
    #[serde(borrow)]
    object: Cow<'b, str>,
    #[serde(borrow)]
    entry: Vec<Entry<'b>>,
}

#[derive(Deserialize)]
struct Entry<'b> {
    #[serde(borrow)]
    id: Cow<'b, str>,
    #[serde(borrow)]
    time: Option<&'b RawValue>,
    #[serde(borrow, default)]
    changes: Vec<Change<'b>>,
    #[serde(borrow, default)]
    messaging: Vec<&'b RawValue>,
    #[serde(borrow, default)]
    standby: Vec<&'b RawValue>,
}

#[derive(Deserialize)]
struct Change<'b> {
    #[serde(borrow)]
    field: Cow<'b, str>,
    #[serde(borrow)]
    value: Option<&'b RawValue>,
}

pub(crate) fn identities(body: &[u8]) -> Result<Identities, InvalidEvent> {
    let batch: Batch<'_> = json_object(body)?;
    let mut found = Identities::new();
    for entry in &batch.entry {
        let origin = Origin {
            object: &batch.object,
            id: &entry.id,
            time: entry.time,
        };
        for change in &entry.changes {
            item::of_change(&origin, &change.field, change.value, &mut found)?;
            within_bounds(&found)?;
        }
        let items = entry.messaging.iter().map(|item| ("messaging", item));
        for (field, value) in items.chain(entry.standby.iter().map(|item| ("standby", item))) {
            found.push(item::of_messaging(&origin, field, value)?);
            within_bounds(&found)?;
        }
    }
    Ok(found)
}

/// Asked as they are found: each holds a payload.
fn within_bounds(found: &Identities) -> Result<(), InvalidEvent> {
    if found.len() > MAX_EVENTS_PER_DELIVERY {
        return Err(InvalidEvent::Count);
    }
    Ok(())
}
