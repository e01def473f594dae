//! The public key in an X.509 certificate, RFC 5280 section 4.1. Nothing else of it is looked at.

/// The `SubjectPublicKeyInfo` of a DER certificate.
///
/// Neither its signature nor its dates are checked: whoever configures it, or fetched it from its issuer, vouches for it.
pub(crate) fn public_key(der: &[u8]) -> Option<&[u8]> {
    let (certificate, []) = element(der, SEQUENCE)? else {
        return None;
    };
    let (to_be_signed, _) = element(certificate.content, SEQUENCE)?;
    // The version is there unless it is 1.
    let rest = match element(to_be_signed.content, VERSION) {
        Some((_, rest)) => rest,
        None => to_be_signed.content,
    };
    let (_serial_number, rest) = element(rest, INTEGER)?;
    let (_signature_algorithm, rest) = element(rest, SEQUENCE)?;
    let (_issuer, rest) = element(rest, SEQUENCE)?;
    let (_validity, rest) = element(rest, SEQUENCE)?;
    let (_subject, rest) = element(rest, SEQUENCE)?;
    let (key, _) = element(rest, SEQUENCE)?;
    Some(key.whole)
}

struct Element<'d> {
    whole: &'d [u8],
    content: &'d [u8],
}

/// The first element of `der`, which must have this tag, and what follows it.
///
/// Lengths are DER: in as few bytes as they fit in, and of 64 KiB at most.
fn element(der: &[u8], tag: u8) -> Option<(Element<'_>, &[u8])> {
    let (head_len, len) = match *der {
        [found, len @ 0..=0x7f, ..] if found == tag => (2, usize::from(len)),
        [found, 0x81, len @ 0x80..=0xff, ..] if found == tag => (3, usize::from(len)),
        [found, 0x82, high @ 1..=0xff, low, ..] if found == tag => {
            (4, usize::from(u16::from_be_bytes([high, low])))
        }
        _ => return None,
    };
    let (whole, rest) = der.split_at_checked(len.checked_add(head_len)?)?;
    let content = whole.get(head_len..)?;
    Some((Element { whole, content }, rest))
}

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base64;
    use crate::keyring::SecretFormat;
    use crate::public_key::PublicKey;
    use crate::public_key::tests::RSA_PUBLIC;

    /// Self-signed, made with OpenSSL for the key that it prints as [`RSA_PUBLIC`].
    const CERTIFICATE: &str = "MIIDLTCCAhWgAwIBAgIUa7E/YybNqwPkA/PUTvVJG0HmQfIwDQYJKoZIhvcNAQELBQAwJjEkMCIGA1UEAwwbc25zLnVzLWVhc3QtMS5hbWF6b25hd3MuY29tMB4XDTI2MTIwMTAzMDgxMloXDTM2MTEyODAzMDgxMlowJjEkMCIGA1UEAwwbc25zLnVzLWVhc3QtMS5hbWF6b25hd3MuY29tMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAozx716/VKxhI8cUB8J/swKhuh5g5mjIcEWcv6CzajBT5CI3zNwb0yox7YYsrfC6aGCJFiuFO/x5hkasqj0hHxmJ0/y0mWvQB1NA8TD9tD3tY6wBT2bpUvsdR5PIH5CsQax0FmsKIN7b9zz7JYoj+uISYhBnj4rZs5cTl9mfOdP3QJTER71m7chaFOpPVunF8azXe1CuHuKLy5IHoL9LRV9bcbnxUQCVJl8P1bneNq3rS4qRvJYnKZqVURO0i4zWN+9cqgun/svSovYRQ+a0IHpDB+uDwe5uIel2VkGRgY4YKu0NejLtSlOQ7BX1yeXXIlEa5KiiaYYaKb0OOWWvpWQIDAQABo1MwUTAdBgNVHQ4EFgQUndJ6xqebobC73X6CgbjYVRY9sw4wHwYDVR0jBBgwFoAUndJ6xqebobC73X6CgbjYVRY9sw4wDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOCAQEAWdtIknxX0+GHQ+5UExEFwbDpmZLGO9+8aE9RTnEpzRMhzzH4obRks63G9g4SdAa1TtAKRsdmMY9hBjK2cmbg30nc4Si5nFKp1fv60TBGSiAfIfTY2tsgQAHIjgHkYgFVNYdeYgYZRhuPE/7gTyGE6UeU+h/IKnMXXDZfcoTSd6ffWaE/4F5Nrt74nKYfqnyaoPI5DjlL9L1owRpujm6n2nU3e6VlgARITSRlvVPLpVPoSP+gSkTo+zFaU2uw+6/3l0eU9U/337eSXaEmiT8fOKT7IZZMEyloyuQH0JNfTEE4EbCCloeURgeV2IqgRvAPhC1qpHQlJ+hmt1cC09nxVg==";
    fn der(text: &str) -> Vec<u8> {
        base64::decode_secret(text.as_bytes()).unwrap().to_vec()
    }

    #[test]
    fn the_key_is_found() {
        assert_eq!(public_key(&der(CERTIFICATE)), Some(&der(RSA_PUBLIC)[..]));
        let read = |text| PublicKey::read(SecretFormat::RsaSpki, text).unwrap();
        assert_eq!(read(CERTIFICATE).digest(), read(RSA_PUBLIC).digest());
    }

    #[test]
    fn what_is_no_certificate_has_no_key() {
        let whole = der(CERTIFICATE);
        for len in 0..whole.len() {
            assert_eq!(public_key(&whole[..len]), None, "{len}");
        }
        let longer = [&whole[..], &[0]].concat();
        assert_eq!(public_key(&longer), None);
        assert_eq!(public_key(&der(RSA_PUBLIC)), None);
        for bad in [
            &b"\x30\x80\x00\x00"[..], // indefinite
            b"\x30\x81\x01\x00",      // longer than need be
            b"\x30\x82\x00\x80",
            b"\x30\x84\xff\xff\xff\xff",
            b"\x31\x00",
        ] {
            assert!(element(bad, SEQUENCE).is_none(), "{bad:x?}");
        }
    }

    /// Each byte changed in each bit: nothing panics.
    #[test]
    fn any_bytes_are_read() {
        let whole = der(CERTIFICATE);
        for at in 0..400 {
            for bit in 0..8 {
                let mut other = whole.clone();
                other[at] ^= 1 << bit;
                let _ = public_key(&other);
            }
        }
    }
}
