//! Bytes: the signature is over what was sent, not over what it means.

use webhook_fixtures::Event;

use crate::case::{Case, Forged, Group};
use crate::stage::Stage;

const GROUP: Group = Group::RawBytes;

const MEANING: &str = "these bytes were not signed; who verifies what a parser made of them has let the parser decide what was signed";
const AS_SENT: &str = "it was signed as it stands: who parses it and writes it anew verifies other bytes, and loses deliveries";

pub(super) const CASES: &[Case] = &[
    Case::mutation(GROUP, "body-newline-added", MEANING),
    Case::mutation(GROUP, "body-space-before", MEANING),
    Case::mutation(GROUP, "body-byte-order-mark", MEANING),
    Case::mutation(GROUP, "body-space-between", MEANING),
    Case::mutation(GROUP, "body-written-anew", MEANING),
    Case::mutation(GROUP, "body-indented", MEANING),
    Case::mutation(GROUP, "body-letter-escaped", MEANING),
    Case::mutation(
        GROUP,
        "body-member-repeated",
        "two parsers take two different ones of a repeated member",
    ),
    Case::mutation(
        GROUP,
        "body-member-added",
        "what is not covered by the signature can be added on the way",
    ),
    Case::accepted(
        GROUP,
        "genuine-escapes",
        "a genuine body with `\\u00e9`, `\\/` and `\\u001B`",
        AS_SENT,
        |stage| with_member(stage, r#""\u00e9\/\u001B\ud83d\udca1""#),
    ),
    Case::accepted(
        GROUP,
        "genuine-unicode",
        "a genuine body with characters of two, three and four bytes",
        AS_SENT,
        |stage| with_member(stage, "\"é € 💡 \u{2028}\""),
    ),
    Case::accepted(
        GROUP,
        "genuine-numbers",
        "a genuine body with `1.0`, `1e2`, `-0` and a number above 2^53",
        AS_SENT,
        |stage| with_member(stage, "[1.0,1e2,-0,0.10,12345678901234567890]"),
    ),
    Case::accepted(
        GROUP,
        "genuine-key-order",
        "a genuine body whose members are in no order",
        AS_SENT,
        |stage| with_member(stage, r#"{"z":1,"a":2,"10":3,"9":4}"#),
    ),
    Case::accepted(
        GROUP,
        "genuine-whitespace",
        "a genuine body with spaces, tabs and CRLF between its members",
        AS_SENT,
        |stage| with_member(stage, "\r\n\t {  }\r\n "),
    ),
    Case::accepted(
        GROUP,
        "genuine-trailing-newline",
        "a genuine body that ends in a line feed",
        AS_SENT,
        |stage| {
            let event = json_event(stage)?;
            let body = [&event.payload()[..], b"\n"].concat();
            Some(signed(stage, &event.body(body)))
        },
    ),
    Case::accepted(
        GROUP,
        "genuine-dollars",
        "a genuine body with `$&` and `%s`",
        "templates fill such in",
        |stage| with_member(stage, r#""$& $$ %s {0} \\0""#),
    ),
];

/// An event whose signed body is a JSON object.
fn json_event(stage: &Stage<'_>) -> Option<Event> {
    let spec = stage.scenery.sender.provider().spec();
    let is_free = !spec.has_envelope_in_body() && spec.body_timestamp().is_none();
    let event = stage.event();
    (is_free && event.payload().starts_with(b"{")).then_some(event)
}

/// A genuine delivery with one member more, spelled like this.
fn with_member(stage: &Stage<'_>, spelled: &str) -> Option<Forged> {
    let event = json_event(stage)?;
    let body = std::str::from_utf8(event.payload()).ok()?;
    let end = body.rfind('}')?;
    let body = format!(
        "{},\"webhook_probe\":{spelled}}}",
        body.get(..end)?.trim_end()
    );
    Some(signed(stage, &event.body(body)))
}

fn signed(stage: &Stage<'_>, event: &Event) -> Forged {
    Forged::new(event.event_id(), stage.signed(event))
}
