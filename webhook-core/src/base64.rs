//! Standard base64 with padding, RFC 4648 section 4, strictly.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use zeroize::Zeroizing;

/// Decode exactly `out.len()` bytes.
///
/// Padding is required and unused bits must be zero: one text per tag.
pub(crate) fn decode(text: &[u8], out: &mut [u8]) -> Option<()> {
    (BASE64_STANDARD.decode_slice(text, out) == Ok(out.len())).then_some(())
}

/// How many bytes `text` decodes to, if it is sound.
pub(crate) fn decoded_len(text: &[u8]) -> usize {
    let padding = text.iter().rev().take(2).filter(|byte| **byte == b'=');
    let whole = (text.len() / 4).saturating_mul(3);
    whole.saturating_sub(padding.count())
}

/// Decode key material, as strictly.
pub(crate) fn decode_secret(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    BASE64_STANDARD.decode(text).ok().map(Zeroizing::new)
}

/// Encode.
pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_and_inverse() {
        for len in [0, 1, 2, 3, 31, 32, 33, 64] {
            let bytes: Vec<u8> = (0..len).map(|byte| byte ^ 0xa5).collect();
            let text = encode(&bytes);
            let mut out = vec![0; bytes.len()];
            assert_eq!(decode(text.as_bytes(), &mut out), Some(()), "{len}");
            assert_eq!(decoded_len(text.as_bytes()), bytes.len());
            assert_eq!(out, bytes);
            assert_eq!(*decode_secret(text.as_bytes()).unwrap(), bytes);
        }
        assert_eq!(encode(&[0, 255]), "AP8=");
        let mut out = [0; 2];
        for bad in [
            "", "AP8", "AP8==", "AP9=", "AP8=\n", " AP8=", "AP-_", "A*P8=", "AA==", "AP8A", "A===",
        ] {
            assert_eq!(decode(bad.as_bytes(), &mut out), None, "{bad}");
        }
        for bad in ["AP8", "AP9=", "AP_=", "A P8="] {
            assert!(decode_secret(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
