//! Keys that anybody may know. They verify; where the private half is configured, they sign.

use std::sync::Arc;

use aws_lc_rs::digest::{self, Digest, SHA256};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaParameters,
    VerificationAlgorithm,
};
use sha2::Digest as _;

use crate::algorithm::Algorithm;
use crate::keyring::SecretFormat;
use crate::tag::Tag;
use crate::{base64, certificate, hex};

/// A public key, and perhaps the private one that belongs to it.
pub(crate) struct PublicKey {
    algorithm: Algorithm,
    parsed: Arc<ParsedPublicKey>,
    private: Option<PrivateKey>,
    digest: [u8; 32],
}

enum PrivateKey {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    Rsa(rsa::KeyPair),
}

/// Fed the signed content as it arrives.
#[derive(Clone)]
pub(crate) struct PublicCheck {
    key: Arc<ParsedPublicKey>,
    /// None for Ed25519, which signs no digest.
    sha256: Option<digest::Context>,
}

/// Fed all of it.
pub(crate) struct PublicChecked {
    key: Arc<ParsedPublicKey>,
    sha256: Option<Digest>,
}

impl PublicKey {
    /// Read a key in a format that knows public keys alone: the public key in the provider's spelling, or the private
    /// one as base64 of PKCS#8.
    pub(crate) fn read(format: SecretFormat, text: &str) -> Option<Self> {
        let mut key = [0; 32];
        let is_hex = hex::decode(text.as_bytes(), &mut key).is_some();
        if is_hex && format == SecretFormat::Ed25519Hex {
            return Self::ed25519(&key, None);
        }
        let der = base64::decode_secret(text.as_bytes())?;
        match format {
            SecretFormat::Ed25519Hex => {
                let private = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok()?;
                Self::ed25519_pair(private)
            }
            SecretFormat::P256Spki => {
                if let Some(point) = der.strip_prefix(P256_SPKI) {
                    return Self::p256(point, None);
                }
                let private =
                    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &der).ok()?;
                let point = private.public_key().as_ref().to_vec();
                Self::p256(&point, Some(PrivateKey::P256(private)))
            }
            SecretFormat::RsaSpki => {
                let certified = certificate::public_key(&der);
                let spki = certified.unwrap_or(&der);
                if certified.is_some() || is_rsa_spki(spki) {
                    return is_rsa_spki(spki).then(|| Self::rsa(spki, None))?;
                }
                let private = rsa::KeyPair::from_pkcs8(&der).ok()?;
                let spki = private.public_key().as_der().ok()?;
                Self::rsa(spki.as_ref(), Some(PrivateKey::Rsa(private)))
            }
            SecretFormat::Base64 { .. }
            | SecretFormat::Text { .. }
            | SecretFormat::StandardWebhooks => None,
        }
    }

    /// Read a key of Standard Webhooks: `whpk_`, or `whsk_` and the seed, perhaps with the public key behind it.
    ///
    /// The outer `None` is another kind of text, the inner one a bad key.
    #[expect(clippy::option_option, reason = "read once, by the next line")]
    pub(crate) fn read_standard(text: &str) -> Option<Option<Self>> {
        let decode = |encoded: &str| base64::decode_secret(encoded.as_bytes());
        if let Some(encoded) = text.strip_prefix("whpk_") {
            return Some(decode(encoded).and_then(|key| Self::ed25519(&key, None)));
        }
        let private = decode(text.strip_prefix("whsk_")?).and_then(|bytes| {
            let pair = match bytes.split_at_checked(32)? {
                (seed, []) => Ed25519KeyPair::from_seed_unchecked(seed),
                (seed, public) => Ed25519KeyPair::from_seed_and_public_key(seed, public),
            };
            Self::ed25519_pair(pair.ok()?)
        });
        Some(private)
    }

    /// Begin to check signatures of `algorithm`, if it is this key's.
    pub(crate) fn check(&self, algorithm: Algorithm) -> Option<PublicCheck> {
        let sha256 = (algorithm != Algorithm::Ed25519).then(|| digest::Context::new(&SHA256));
        (self.algorithm == algorithm).then(|| PublicCheck {
            key: Arc::clone(&self.parsed),
            sha256,
        })
    }

    /// Sign `content`, if the algorithm is this key's and it has its private half.
    pub(crate) fn sign(&self, algorithm: Algorithm, content: &[u8]) -> Option<Tag> {
        if self.algorithm != algorithm {
            return None;
        }
        match self.private.as_ref()? {
            PrivateKey::Ed25519(key) => Some(Tag::from_bytes(key.try_sign(content).ok()?.as_ref())),
            PrivateKey::P256(key) => {
                let signed = key.sign(&SystemRandom::new(), content).ok()?;
                Some(Tag::from_bytes(signed.as_ref()))
            }
            PrivateKey::Rsa(key) => {
                let mut tag = vec![0; key.public_modulus_len()];
                let random = SystemRandom::new();
                key.sign(&RSA_PKCS1_SHA256, &random, content, &mut tag)
                    .ok()?;
                Some(Tag::from_bytes(&tag))
            }
        }
    }

    pub(crate) fn signs(&self) -> bool {
        self.private.is_some()
    }

    /// What it is known by. No text that it hashes is one that names a secret.
    pub(crate) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn ed25519(key: &[u8], private: Option<PrivateKey>) -> Option<Self> {
        let key = <&[u8; 32]>::try_from(key).ok()?;
        if !is_strict(key) {
            return None;
        }
        Self::new(Algorithm::Ed25519, &ED25519, key, private)
    }

    fn ed25519_pair(pair: Ed25519KeyPair) -> Option<Self> {
        let key = pair.public_key().as_ref().to_vec();
        Self::ed25519(&key, Some(PrivateKey::Ed25519(pair)))
    }

    /// `point` without its first byte, which says that it is not compressed.
    fn p256(point: &[u8], private: Option<PrivateKey>) -> Option<Self> {
        let [4, coordinates @ ..] = point else {
            return None;
        };
        if coordinates.len() != 64 {
            return None;
        }
        let algorithm = Algorithm::EcdsaP256Sha256;
        Self::new(algorithm, &ECDSA_P256_SHA256_ASN1, point, private)
    }

    fn rsa(spki: &[u8], private: Option<PrivateKey>) -> Option<Self> {
        let algorithm = Algorithm::RsaPkcs1Sha256;
        let modulus_and_exponent = rsa::PublicKey::from_der(spki).ok()?;
        let bits = RsaParameters::public_modulus_len(modulus_and_exponent.as_ref()).ok()?;
        if !(2048..=4096).contains(&bits) {
            return None;
        }
        Self::new(algorithm, &RSA_PKCS1_2048_8192_SHA256, spki, private)
    }

    fn new(
        algorithm: Algorithm,
        verification: &'static dyn VerificationAlgorithm,
        key: &[u8],
        private: Option<PrivateKey>,
    ) -> Option<Self> {
        let parsed = ParsedPublicKey::new(verification, key).ok()?;
        let label: &[u8] = match algorithm {
            Algorithm::Ed25519 => b"Ed25519",
            Algorithm::EcdsaP256Sha256 => b"P-256",
            _ => b"RSA",
        };
        let mut digest = sha2::Sha256::new();
        for part in [b"webhook public key, version 1: ", label, b": ", key] {
            digest.update(part);
        }
        Some(Self {
            algorithm,
            parsed: Arc::new(parsed),
            private,
            digest: digest.finalize().into(),
        })
    }
}

impl PublicCheck {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(bytes);
        }
    }

    pub(crate) fn finish(self) -> PublicChecked {
        PublicChecked {
            key: self.key,
            sha256: self.sha256.map(digest::Context::finish),
        }
    }

    pub(crate) fn needs_content(&self) -> bool {
        self.sha256.is_none()
    }
}

impl PublicChecked {
    /// Whether `tag` is this key's signature; `content` is read for Ed25519 alone.
    pub(crate) fn holds(&self, tag: &Tag, content: &[u8]) -> bool {
        let tag = tag.as_bytes();
        match (&self.sha256, tag.first_chunk()) {
            (Some(digest), _) => self.key.verify_digest_sig(digest, tag).is_ok(),
            (None, Some(r)) => is_strict(r) && self.key.verify_sig(content, tag).is_ok(),
            (None, None) => false,
        }
    }
}

/// Whether a point of Ed25519 is canonical and not of small order: such a key verifies what nobody signed.
///
/// One that is not on the curve at all verifies nothing.
fn is_strict(point: &[u8; 32]) -> bool {
    let mut y = *point;
    y[31] &= 0x7f; // The sign of x.
    let [first, middle @ .., last] = y;
    let is_canonical = first < 0xed || last < 0x7f || middle.iter().any(|byte| *byte < 0xff);
    is_canonical && !SMALL_ORDER.contains(&y)
}

/// Whether it is a `SubjectPublicKeyInfo` of `rsaEncryption` with its NULL parameters, RFC 3279 section 2.3.1.
fn is_rsa_spki(der: &[u8]) -> bool {
    const RSA: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
    // Two bytes of length follow the first tag: the key has at least 256 bytes.
    der.first() == Some(&0x30) && der.get(4..).is_some_and(|rest| rest.starts_with(RSA))
}

/// `SubjectPublicKeyInfo` of P-256 up to the point, RFC 5480 section 2.
const P256_SPKI: &[u8] =
    b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";

/// The y of points of order 4, 1, 2 and twice 8, little-endian.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    {
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        minus_one[31] = 0x7f;
        minus_one
    },
    *b"\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a",
    *b"\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
];

#[cfg(test)]
pub(crate) mod tests {
    use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};

    use super::*;
    use crate::keyring::{KeyConfig, Keyring, KeyringError};
    use crate::material::Material;

    const ED25519_SEED_KEY: &str =
        "MC4CAQAwBQYDK2VwBCIEID6fjO1i8uwdCON29gUSUylMMwLn8qFqX7tM3HztPoec";
    const P256_KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgojhbJsuAeWh89NXnuLWpNMhdZypdyyNljqRtjYPxJU2hRANCAATWJQ3oxRVmpMtLs2jUkXrqWq0FjlPgwJNvq55poMw9yhn3dPa2Ocdi7t8jM9IDZVx/nidJbliJ7EUI72da5L+F";
    /// Made with OpenSSL, as is what it signed.
    pub(crate) const RSA_PUBLIC: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAozx716/VKxhI8cUB8J/swKhuh5g5mjIcEWcv6CzajBT5CI3zNwb0yox7YYsrfC6aGCJFiuFO/x5hkasqj0hHxmJ0/y0mWvQB1NA8TD9tD3tY6wBT2bpUvsdR5PIH5CsQax0FmsKIN7b9zz7JYoj+uISYhBnj4rZs5cTl9mfOdP3QJTER71m7chaFOpPVunF8azXe1CuHuKLy5IHoL9LRV9bcbnxUQCVJl8P1bneNq3rS4qRvJYnKZqVURO0i4zWN+9cqgun/svSovYRQ+a0IHpDB+uDwe5uIel2VkGRgY4YKu0NejLtSlOQ7BX1yeXXIlEa5KiiaYYaKb0OOWWvpWQIDAQAB";
    const RSA_SHA256: &str = "hjydkvfAAuyTM3pL/umJ1Ep6NVLqP+1a+62xoC8WWonrARCFKU+m3w3Y657UWxh/V+Y6Pz75i/XA6LB9GfaSDmlH6StxOQv2ck3fjo0ncilV5f8n93dooJhZqyoGEQCmdjUWpA/xDvSepwtWMlL7D0oyvZn/b38L1VfZNvvg21gBu/xbcvFd6q8mQyalSLTCKQz1yYPp0WWh4f0fdqmuDgq1FMP8adpo0XHX4vUdLPHCAe3xnEYg4pd6Ic/XrQj2M5lC025iqSJRtQ1WKS3ACzUDIwVLl1WdW8m1rx8UxECQ5HOmp2ugp/qJojfDJn/35DEuuv31Btgk3uq0VoURFQ==";
    const RSA_SHA1: &str = "H6ygRVaARWoS5G3WL030dDmNRYQ5qZZhNZ/6C2jypUn+Npnah18tjyRP70/GSDjiuPtGGgsvhMbFA7ZtjCjx1+F962IKKo+9hz1gIdghCWaLrfbvVudw2VOKTle/QArAXPeRUWe6fi9RWkmynl+bfSG/ii+rSIdn70KadI6MLyL7HgiD5BrexXcB6For7eS48+eCJx5CD8EpQyIOegwRtgIaEeU5ddzrNZ08UOPt0D00f3CUJTU+4BFXfARZsktyJ/CcSQI5cjwkvej4wcB9T30T9DcjsaOzJLZx9MaT0lMYNNb5cudNcphzs6JV3b2SPHL8+kHVg4+87D2xE8Pjcg==";
    const RSA_PSS: &str = "HAgAd7qwJqWJJnaE7IkfXL18sk+zetVDiYIhGbJATKHLDAvUzu1Nv+GSyYhYPJr5+qZbtC9/zESkhUOmWDPEumUOXoqCqY0oi2XXZOGkQE1Q4LcEtGmsKXa2ZUv74gDcombU5Srb4H3flJr8rgBXbOfUqemomWpohdYwhqVhrKZRKuG8mxEA8g9Vn6k1Gjvz7T0BUHVaw461OHWbkrxIueYkpTW72haQg+8F1OB5rXw3UGMzQ/tihynLqZZupVLp+ph66yuAdNmSQNVsB4BW4xeytsBGLy9b7nredeH+IoNInrhGxtf9oXCi9eM7bUqNWa8fM/cAeBqsW97FBAvJRg==";
    const RSA_1024: &str = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDkHZhRO3WOmjnrsarxzOp2KT9ak+7jkseeqKlHCcXfrTyqFKpbzE1frCNez8Lr2kyILtgzwzL/LNwyvo4sTqHxPv+hwag2k3buBavyoGtXDHMyTqxjGj7DbPSItjneCQ1RQKJtPcNg6I0DsekP+WH/tmss3JbkEwS861Bg2QWpLwIDAQAB";

    const ALGORITHMS: [Algorithm; 4] = [
        Algorithm::EcdsaP256Sha256,
        Algorithm::Ed25519,
        Algorithm::HmacSha256,
        Algorithm::RsaPkcs1Sha256,
    ];

    fn read(format: SecretFormat, text: &str) -> Material {
        Material::read(format, text, 1).unwrap()
    }

    /// Whether `tag` is a signature of `content`, as a lane finds out.
    fn holds(key: &Material, algorithm: Algorithm, content: &[u8], tag: &Tag) -> bool {
        let mut check = key.check(algorithm).unwrap();
        for piece in content.chunks(3) {
            check.update(piece);
        }
        bool::from(check.finish().holds(tag, content))
    }

    #[test]
    fn each_key_signs_and_checks_by_its_own_algorithm_alone() {
        let rsa = rsa::KeyPair::generate(rsa::KeySize::Rsa2048).unwrap();
        let rsa = base64::encode(AsDer::<Pkcs8V1Der<'_>>::as_der(&rsa).unwrap().as_ref());
        let secret = SecretFormat::Text { prefix: "" };
        for (format, text, own) in [
            (SecretFormat::P256Spki, P256_KEY, Algorithm::EcdsaP256Sha256),
            (
                SecretFormat::Ed25519Hex,
                ED25519_SEED_KEY,
                Algorithm::Ed25519,
            ),
            (SecretFormat::RsaSpki, &rsa, Algorithm::RsaPkcs1Sha256),
            (secret, "0123456789abcdef", Algorithm::HmacSha256),
        ] {
            let key = read(format, text);
            assert!(key.signs());
            let pieces = [&b"signed "[..], b"content"];
            let tag = key.sign(own, pieces.into_iter()).unwrap();
            assert!(own.tag_lens().contains(&tag.as_bytes().len()));
            assert!(holds(&key, own, b"signed content", &tag));
            assert!(!holds(&key, own, b"signed contend", &tag));
            let mut other = tag.as_bytes().to_vec();
            *other.last_mut().unwrap() ^= 1;
            assert!(!holds(
                &key,
                own,
                b"signed content",
                &Tag::from_bytes(&other)
            ));
            for other in ALGORITHMS.into_iter().filter(|other| *other != own) {
                assert!(key.check(other).is_none() && key.sign(other, [].into_iter()).is_none());
            }
        }
    }

    #[test]
    fn rsa_is_pkcs1_with_sha256_and_of_2048_bits_at_least() {
        let key = read(SecretFormat::RsaSpki, RSA_PUBLIC);
        assert!(
            !key.signs()
                && key
                    .sign(Algorithm::RsaPkcs1Sha256, [].into_iter())
                    .is_none()
        );
        let tag = |text| Tag::from_base64(Algorithm::RsaPkcs1Sha256, text).unwrap();
        let holds = |text| {
            let own = Algorithm::RsaPkcs1Sha256;
            holds(&key, own, b"signed content", &tag(text))
        };
        assert!(holds(RSA_SHA256));
        assert!(!holds(RSA_SHA1) && !holds(RSA_PSS));
        for other in [
            RSA_1024,
            P256_KEY,
            ED25519_SEED_KEY,
            "MDEyMzQ1Njc4OWFiY2RlZg==",
        ] {
            assert!(
                PublicKey::read(SecretFormat::RsaSpki, other).is_none(),
                "{other}"
            );
        }
    }

    /// Only the key's owner can make one, but libraries disagree about it.
    #[test]
    fn an_r_of_small_order_signs_nothing() {
        let key = read(SecretFormat::Ed25519Hex, ED25519_SEED_KEY);
        let r = format!("01{}", "0".repeat(62));
        let s = "a649dbc87ebae99d99c8282fe41225ffa99158448d893e963bc185bdb978070e";
        let tag = Tag::from_hex(Algorithm::Ed25519, &format!("{r}{s}")).unwrap();
        let content = b"signed by nobody";
        let Material::Public(public) = &key else {
            panic!("a public key");
        };
        assert!(public.parsed.verify_sig(content, tag.as_bytes()).is_ok());
        assert!(!holds(&key, Algorithm::Ed25519, content, &tag));
    }

    /// A name is of one kind of key: what is a public key in one ring and a secret in another are two keys.
    #[test]
    fn a_public_key_and_a_secret_of_the_same_bytes_are_two_keys() {
        let public = "1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
        let [as_public, as_secret] = ["whpk_", "whsec_"].map(|prefix| {
            let key = format!("{prefix}{public}");
            read(SecretFormat::StandardWebhooks, &key).fingerprint()
        });
        assert_ne!(as_public, as_secret);
    }

    #[test]
    fn what_is_published_is_no_secret() {
        let text = SecretFormat::Text { prefix: "" };
        for public in [
            "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
            "MCowBQYDK2VwAyEA4Cbo9IJmHtjSAskv9FkADoMsszmabhSr0sCdPf0AN8M=",
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE530lQAjxbj7uWQhlm4SkIEDAm6NsFfxNrcpiJj9/mCk+79xU0FKpCyQOt3Dsvlj4CvWQkK8eD4x4sRIMVoU5Sg==",
            RSA_PUBLIC,
        ] {
            let built = Keyring::build(text, [KeyConfig::new(public)]);
            assert_eq!(built.err(), Some(KeyringError::NotSecret(1)), "{public}");
        }
    }
}
