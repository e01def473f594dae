//! Percent-encoding of forms and queries, strictly: the `application/x-www-form-urlencoded` of the URL standard.

use std::borrow::Cow;

/// Undo the escapes of one name or value; `+` is a space.
///
/// `None` for an escape of other than two hex digits, for control characters that stand there bare, and for what is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        let plain = !text.chars().any(char::is_control);
        return plain.then_some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex_byte(bytes.next()?, bytes.next()?)?,
            b'+' => b' ',
            other if other.is_ascii_control() => return None,
            other => other,
        });
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

/// The byte of two hex digits of either case.
pub(crate) fn hex_byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = (digit(high)? << 4) | digit(low)?;
    u8::try_from(value).ok()
}
