//! Requests: valid ones, and such with one thing changed.

use bytes::Bytes;
use webhook_core::danger::trusted_arrival;
use webhook_core::{DynProvider, Head, Judged, Keyring, Rejection, Window};

use crate::random::Random;
use crate::scheme::{Parts, Scheme, Secret};

/// Header fields in wire order.
pub(crate) type Fields = Vec<(String, Vec<u8>)>;

/// A request, and who receives it when.
pub(crate) struct Case {
    pub(crate) scheme: Scheme,
    /// What was changed, for the report.
    pub(crate) change: &'static str,
    pub(crate) head: Fields,
    pub(crate) body: Vec<u8>,
    pub(crate) secret: Secret,
    pub(crate) now: i64,
}

/// A change before signing, or after it.
enum Change {
    Parts(fn(&mut Parts, &mut Random)),
    Key,
    Head(fn(&mut Fields, &mut Random)),
    Value(fn(&str, &mut Random) -> String),
    Body(fn(&mut Vec<u8>, &mut Random)),
}

impl Case {
    pub(crate) fn new(scheme: Scheme, random: &mut Random) -> Self {
        let now = 1_700_000_000 + i64::try_from(random.below(100_000_000)).unwrap_or(0);
        let mut parts = Parts {
            id: format!("msg_{:x}", random.next()),
            stamp: now.to_string(),
            signed_stamp: now.to_string(),
            body: match scheme {
                Scheme::Twilio => form(random),
                _ => body(random),
            },
        };
        let secret = scheme.secret(random);
        let (change, how) = match random.below(5) {
            0 => ("none", None),
            _ => choose(scheme, random),
        };
        if let Some(Change::Parts(change)) = how {
            change(&mut parts, random);
        }
        let tag = match how {
            Some(Change::Key) => scheme.tag(&scheme.secret(random).keys, &parts),
            _ => scheme.tag(&secret.keys, &parts),
        };
        let mut case = Self {
            scheme,
            change,
            head: scheme.head(&parts, &tag),
            body: parts.body,
            secret,
            now,
        };
        match how {
            Some(Change::Head(change)) => change(&mut case.head, random),
            Some(Change::Value(change)) => {
                let value = String::from_utf8_lossy(&case.head[0].1).into_owned();
                case.head[0].1 = change(&value, random).into_bytes();
            }
            Some(Change::Body(change)) => change(&mut case.body, random),
            Some(Change::Parts(_) | Change::Key) | None => {}
        }
        case
    }

    /// What we make of it.
    pub(crate) fn judge(&self, provider: &dyn DynProvider) -> Result<(), Rejection> {
        judge(
            provider,
            self.scheme.target(),
            &self.secret.keys,
            &self.head,
            &self.body,
            self.now,
        )
    }

    /// The same with another head and body.
    pub(crate) fn judge_with(
        &self,
        provider: &dyn DynProvider,
        head: &[(String, Vec<u8>)],
        body: &[u8],
    ) -> Result<(), Rejection> {
        judge(
            provider,
            self.scheme.target(),
            &self.secret.keys,
            head,
            body,
            self.now,
        )
    }

    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let fields = self.head.iter();
        let fields = fields.filter(move |(other, _)| other.eq_ignore_ascii_case(name));
        fields.map(|(_, value)| value.as_slice())
    }
}

fn judge(
    provider: &dyn DynProvider,
    target: &str,
    keys: &Keyring,
    head: &[(String, Vec<u8>)],
    body: &[u8],
    now: i64,
) -> Result<(), Rejection> {
    let fields = head.iter();
    let fields = fields.map(|(name, value)| (name.as_str(), value.as_slice()));
    let head = Head::new("POST", target, fields)?;
    let now = trusted_arrival(now);
    let window = provider.spec().window().unwrap_or(Window::FIVE_MINUTES);
    let judged = Judged::judge(provider, &head, window, now)?;
    let mut verifier = judged.keyed(keys, now, provider.spec().body_cap())?;
    verifier.update(Bytes::copy_from_slice(body))?;
    verifier.finish(&head).map(|_| ())
}

/// Mostly JSON, and now and then what no sender should send.
fn body(random: &mut Random) -> Vec<u8> {
    let json = format!(
        r#"{{"id":"evt_{:x}","type":"a.b","n":{}}}"#,
        random.next(),
        random.next()
    );
    match random.below(24) {
        0 => Vec::new(),
        1 => [b"\xef\xbb\xbf", json.as_bytes()].concat(),
        2 => [json.as_bytes(), b"\xff"].concat(),
        3 => [b"\xc3", json.as_bytes()].concat(),
        4 => format!("{json}\r\n").into_bytes(),
        5 => format!(r#"{{"text":"häß\u0000 €😀 {}"}}"#, random.next()).into_bytes(),
        6 => random.bytes::<64>().to_vec(),
        7 => [b"\0", json.as_bytes(), b"\0"].concat(),
        8 => json.repeat(200).into_bytes(),
        9 => b"payload=%7B%22a%22%3A+1%7D&x=%".to_vec(),
        _ => json.into_bytes(),
    }
}

/// A form, now and then with what senders seldom send.
fn form(random: &mut Random) -> Vec<u8> {
    let number = random.next();
    let form = format!("MessageSid=SM{number:x}&From=%2B14155550100&Body=h%C3%A4+%26+1");
    let odd = match random.below(20) {
        0 => return Vec::new(),
        1 => "&Empty=",
        2 => "&B=2&B=1&B=2",
        3 => "&Nameless",
        4 => "&=valueless",
        5 => "&&x=1&",
        6 => "&x=%zz&y=%",
        7 => "&x=%ff",
        8 => "&x=a;y=b",
        9 => "&a=1&A=2&%61b=3",
        10 => "&x=%0A%00+%20+",
        11 => "&x=ä",
        12 => "&bodySHA256=0",
        13 => return random.bytes::<64>().to_vec(),
        _ => "",
    };
    (form + odd).into_bytes()
}

fn choose(scheme: Scheme, random: &mut Random) -> (&'static str, Option<Change>) {
    let own = own(scheme);
    let times = if scheme.is_timestamped() { TIMES } else { &[] };
    let all = COMMON.len() + times.len() + own.len();
    let nth = random.below(all);
    let mut rows = COMMON.iter().chain(times).chain(own);
    let row = rows.nth(nth).unwrap_or(&COMMON[0]);
    (row.0, Some((row.1)()))
}

type Row = (&'static str, fn() -> Change);

/// Spread over a value: one edit of one character.
fn edit(value: &mut Vec<u8>, random: &mut Random) {
    const LETTERS: &[u8] = b"0123456789abcdefABCDEF+/=,. \t;:_-vtZ\"\xe9\xff";
    let letter = *random.pick(LETTERS);
    // Not at the ends: white space there is HTTP's, not the value's.
    if value.len() < 3 {
        value.clear();
        return;
    }
    let at = 1 + random.below(value.len() - 2);
    match random.below(3) {
        0 => value[at] = letter,
        1 => value.insert(at, letter),
        _ => {
            value.remove(at);
        }
    }
}

const COMMON: &[Row] = &[
    ("another key", || Change::Key),
    ("a bit of the body", || {
        Change::Body(|body, random| {
            if body.is_empty() {
                body.push(b'x');
            }
            let at = random.below(body.len());
            body[at] ^= 1 << random.below(8);
        })
    }),
    ("a byte behind the body", || {
        Change::Body(|body, random| body.push(*random.pick(b"\n \0}")))
    }),
    ("the last byte of the body", || {
        Change::Body(|body, _| {
            if body.pop().is_none() {
                body.push(b'x');
            }
        })
    }),
    ("a byte-order mark before the body", || {
        Change::Body(|body, _| {
            body.splice(0..0, *b"\xef\xbb\xbf");
        })
    }),
    ("a header dropped", || {
        Change::Head(|head, random| {
            head.remove(random.below(head.len()));
        })
    }),
    ("a header emptied", || {
        Change::Head(|head, random| {
            let at = random.below(head.len());
            head[at].1.clear();
        })
    }),
    ("a header in upper case", || {
        Change::Head(|head, random| {
            let at = random.below(head.len());
            head[at].0.make_ascii_uppercase();
        })
    }),
    ("a value in upper case", || {
        Change::Head(|head, random| {
            let at = random.below(head.len());
            head[at].1.make_ascii_uppercase();
        })
    }),
    ("a header repeated", || {
        Change::Head(|head, random| {
            let copy = random.pick(head).clone();
            head.push(copy);
        })
    }),
    ("a header repeated with another value", || {
        Change::Head(|head, random| {
            let mut copy = random.pick(head).clone();
            edit(&mut copy.1, random);
            let at = random.below(head.len() + 1);
            head.insert(at, copy);
        })
    }),
    ("a value cut short", || {
        Change::Head(|head, random| {
            let at = random.below(head.len());
            let len = random.below(head[at].1.len());
            head[at].1.truncate(len);
        })
    }),
    ("a character of a value", || {
        Change::Head(|head, random| {
            let at = random.below(head.len());
            edit(&mut head[at].1, random);
        })
    }),
    ("a character of the signature", || {
        Change::Head(|head, random| edit(&mut head[0].1, random))
    }),
];

/// Another moment, and other spellings of a moment.
const TIMES: &[Row] = &[
    ("another moment", || {
        Change::Parts(|parts, random| {
            const SKEWS: &[i64] = &[
                -86400, -600, -302, -301, -300, -299, 299, 300, 301, 302, 600, 86400,
            ];
            shift(parts, *random.pick(SKEWS));
        })
    }),
    ("a moment near the end of the window", || {
        Change::Parts(|parts, random| {
            let skew = i64::try_from(random.below(640)).unwrap_or(0) - 320;
            shift(parts, skew);
        })
    }),
    ("a timestamp spelled otherwise", || {
        Change::Parts(|parts, random| parts.stamp = respell(&parts.stamp, random))
    }),
    ("a timestamp spelled otherwise and signed so", || {
        Change::Parts(|parts, random| {
            parts.stamp = respell(&parts.stamp, random);
            parts.signed_stamp.clone_from(&parts.stamp);
        })
    }),
];

fn shift(parts: &mut Parts, by: i64) {
    let moment: i64 = parts.stamp.parse().unwrap_or(0);
    parts.stamp = (moment + by).to_string();
    parts.signed_stamp.clone_from(&parts.stamp);
}

fn respell(stamp: &str, random: &mut Random) -> String {
    match random.below(14) {
        0 => format!("+{stamp}"),
        1 => format!("-{stamp}"),
        2 => format!("0{stamp}"),
        3 => format!("{stamp}.0"),
        4 => format!("{stamp}.5"),
        5 => format!("{stamp}000"),
        6 => format!("{stamp}e0"),
        7 => format!("{stamp}x"),
        8 => format!("0x{:x}", stamp.parse::<i64>().unwrap_or(0)),
        9 => format!("{}_{}", &stamp[..1], &stamp[1..]),
        10 => "9".repeat(30),
        11 => "NaN".to_owned(),
        12 => format!("{}E{}", &stamp[..1], stamp.len() - 1),
        _ => stamp
            .chars()
            .map(|digit| char::from_u32(u32::from(digit) + 0x630).unwrap_or(digit))
            .collect(),
    }
}

fn own(scheme: Scheme) -> &'static [Row] {
    match scheme {
        Scheme::Discord | Scheme::Twilio => &[],
        Scheme::GitHub => GITHUB,
        Scheme::Slack => SLACK,
        Scheme::Standard => STANDARD,
        Scheme::Stripe => STRIPE,
    }
}

const GITHUB: &[Row] = &[
    ("no prefix", || {
        Change::Value(|value, _| value.replace("sha256=", ""))
    }),
    ("another prefix", || {
        Change::Value(|value, _| value.replace("sha256", "sha1"))
    }),
];

const SLACK: &[Row] = &[
    ("no prefix", || {
        Change::Value(|value, _| value.replace("v0=", ""))
    }),
    ("another version", || {
        Change::Value(|value, _| value.replace("v0", "v1"))
    }),
    ("two signatures", || {
        Change::Value(|value, _| format!("{value},{value}"))
    }),
];

const STANDARD: &[Row] = &[
    ("a strange signature first", || {
        Change::Value(|value, _| format!("v1,{} {value}", "A".repeat(43) + "="))
    }),
    ("a short signature first", || {
        Change::Value(|value, _| format!("v1,AAAA {value}"))
    }),
    ("an unreadable signature first", || {
        Change::Value(|value, _| format!("v1,A {value}"))
    }),
    ("an element without a mark first", || {
        Change::Value(|value, _| format!("v1 {value}"))
    }),
    ("another version first", || {
        Change::Value(|value, _| format!("v2,AAAA {value}"))
    }),
    ("another version", || {
        Change::Value(|value, _| value.replace("v1", "v2"))
    }),
    ("two spaces", || {
        Change::Value(|value, _| format!("v2,AAAA  {value}"))
    }),
    ("a comma between elements", || {
        Change::Value(|value, _| format!("v2,AAAA,{value}"))
    }),
    ("a second mark", || {
        Change::Value(|value, _| format!("{value},x"))
    }),
    ("no padding", || {
        Change::Value(|value, _| value.trim_end_matches('=').to_owned())
    }),
    ("another alphabet", || {
        Change::Value(|value, _| value.replace('+', "-").replace('/', "_"))
    }),
    ("an unused bit set", || {
        Change::Value(|value, random| {
            // 32 bytes are 43 letters, of which the last has two bits to spare.
            const LETTERS: &[u8] =
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            let mut bytes = value.as_bytes().to_vec();
            let at = bytes.len() - 2;
            let nth = LETTERS
                .iter()
                .position(|letter| *letter == bytes[at])
                .unwrap_or(0);
            bytes[at] = LETTERS[nth | (1 + random.below(3))];
            String::from_utf8(bytes).unwrap_or_default()
        })
    }),
    ("many signatures", || {
        Change::Value(|value, random| {
            let strange = format!("v1,{}= ", "A".repeat(43));
            strange.repeat(14 + random.below(4)) + value
        })
    }),
    ("a dot in the id", || {
        Change::Parts(|parts, _| parts.id.insert(4, '.'))
    }),
    ("a long id", || {
        Change::Parts(|parts, random| parts.id = "x".repeat(254 + random.below(4)))
    }),
];

const STRIPE: &[Row] = &[
    ("elements in another order", || {
        Change::Value(|value, _| {
            let mut elements: Vec<_> = value.split(',').collect();
            elements.reverse();
            elements.join(",")
        })
    }),
    ("spaces between elements", || {
        Change::Value(|value, _| value.replace(',', ", "))
    }),
    ("a space in an element", || {
        Change::Value(|value, random| {
            value.replace('=', if random.below(2) == 0 { "= " } else { " =" })
        })
    }),
    ("an unknown element", || {
        Change::Value(|value, random| {
            format!("{}{value}", random.pick(&["v0=abc,", "x=y,", "v2=,"]))
        })
    }),
    ("an element without a name", || {
        Change::Value(|value, random| match random.below(3) {
            0 => format!("{value},"),
            1 => format!(",{value}"),
            _ => format!("{value},v1"),
        })
    }),
    ("a strange signature first", || {
        Change::Value(|value, _| value.replace(",v1=", &format!(",v1={},v1=", "0".repeat(64))))
    }),
    ("a short signature first", || {
        Change::Value(|value, _| value.replace(",v1=", ",v1=00,v1="))
    }),
    ("many signatures", || {
        Change::Value(|value, random| {
            let strange = format!(",v1={}", "0".repeat(64)).repeat(14 + random.below(4));
            value.replace(",v1=", &format!("{strange},v1="))
        })
    }),
    ("a second timestamp", || {
        Change::Value(|value, random| {
            let stamp = value.split(',').next().unwrap_or_default();
            match random.below(4) {
                0 => format!("{value},{stamp}"),
                1 => format!("{stamp},{value}"),
                2 => format!("{value},t=1"),
                _ => format!("t=1,{value}"),
            }
        })
    }),
    ("a value with a second mark", || {
        Change::Value(|value, _| format!("{value}=x"))
    }),
    ("no timestamp", || {
        Change::Value(|value, _| {
            value
                .split_once(',')
                .map_or("", |(_, rest)| rest)
                .to_owned()
        })
    }),
];
