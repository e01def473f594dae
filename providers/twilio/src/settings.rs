//! The header that names a shared key and its algorithm. Unsigned: it chooses among configured keys, and no more.

use webhook_core::{Algorithm, Head, Malformed};

pub(crate) const SETTINGS: &str = "x-twilio-webhooks-signature-settings";

/// The key's id, if one is named, and the algorithm.
pub(crate) fn read<'r>(head: &Head<'r>) -> Result<(Option<&'r str>, Algorithm), Malformed> {
    if head.all(SETTINGS).next().is_none() {
        return Ok((None, Algorithm::HmacSha1));
    }
    let fault = Malformed::Grammar(SETTINGS);
    let (key, algorithm) = head.one(SETTINGS)?.split_once(',').ok_or(fault)?;
    let key = key.strip_prefix("key=").ok_or(fault)?;
    let algorithm = match algorithm {
        "algorithm=HMAC_SHA1" => Algorithm::HmacSha1,
        "algorithm=HMAC_SHA256" => Algorithm::HmacSha256,
        _ => return Err(fault),
    };
    Ok((Some(key), algorithm))
}

/// The header of a signature under the shared key `id`.
pub(crate) fn write(id: &str) -> (&'static str, String) {
    (SETTINGS, format!("key={id},algorithm=HMAC_SHA256"))
}
