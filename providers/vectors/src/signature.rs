//! Signatures computed here and not by the code under test. As that code found the same request authentic, what it
//! hashed are these very bytes.

use std::fmt::Write as _;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use sha2::Sha256;
use webhook_core::SecretFormat;

/// Whether one of `values` holds a signature of `content` under `key`, in hex or base64.
pub(crate) fn stands_in(values: &[&str], content: &[u8], key: &str, format: SecretFormat) -> bool {
    let whole = |text: &str| BASE64_STANDARD.decode(text).ok();
    let key = match format {
        SecretFormat::Base64 { prefix } => whole(key.strip_prefix(prefix).unwrap_or(key)),
        SecretFormat::Ed25519Hex => return verifies(&ED25519, unhex(key), values, content),
        SecretFormat::P256Spki => {
            return verifies(&ECDSA_P256_SHA256_ASN1, whole(key), values, content);
        }
        SecretFormat::RsaSpki => {
            return verifies(&RSA_PKCS1_2048_8192_SHA256, whole(key), values, content);
        }
        SecretFormat::StandardWebhooks => match key.strip_prefix("whpk_") {
            Some(key) => return verifies(&ED25519, whole(key), values, content),
            None => whole(key.strip_prefix("whsec_").unwrap_or(key)),
        },
        _ => Some(key.as_bytes().to_vec()),
    };
    let key = key.expect("base64");
    let mut sha1 = Hmac::<Sha1>::new_from_slice(&key).expect("any key");
    sha1.update(content);
    let mut sha256 = Hmac::<Sha256>::new_from_slice(&key).expect("any key");
    sha256.update(content);
    let macs = [
        sha1.finalize().into_bytes().to_vec(),
        sha256.finalize().into_bytes().to_vec(),
    ];
    macs.iter().any(|mac| {
        let (hex, base64) = (hex(mac), BASE64_STANDARD.encode(mac));
        let mut values = values.iter();
        values.any(|value| value.contains(&hex) || value.contains(&base64))
    })
}

fn verifies(
    algorithm: &'static dyn VerificationAlgorithm,
    key: Option<Vec<u8>>,
    values: &[&str],
    content: &[u8],
) -> bool {
    let key = UnparsedPublicKey::new(algorithm, key.expect("a public key"));
    let mut elements = values.iter().flat_map(|value| value.split([' ', ',', '"']));
    elements.any(|element| {
        let decoded = [unhex(element), BASE64_STANDARD.decode(element).ok()];
        let mut decoded = decoded.into_iter().flatten();
        decoded.any(|signature| key.verify(content, &signature).is_ok())
    })
}

fn hex(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in bytes {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.iter().map(byte).collect()
}
