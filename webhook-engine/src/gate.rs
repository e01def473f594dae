//! The gates before the body: bounds, media, envelope, time, keys. Nothing is read or stored here.

use std::sync::Arc;

use webhook_core::ledger::Ledger;
use webhook_core::{Freshness, Head, Judged, KeyFault, Keyring, Outcome, Rejection, Verifier};

use crate::keys::KeyStore;
use crate::response::Reception;
use crate::shared::{Evidence, Site};

/// Judge `head`; the verifier for its body, or the refusal.
pub(crate) async fn admit<L: Ledger>(
    site: &Site<L>,
    head: &Head<'_>,
    tenant: Option<&str>,
) -> Result<Verifier, Reception> {
    let built = site.built();
    let shared = &site.shared;
    let refuse = |outcome| Err(site.reception(outcome));
    if shared.life.accepting.is_cancelled() || shared.runtimes.get().is_none() {
        return refuse(Outcome::NotServing);
    }
    if !has_plain_coding(head) || !has_known_type(site, head) {
        return refuse(Outcome::UnsupportedMedia);
    }
    let Ok(announced) = announced_length(head) else {
        return refuse(Outcome::Malformed);
    };
    let now = shared.now();
    let judged = Judged::judge(&*built.provider, head, built.window, now);
    if announced > built.max_body_bytes as u64 {
        // Said before a byte is read. A plausible envelope makes it a lost event, not junk.
        return refuse(match judged {
            Ok(_) => Outcome::TooLarge,
            Err(_) => Outcome::TooLargeUnsigned,
        });
    }
    let judged = match judged {
        Ok(judged) => judged,
        Err(rejection) => return Err(Reception::rejected(rejection)),
    };
    let mut cap = built.max_body_bytes;
    if let Some(rejection) = Option::<Rejection>::from(judged.freshness()) {
        debug_assert_ne!(judged.freshness(), Freshness::Fresh);
        cap = cap.min(Evidence::MAX_BODY_BYTES);
        if announced > cap as u64 || !shared.evidence.take() {
            return Err(Reception::rejected(rejection));
        }
    }
    let (judged, keys) = match &built.keys {
        KeyStore::Listed(listed) => (judged, listed.current()),
        KeyStore::Source(lookup) if built.provider.spec().has_certificate() => {
            // One that the body names is asked for when that is whole.
            let judged = match judged.unkeyed(now, cap) {
                Ok(verifier) => return Ok(verifier),
                Err(judged) => judged,
            };
            let answer = match judged.certificate() {
                Some(url) => lookup.certificate(url).await,
                None => Err(KeyFault::Unknown),
            };
            (judged, found(site, answer)?)
        }
        KeyStore::Source(lookup) => (judged, found(site, lookup.keys(head, tenant).await)?),
    };
    judged.keyed(&keys, now, cap).map_err(Reception::rejected)
}

/// Look for the keys of a certificate that a body names, where they are looked for.
pub(crate) async fn certify<L: Ledger>(
    site: &Site<L>,
    mut verifier: Verifier,
) -> Result<Verifier, Reception> {
    if let KeyStore::Source(lookup) = &site.built().keys
        && let Some(url) = verifier.certificate().map_err(Reception::rejected)?
    {
        let keys = found(site, lookup.certificate(&url).await)?;
        verifier.use_keys(&keys);
    }
    Ok(verifier)
}

fn found<L: Ledger>(
    site: &Site<L>,
    answer: Result<Arc<Keyring>, KeyFault>,
) -> Result<Arc<Keyring>, Reception> {
    answer.map_err(|fault| {
        site.reception(match fault {
            KeyFault::Unknown => Outcome::UnknownKey,
            _ => Outcome::KeysUnavailable,
        })
    })
}

/// Answer a challenge that comes as a GET.
pub(crate) fn greet<L: Ledger>(site: &Site<L>, head: &Head<'_>) -> Reception {
    let shared = &site.shared;
    if shared.life.accepting.is_cancelled() || shared.runtimes.get().is_none() {
        return site.reception(Outcome::NotServing);
    }
    let provider = &site.built().provider;
    let greeted = provider.spec().is_greeted().then(|| provider.greet(head));
    match greeted.flatten() {
        Some(handshake) => Reception::handshake(handshake),
        None => site.reception(Outcome::HandshakeRefused),
    }
}

/// No content coding, or `identity`: what is verified is what was sent.
fn has_plain_coding(head: &Head<'_>) -> bool {
    head.all("content-encoding")
        .all(|value| value.trim_ascii().eq_ignore_ascii_case(b"identity"))
}

/// No media type, or one the provider sends.
fn has_known_type<L: Ledger>(site: &Site<L>, head: &Head<'_>) -> bool {
    let spec = site.built().provider.spec();
    head.all("content-type")
        .all(|value| std::str::from_utf8(value).is_ok_and(|value| spec.accepts_content_type(value)))
}

/// The announced length, 0 where none is. Never allocated from.
fn announced_length(head: &Head<'_>) -> Result<u64, ()> {
    let mut values = head.all("content-length");
    let Some(value) = values.next() else {
        return Ok(0);
    };
    if values.next().is_some() || value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(());
    }
    let text = std::str::from_utf8(value).map_err(drop)?;
    Ok(text.parse().unwrap_or(u64::MAX))
}
