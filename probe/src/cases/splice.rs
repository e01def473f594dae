//! Places in a delivery that `webhook_fixtures` changes, found by what its mutations leave.

use std::ops::Range;

use webhook_core::TimestampForm;
use webhook_fixtures::{Delivery, Event};

use crate::stage::Stage;

/// `event`, signed, with other bytes for the signature's digits. `None` where there are none in a header.
pub(super) fn with_digits(
    stage: &Stage<'_>,
    event: &Event,
    change: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
) -> Option<Delivery> {
    let mut signed = stage.signed(event);
    let place = digits(&signed, event, stage)?;
    let (_, value) = signed.headers.get_mut(place.0)?;
    let changed = change(value.get(place.1.clone())?)?;
    value.splice(place.1, changed);
    Some(signed)
}

/// The digits of `signed`, as text: what nobody but the sender and the receiver can know.
pub(super) fn digits_of(stage: &Stage<'_>, event: &Event, signed: &Delivery) -> Option<String> {
    let (field, bytes) = digits(signed, event, stage)?;
    let (_, value) = signed.headers.get(field)?;
    String::from_utf8(value.get(bytes)?.to_vec()).ok()
}

fn digits(signed: &Delivery, event: &Event, stage: &Stage<'_>) -> Option<(usize, Range<usize>)> {
    let emptied = stage.mutated("signature-empty-tag", event)?;
    let mut fields = signed.headers.iter().zip(&emptied.headers).enumerate();
    fields.find_map(|(field, ((_, whole), (_, rest)))| {
        let length = whole
            .len()
            .checked_sub(rest.len())
            .filter(|length| *length > 0)?;
        let start = whole.iter().zip(rest).take_while(|(a, b)| a == b).count();
        Some((field, start..start.checked_add(length)?))
    })
}

/// Where the signed timestamp stands.
pub(super) struct Stamp {
    pub(super) field: usize,
    pub(super) bytes: Range<usize>,
    pub(super) form: TimestampForm,
}

/// The timestamp of a delivery signed at `unix_secs`, if it stands in a header.
pub(super) fn stamp(delivery: &Delivery, unix_secs: i64) -> Option<Stamp> {
    let forms = [
        TimestampForm::Millis,
        TimestampForm::Rfc3339,
        TimestampForm::Seconds,
    ];
    forms.into_iter().find_map(|form| {
        let text = form.write(unix_secs);
        let mut fields = delivery.headers.iter().enumerate();
        fields.find_map(|(field, (_, value))| {
            let mut windows = value.windows(text.len());
            let start = windows.position(|window| window == text.as_bytes())?;
            let bytes = start..start.checked_add(text.len())?;
            Some(Stamp { field, bytes, form })
        })
    })
}
