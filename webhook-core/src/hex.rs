//! Lower-case hexadecimal, strictly.

/// Decode exactly `2 * out.len()` lower-case hex digits into `out`.
///
/// Upper case is refused: no provider here emits it, and one text per tag keeps logs comparable.
pub(crate) fn decode(text: &[u8], out: &mut [u8]) -> Option<()> {
    let (pairs, rest) = text.as_chunks::<2>();
    if !rest.is_empty() || pairs.len() != out.len() {
        return None;
    }
    let mut bad = 0u8;
    for (byte, [high, low]) in out.iter_mut().zip(pairs) {
        let (high, low) = (nibble(*high), nibble(*low));
        bad |= high | low;
        *byte = (high << 4) | (low & 0x0f);
    }
    (bad < 16).then_some(())
}

/// Encode as lower-case hex.
pub(crate) fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0x0f])
        .filter_map(|nibble| char::from_digit(nibble.into(), 16))
        .collect()
}

/// The digit's value, or 0xff.
const fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit.wrapping_sub(b'0'),
        b'a'..=b'f' => digit.wrapping_sub(b'a').wrapping_add(10),
        _ => 0xff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_and_inverse() {
        let mut out = [0; 2];
        assert!(decode(b"00ff", &mut out).is_some());
        assert_eq!(out, [0, 255]);
        assert_eq!(encode(&out), "00ff");
        for bad in [
            &b"00f"[..],
            b"00f",
            b"00fF",
            b"00fff",
            b"",
            b"00",
            b"g0ff",
            b"0g00",
            "0é0".as_bytes(),
        ] {
            assert!(decode(bad, &mut out).is_none());
        }
    }
}
