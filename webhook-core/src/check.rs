//! One key's check of one signed content, under way.

use hmac::{Hmac, Mac};
#[cfg(feature = "sha1")]
use sha1::Sha1;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

#[cfg(feature = "public-keys")]
use crate::public_key::{PublicCheck, PublicChecked};
use crate::tag::Tag;

/// Fed the signed content as it arrives.
pub(crate) enum Check {
    #[cfg(feature = "sha1")]
    HmacSha1(Hmac<Sha1>),
    HmacSha256(Hmac<Sha256>),
    #[cfg(feature = "public-keys")]
    Public(PublicCheck),
}

/// Fed all of it: signatures can be compared.
pub(crate) enum Checked {
    Mac(Tag),
    #[cfg(feature = "public-keys")]
    Public(PublicChecked),
}

impl Check {
    #[inline]
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            #[cfg(feature = "sha1")]
            Self::HmacSha1(mac) => mac.update(bytes),
            Self::HmacSha256(mac) => mac.update(bytes),
            #[cfg(feature = "public-keys")]
            Self::Public(check) => check.update(bytes),
        }
    }

    #[inline]
    pub(crate) fn finish(&self) -> Checked {
        Checked::Mac(match self {
            #[cfg(feature = "sha1")]
            Self::HmacSha1(mac) => Tag::from_bytes(&mac.clone().finalize().into_bytes()),
            Self::HmacSha256(mac) => Tag::from_bytes(&mac.clone().finalize().into_bytes()),
            #[cfg(feature = "public-keys")]
            Self::Public(check) => return Checked::Public(check.clone().finish()),
        })
    }

    /// Whether [`Checked::holds`] needs the signed content once more, whole: Ed25519 hashes it twice.
    #[inline]
    pub(crate) fn needs_content(&self) -> bool {
        match self {
            #[cfg(feature = "sha1")]
            Self::HmacSha1(_) => false,
            Self::HmacSha256(_) => false,
            #[cfg(feature = "public-keys")]
            Self::Public(check) => check.needs_content(),
        }
    }
}

impl Checked {
    /// Whether `tag` is a signature. MACs are compared in constant time; what a public key says is no secret.
    #[cfg_attr(
        not(feature = "public-keys"),
        expect(unused_variables, reason = "no MAC is told the content again")
    )]
    #[inline]
    pub(crate) fn holds(&self, tag: &Tag, content: &[u8]) -> Choice {
        match self {
            Self::Mac(mac) => equal(mac.as_bytes(), tag.as_bytes()),
            #[cfg(feature = "public-keys")]
            Self::Public(checked) => Choice::from(u8::from(checked.holds(tag, content))),
        }
    }
}

/// Whether two tags are equal, in a time that depends on their lengths alone.
///
/// Sixteen bytes at a time: `subtle` hides each comparison from the optimiser, which costs more than
/// the comparison itself.
#[inline]
fn equal(ours: &[u8], theirs: &[u8]) -> Choice {
    if ours.len() != theirs.len() {
        return Choice::from(0);
    }
    let ((ours, rest), (theirs, other_rest)) = (ours.as_chunks(), theirs.as_chunks());
    let words = ours.iter().zip(theirs);
    words.fold(rest.ct_eq(other_rest), |all, (ours, theirs)| {
        all & u128::from_ne_bytes(*ours).ct_eq(&u128::from_ne_bytes(*theirs))
    })
}
