//! Why we may disagree with a library: named rules, each with a test of whether it is the reason.
//!
//! A rule that is about spelling *undoes* it: the same request, spelled by the book, must then be judged alike. So no rule
//! excuses what it does not name.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use webhook_core::bounds::{MAX_CANDIDATES, MAX_ID_BYTES};
use webhook_core::{DynProvider, Malformed, Rejection};

use crate::case::Case;
use crate::oracle::{Answer, Library};
use crate::scheme::Scheme;

/// A disagreement.
pub(crate) struct Dispute<'d> {
    pub(crate) case: &'d Case,
    pub(crate) provider: &'d dyn DynProvider,
    pub(crate) peer: &'d Library,
    pub(crate) ours: &'d Result<(), Rejection>,
    pub(crate) theirs: &'d Answer,
}

/// A reason for disputes.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    /// For the documentation.
    pub(crate) says: &'static str,
    /// The libraries with which it occurs, in the order of [`crate::oracle::LIBRARIES`].
    pub(crate) with: &'static [&'static str],
    explains: fn(&Dispute<'_>) -> bool,
}

impl Rule {
    pub(crate) fn of(dispute: &Dispute<'_>) -> Option<&'static Self> {
        RULES.iter().find(|rule| (rule.explains)(dispute))
    }
}

impl Dispute<'_> {
    /// We refuse what the library takes.
    fn is_stricter(&self) -> bool {
        self.ours.is_err() && self.theirs.ok
    }

    /// We take what the library refuses.
    fn is_laxer(&self) -> bool {
        self.ours.is_ok() && !self.theirs.ok
    }

    /// Whether we take the request once the signature's header is spelled otherwise.
    fn is_taken_as(&self, respell: impl Fn(&str) -> Cow<'_, str>) -> bool {
        let mut head = self.case.head.clone();
        for (name, value) in &mut head {
            if name.eq_ignore_ascii_case(self.case.scheme.signature()) {
                let text = String::from_utf8_lossy(value);
                *value = respell(&text).into_owned().into_bytes();
            }
        }
        let judged = self.case.judge_with(self.provider, &head, &self.case.body);
        judged.is_ok()
    }
}

/// First come, first named.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "repeated-header",
        says: "A header that must stand once and stands twice is refused. Libraries get the values joined by a comma from whatever is \
               in front of them, and may find a signature in that.",
        with: &["stripe-node", "stripe-python", "svix"],
        explains: |dispute| {
            dispute.is_stricter()
                && matches!(
                    dispute.ours,
                    Err(Rejection::Malformed(Malformed::Repeated(_)))
                )
        },
    },
    Rule {
        name: "timestamp-spelling",
        says: "A timestamp is a decimal without sign, space, leading zero, fraction or anything behind it, of at most 15 ASCII \
               digits. Libraries parse a number out of it and sign what they would print for that.",
        with: &[
            "pynacl",
            "slack_sdk",
            "standardwebhooks",
            "stripe-node",
            "stripe-python",
            "svix",
        ],
        explains: |dispute| {
            let malformed = matches!(
                dispute.ours,
                Err(Rejection::Malformed(Malformed::Timestamp))
            );
            dispute.is_stricter() && (malformed || dispute.is_taken_as(with_bare_timestamps))
        },
    },
    Rule {
        name: "second-timestamp",
        says: "A signature header with two timestamps is refused, equal ones included. Libraries take the first or the last.",
        with: &["stripe-node", "stripe-python"],
        explains: |dispute| {
            let one = |from_the_end: bool| {
                dispute.is_taken_as(|value| {
                    let is_stamp = |element: &&str| element.starts_with("t=");
                    let mut stamps = value.split(',').filter(is_stamp);
                    let kept = if from_the_end {
                        stamps.next_back()
                    } else {
                        stamps.next()
                    };
                    let rest = value.split(',').filter(|element| !is_stamp(element));
                    kept.into_iter()
                        .chain(rest)
                        .collect::<Vec<_>>()
                        .join(",")
                        .into()
                })
            };
            dispute.is_stricter()
                && dispute.case.scheme == Scheme::Stripe
                && (one(false) || one(true))
        },
    },
    Rule {
        name: "future",
        says: "A timestamp ahead of our clock is held against the same window as one behind it. The library bounds the past only.",
        with: &["stripe-node", "stripe-python"],
        explains: |dispute| {
            dispute.is_stricter()
                && dispute.case.scheme == Scheme::Stripe
                && matches!(dispute.ours, Err(Rejection::Future { .. }))
        },
    },
    Rule {
        name: "window",
        says: "A signed timestamp is held against a window. The library checks signatures and nothing else.",
        with: &["pynacl"],
        explains: |dispute| {
            dispute.is_stricter()
                && !dispute.peer.has_window
                && matches!(
                    dispute.ours,
                    Err(Rejection::Future { .. } | Rejection::Stale { .. })
                )
        },
    },
    Rule {
        name: "stray-element",
        says: "Every element of a signature header has a name or a version, and no second mark. Libraries pass over what has none, or \
               read up to the second mark.",
        with: &["stripe-node", "stripe-python", "svix"],
        explains: |dispute| {
            dispute.is_stricter()
                && dispute.is_taken_as(|value| {
                    let (separator, mark) = match dispute.case.scheme {
                        Scheme::Stripe => (',', '='),
                        _ => (' ', ','),
                    };
                    let elements = value.split(separator).filter_map(|element| {
                        let mut parts = element.splitn(3, mark);
                        Some(format!("{}{mark}{}", parts.next()?, parts.next()?))
                    });
                    elements
                        .collect::<Vec<_>>()
                        .join(&separator.to_string())
                        .into()
                })
        },
    },
    Rule {
        name: "signature-spelling",
        says: "A signature is lower-case hex, or standard base64 with padding and no unused bit set, and nothing beside. Libraries that \
               decode take more: upper case, spaces, letters of no alphabet, missing padding.",
        with: &["pynacl", "standardwebhooks"],
        explains: |dispute| {
            dispute.is_stricter()
                && [true, false].iter().any(|to_the_end| {
                    dispute
                        .is_taken_as(|value| by_the_book(dispute.case.scheme, value, *to_the_end))
                })
        },
    },
    Rule {
        name: "many-signatures",
        says: "A header offers at most 16 signatures, as each is compared with every key.",
        with: &["standardwebhooks", "stripe-node", "stripe-python", "svix"],
        explains: |dispute| {
            dispute.is_stricter()
                && dispute.is_taken_as(|value| {
                    let separator = if dispute.case.scheme == Scheme::Stripe {
                        ','
                    } else {
                        ' '
                    };
                    let elements: Vec<_> = value.split(separator).collect();
                    let Some(excess) = elements.len().checked_sub(MAX_CANDIDATES) else {
                        return value.into();
                    };
                    // Where the timestamp comes first it stays.
                    let first = elements
                        .iter()
                        .take(1)
                        .filter(|element| element.starts_with("t="));
                    let kept = first.chain(elements.iter().skip(excess.max(1)));
                    kept.copied()
                        .collect::<Vec<_>>()
                        .join(&separator.to_string())
                        .into()
                })
        },
    },
    Rule {
        name: "id",
        says: "A signed id is 1 to 255 bytes of UTF-8 without control characters, and without the dot that ends it in what is signed: \
               with one, bytes could move between id and timestamp under the same signature.",
        with: &["standardwebhooks", "svix"],
        explains: |dispute| {
            let mut ids = dispute.case.values("webhook-id");
            dispute.is_stricter()
                && matches!(
                    dispute.ours,
                    Err(Rejection::Malformed(Malformed::Grammar("webhook-id")))
                )
                && ids.any(|id| id.contains(&b'.') || id.len() > MAX_ID_BYTES)
        },
    },
    Rule {
        name: "form",
        says: "Every parameter of a form has a `=`, and a `%` two hex digits behind it. What the library is handed has read more: a name \
               alone as an empty value, nothing between two `&` as nothing.",
        with: &["twilio"],
        explains: |dispute| {
            let case = dispute.case;
            let repaired = repaired_form(&case.body);
            let judged = case.judge_with(dispute.provider, &case.head, &repaired);
            dispute.is_stricter() && case.scheme == Scheme::Twilio && judged.is_ok()
        },
    },
    Rule {
        name: "broken-beside-good",
        says: "A signature that cannot be read does not take down the good one beside it. The library stops at the first it cannot read.",
        with: &["standardwebhooks", "svix"],
        explains: |dispute| {
            let good_alone = |value: &str| {
                let mut elements = value.split(' ');
                elements.any(|element| dispute.is_taken_as(|_| element.to_owned().into()))
            };
            let mut values = dispute.case.values(dispute.case.scheme.signature());
            dispute.is_laxer()
                && dispute.case.scheme == Scheme::Standard
                && values.any(|value| {
                    let value = str::from_utf8(value).unwrap_or_default();
                    value.contains(' ') && good_alone(value)
                })
        },
    },
    Rule {
        name: "bytes",
        says: "The signature is over the bytes that came, whatever they are. The library reads the body as UTF-8 first, and refuses or \
               replaces what is none. An endpoint refuses such a body once it is authentic, as no event.",
        with: &[
            "@octokit/webhooks-methods",
            "slack_sdk",
            "standardwebhooks",
            "stripe-node",
            "stripe-python",
            "svix",
        ],
        explains: |dispute| dispute.is_laxer() && str::from_utf8(&dispute.case.body).is_err(),
    },
    Rule {
        name: "byte-order-mark",
        says: "A byte-order mark is three bytes of the body like others: it is signed, or it breaks the signature. The library \
               drops it before it checks.",
        with: &["stripe-node"],
        explains: |dispute| {
            let case = dispute.case;
            let Some(rest) = case.body.strip_prefix(b"\xef\xbb\xbf") else {
                return false;
            };
            let without = case.judge_with(dispute.provider, &case.head, rest);
            dispute.is_laxer() || without.is_ok()
        },
    },
    Rule {
        name: "empty-body",
        says: "An empty body can be signed like another; it is refused once it is authentic, as no event. The library wants a body first.",
        with: &["@octokit/webhooks-methods"],
        explains: |dispute| dispute.is_laxer() && dispute.case.body.is_empty(),
    },
];

/// A form as lenient readers take it, written by the book.
fn repaired_form(body: &[u8]) -> Vec<u8> {
    let parameters = body.split(|byte| *byte == b'&');
    let parameters = parameters.filter(|parameter| !parameter.is_empty());
    let repaired = parameters.map(|parameter| {
        let mut text = parameter.to_vec();
        if !parameter.contains(&b'=') {
            text.push(b'=');
        }
        let is_escape = |at: usize| {
            let digits = text.get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        let bytes = text.iter().enumerate().flat_map(|(at, byte)| match byte {
            b'%' if !is_escape(at) => b"%25".to_vec(),
            byte => vec![*byte],
        });
        bytes.collect::<Vec<u8>>()
    });
    repaired.collect::<Vec<_>>().join(&b'&')
}

/// A `t` element of digits and what follows them is the digits alone.
fn with_bare_timestamps(value: &str) -> Cow<'_, str> {
    let elements = value.split(',').map(|element| {
        let Some(stamp) = element.strip_prefix("t=") else {
            return element.to_owned();
        };
        let digits = stamp.trim().chars().take_while(char::is_ascii_digit);
        format!("t={}", digits.collect::<String>())
    });
    elements.collect::<Vec<_>>().join(",").into()
}

/// The value with each signature decoded as leniently as anybody does, and written again.
///
/// Python's decoder passes over what is no letter, padding in the middle included, or ends there: `to_the_end` says which.
fn by_the_book(scheme: Scheme, value: &str, to_the_end: bool) -> Cow<'_, str> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    if scheme != Scheme::Standard {
        let kept = value.chars().filter(|letter| !letter.is_ascii_whitespace());
        let lower = kept.map(|letter| letter.to_ascii_lowercase());
        return lower.collect::<String>().into();
    }
    let elements = value.split(' ').map(|element| {
        let (version, text) = element.split_once(',').unwrap_or((element, ""));
        let letters: String = text
            .chars()
            .take_while(|letter| to_the_end || *letter != '=')
            .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/'))
            .collect();
        let bytes = LENIENT.decode(&letters).unwrap_or_default();
        format!("{version},{}", BASE64_STANDARD.encode(bytes))
    });
    elements.collect::<Vec<_>>().join(" ").into()
}
