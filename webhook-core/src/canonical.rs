//! The canonical fingerprint of a JSON text: equal content, equal digest.

use sha2::{Digest, Sha256};

/// Fingerprint what `json` says, however it is spelled.
///
/// Used only when two deliveries of one event differ in raw bytes, to decide whether
/// they carry the same content. `None` means the text cannot be read: the caller then
/// compares raw bytes.
///
/// These do not matter: white space, one leading byte order mark, the order of
/// an object's members, escapes in strings (`\u0041` is `A`), the spelling of numbers
/// (`1.0`, `10e-1` and `1` are one number, so are `-0` and `0`). Everything else does:
/// numbers are exact decimals, strings are not normalised, a lone surrogate differs
/// from U+FFFD, and members with the same key are all kept, in their order.
///
/// `volatile` lists paths of object keys from the root, such as `["data", "attempt"]`;
/// the members found there are read but left out. An array element matches no step of
/// a path. Only digests made with the same list can be compared.
///
/// Takes a text that is UTF-8 and RFC 8259, with at most 512 containers inside one
/// another and exponents that, normalised, fit `i64`. Time is linear in the text but
/// for sorting keys; there is no recursion and no number is expanded.
pub fn canonical_digest(json: &[u8], volatile: &[&[&str]]) -> Option<[u8; 32]> {
    let text = str::from_utf8(json).ok()?;
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut text = Scanner { rest };
    let mut open = Vec::new();
    loop {
        // A value begins here: a container with something in it stays open, ..
        let mut value = if let Some(mut container) = text.opening() {
            if open.len() >= MAX_DEPTH {
                return None;
            }
            if text.eat(container.close()) {
                container.digest()
            } else {
                container.begin_item(&mut text)?;
                open.push(container);
                continue;
            }
        } else {
            text.scalar()?
        };
        // .. any other value is complete, and with it every container that ends here.
        loop {
            let left_out = volatile.iter().any(|path| is_at(path, &open));
            let Some(container) = open.last_mut() else {
                return text.is_at_end().then_some(value);
            };
            if !left_out {
                container.end_item(value);
            }
            if text.eat(',') {
                container.begin_item(&mut text)?;
                break;
            }
            if !text.eat(container.close()) {
                return None;
            }
            value = open.pop()?.digest();
        }
    }
}

/// An array or object whose end has not been read.
///
/// Values inside are already digests of fixed length, so that sorting members moves
/// no text and the boundaries between them need no marks.
enum Container {
    Array {
        elements: Sha256,
    },
    Object {
        /// The key of the member being read.
        key: Vec<u8>,
        members: Vec<(Vec<u8>, [u8; 32])>,
    },
}

impl Container {
    /// Read what comes before the value of an item: the key, in an object.
    fn begin_item(&mut self, text: &mut Scanner<'_>) -> Option<()> {
        if let Self::Object { key, .. } = self {
            *key = text.key()?;
        }
        Some(())
    }

    fn end_item(&mut self, value: [u8; 32]) {
        match self {
            Self::Array { elements } => elements.update(value),
            Self::Object { key, members } => members.push((std::mem::take(key), value)),
        }
    }

    fn close(&self) -> char {
        match self {
            Self::Array { .. } => ']',
            Self::Object { .. } => '}',
        }
    }

    fn has_key(&self, wanted: &str) -> bool {
        matches!(self, Self::Object { key, .. } if key == wanted.as_bytes())
    }

    fn digest(self) -> [u8; 32] {
        let hash = match self {
            Self::Array { elements } => elements,
            Self::Object { mut members, .. } => {
                // Stable: members with the same key keep their order.
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                let mut hash = tagged('{');
                for (key, value) in members {
                    hash.update(Sha256::digest(key));
                    hash.update(value);
                }
                hash
            }
        };
        hash.finalize().into()
    }
}

/// Whether the member being read, innermost of `open`, is the one `path` names.
fn is_at(path: &[&str], open: &[Container]) -> bool {
    path.len() == open.len() && path.iter().zip(open).all(|(key, at)| at.has_key(key))
}

/// The part of the text not read yet.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn opening(&mut self) -> Option<Container> {
        if self.eat('[') {
            let elements = tagged('[');
            Some(Container::Array { elements })
        } else if self.eat('{') {
            let (key, members) = (Vec::new(), Vec::new());
            Some(Container::Object { key, members })
        } else {
            None
        }
    }

    fn scalar(&mut self) -> Option<[u8; 32]> {
        let hash = if self.eat('"') {
            tagged('"').chain_update(self.string()?)
        } else if let Some(word) = WORDS.into_iter().find(|w| self.rest.starts_with(w)) {
            self.rest = self.rest.strip_prefix(word)?;
            tagged('w').chain_update(word)
        } else {
            self.number()?
        };
        Some(hash.finalize().into())
    }

    fn key(&mut self) -> Option<Vec<u8>> {
        if !self.eat('"') {
            return None;
        }
        let key = self.string()?;
        self.eat(':').then_some(key)
    }

    /// Read up to and with the closing quote, as WTF-8: UTF-8 in which a surrogate
    /// without its partner, which only an escape can spell, takes three bytes.
    fn string(&mut self) -> Option<Vec<u8>> {
        let mut unescaped = Vec::new();
        loop {
            let plain = self.take_until(|c| matches!(c, '"' | '\\' | '\0'..='\x1f'));
            unescaped.extend_from_slice(plain.as_bytes());
            match self.next()? {
                '"' => return Some(unescaped),
                '\\' => self.escape(&mut unescaped)?,
                _ => return None,
            }
        }
    }

    fn escape(&mut self, unescaped: &mut Vec<u8>) -> Option<()> {
        unescaped.push(match self.next()? {
            '"' => b'"',
            '\\' => b'\\',
            '/' => b'/',
            'b' => 0x08,
            'f' => 0x0c,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'u' => return self.utf16(unescaped),
            _ => return None,
        });
        Some(())
    }

    /// Read a run of `\uXXXX` of which the first `\u` has been read.
    fn utf16(&mut self, unescaped: &mut Vec<u8>) -> Option<()> {
        let mut units = vec![self.hex4()?];
        while let Some(rest) = self.rest.strip_prefix("\\u") {
            self.rest = rest;
            units.push(self.hex4()?);
        }
        for decoded in char::decode_utf16(units) {
            match decoded {
                Ok(c) => unescaped.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(lone) => {
                    let [high, low] = lone.unpaired_surrogate().to_be_bytes();
                    let middle = 0x80 | (high & 0x0f) << 2 | low >> 6;
                    unescaped.extend([0xed, middle, 0x80 | low & 0x3f]);
                }
            }
        }
        Some(())
    }

    fn hex4(&mut self) -> Option<u16> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        // `from_str_radix` alone would take a sign.
        let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    }

    fn number(&mut self) -> Option<Sha256> {
        // Input:  -0.0120e+3
        let token = self.take_until(|c| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let magnitude = token.strip_prefix('-').unwrap_or(token);
        let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
        if has_leading_zero || ![whole, fraction, unsigned].into_iter().all(is_digits) {
            return None;
        }
        let digits = [whole, fraction].concat();
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Some(tagged('0'));
        }
        // The number is 0.DIGITS times ten to the power of this.
        let power = (exponent.parse::<i64>().ok()?)
            .checked_add(i64::try_from(digits.len()).ok()?)?
            .checked_sub(i64::try_from(fraction.len()).ok()?)?;
        // Output: - 2 12
        let sign = if token == magnitude { '+' } else { '-' };
        let hash = tagged(sign).chain_update(power.to_be_bytes());
        Some(hash.chain_update(digits.trim_end_matches('0')))
    }

    fn take_until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    /// Skip white space, then `token` if it is there.
    fn eat(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start_matches(WHITE_SPACE);
        let after = self.rest.strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn is_at_end(&self) -> bool {
        self.rest.trim_start_matches(WHITE_SPACE).is_empty()
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Begin the hash of a value; every kind of value has its own `tag`.
fn tagged(tag: char) -> Sha256 {
    Sha256::new_with_prefix(tag.encode_utf8(&mut [0; 4]))
}

const MAX_DEPTH: usize = 512;
const WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
const WORDS: [&str; 3] = ["false", "null", "true"];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::*;

    fn digest(json: impl AsRef<[u8]>) -> Option<[u8; 32]> {
        canonical_digest(json.as_ref(), &[])
    }

    #[test]
    fn spelling_does_not_matter() {
        for (one, others) in [
            ("1", &["1.0", "10e-1", "1.0e0", "1E+000", "0.1e1"][..]),
            ("0", &["-0", "0.0", "0e5", "-0.0E-99999999999999999999"]),
            ("-120.5", &["-1205e-1", "-0.12050e3"]),
            ("1e400", &["10e399", "0.0001E+404"]),
            ("1e999999999", &["1000e999999996"]),
            (r#""A/\u001b\n""#, &[r#""\u0041\/\u001B\u000a""#]),
            (r#""😀é""#, &[r#""\uD83D\ude00\u00e9""#]),
            (r#""\"\\\b\f\r\t""#, &[r#""\u0022\u005c\u0008\u000c\r\t""#]),
            ("[1,{}]", &["\u{feff}[1,{}]", " [ 1\n,\t{\r}\n] "]),
            (r#"{"a":1,"b":2}"#, &[r#"{ "\u0062" :2,"a":1}"#]),
            (r#"{"x":1,"a":2,"x":3}"#, &[r#"{"x":1,"x":3,"a":2}"#]),
        ] {
            assert!(digest(one).is_some(), "{one}");
            for other in others {
                assert_eq!(digest(one), digest(other), "{other}");
            }
        }
    }

    #[test]
    fn members_with_one_key_keep_their_order() {
        let members = |key: &str| {
            (0..64)
                .map(|i| format!(r#""{key}":{i}"#))
                .collect::<Vec<_>>()
        };
        let (a, x) = (members("a"), members("x"));
        let mixed: Vec<_> = x.iter().zip(&a).map(|(x, a)| format!("{x},{a}")).collect();
        let object = |members: &[String]| digest(format!("{{{}}}", members.join(",")));
        assert_eq!(object(&mixed), object(&[a, x].concat()));
    }

    #[test]
    fn content_matters() {
        let texts = r#"
            null true false 0 1 -1 10 12 0.1 1e1000 1e1001 9007199254740993.0 9007199254740992
            123456789012345678901234567890 123456789012345678901234567891
            [] {} [[]] [{}] [[],[]] [[[]]] [[[],[]]] [[1],2] [[1,2]] [1,[2]] [1,2] [2,1] [12] [0]
            "" "0" "1" "null" "[]" [""] ["",""] ["",1] ["a","b"] ["ab"] ["a,b"] ["\u0000"]
            {"":1} {"":""} {"1":""} {"a":"b"} {"ab":""} {"a":[]} {"a":{}} {"a":{"b":1}}
            {"a":{},"b":1} {"a":1} {"a":[1]} {"a":1,"a":1} {"a":1,"a":2} {"a":2,"a":1}
            {"a":1,"b":2} {"a":2,"b":1} [{"a":1,"b":2}] [{"a":1},{"b":2}]
            "\u00e9" "e\u0301" "\ufffd" "\ud800" "\ud840" "\udc00" "\udbff" "\ud800\ud800\udc00"
            "\ud800\udc00" "\udc00\ud800" "\ud800\u0041"
        "#;
        let texts: Vec<_> = texts.split_whitespace().collect();
        let digests: BTreeSet<_> = texts.iter().filter_map(digest).collect();
        assert_eq!(digests.len(), texts.len());
    }

    #[test]
    fn what_is_not_json_has_no_digest() {
        let texts = r#"
            truex tru True NaN ' 'a' [1,] [,1] [1]] [ ] [} {] { {,} {"a"} {"a":} {"a":1,} {1:1}
            +1 01 -01 00 - --1 1-1 .5 5. 1.e1 1e 1e+ 1e+-1 1e1.5 1e1e1 1.1.1 0x1 1//
            1e9223372036854775808 1e9223372036854775807
            " "\" "\x" "\u" "\u12" "\u+123" "\u123g" "\u12é4" "\ud800\u"
        "#;
        let spaced = ["", " ", "1 2", "[] x", "[1 2]", r#"{"a" 1}"#, "\u{a0}1"];
        let bytes = ["\"\n\"", "\"\0\"", "\"\x1f\"", "\x0c1", "\u{feff}\u{feff}1"];
        for text in texts.split_whitespace().chain(spaced).chain(bytes) {
            assert_eq!(digest(text), None, "{text}");
        }
        // What is not UTF-8 could pass for the encoding of a lone surrogate.
        assert_eq!(digest(b"\"\xed\xa0\x80\""), None);
    }

    #[test]
    fn volatile_members_are_left_out() {
        let volatile: &[&[&str]] = &[&["pending"], &["data", "attempt"], &[]];
        let digest = |json: &str| canonical_digest(json.as_bytes(), volatile);
        let kept = digest(r#"{"data":{"id":7}}"#);
        assert!(kept.is_some());
        for same in [
            r#"{"pending":[{"x":1}],"data":{"id":7,"attempt":3}}"#,
            r#"{"pendin\u0067":1,"data":{"attempt":{},"id":7},"pending":2}"#,
        ] {
            assert_eq!(digest(same), kept, "{same}");
        }
        for other in [
            r#"{"data":{"id":7,"pending":1}}"#,
            r#"{"data":{"id":7},"attempt":1}"#,
            r#"{"data":{"id":7},"Pending":1}"#,
            r#"{"data":{"id":7,"x":{"attempt":1}}}"#,
            r#"{"data":[{"id":7,"attempt":1}]}"#,
        ] {
            assert_ne!(digest(other), kept, "{other}");
        }
        assert_ne!(digest(r#"[{"pending":1}]"#), digest(r#"[{"pending":2}]"#));
        assert_eq!(digest(r#"{"pending":01,"data":{"id":7}}"#), None);
    }

    /// Digests are stored: in another form, old content would look changed.
    #[test]
    fn form_is_stable() {
        let text = r#"{"b":[null,true,-12.50,0],"a":"\ud800"}"#;
        let hex = digest(text).map(|d| d.map(|byte| format!("{byte:02x}")).concat());
        assert_eq!(
            hex.as_deref(),
            Some("e5928c253ea57b07217f090675a9d01078843fcc4eba8506a985ec194e7411b5")
        );
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(digest(nested(512)).is_some());
        assert_eq!(digest(nested(513)), None);
        assert_eq!(digest("[".repeat(1 << 20)), None);
        assert_eq!(digest(r#"{"":"#.repeat(1 << 18)), None);
    }

    /// Anything quadratic would take minutes here.
    #[test]
    fn length_is_not_bounded() {
        let array = |item: &str| format!("[{}{item}]", format!("{item},").repeat(1 << 16));
        let members: Vec<_> = (0..1 << 16).map(|i| format!(r#""{i:x>32}":{i}"#)).collect();
        for text in [
            array("[[{}]]"),
            array(r#""\ud800""#),
            format!("{{{}}}", members.join(",")),
            format!("1{}e-1", "0".repeat(1 << 20)),
            format!(r#""{}""#, r"\ud83d\ude00".repeat(1 << 16)),
            format!("[{}]", " ".repeat(1 << 20)),
        ] {
            assert!(digest(text).is_some());
        }
    }

    #[derive(Clone, Debug, PartialEq)]
    enum Json {
        Array(Vec<Self>),
        Int(i64),
        Null,
        Object(BTreeMap<String, Self>),
        Text(String),
    }

    impl Json {
        fn any() -> impl Strategy<Value = Self> {
            let text = || prop_oneof!["[ab]?", any::<String>()];
            let int = prop_oneof![-2..3_i64, any::<i64>()];
            let leaf = prop_oneof![
                int.prop_map(Self::Int),
                Just(Self::Null),
                text().prop_map(Self::Text),
            ];
            leaf.prop_recursive(4, 32, 4, move |inner| {
                prop_oneof![
                    vec(inner.clone(), 0..4).prop_map(Self::Array),
                    btree_map(text(), inner, 0..4).prop_map(Self::Object),
                ]
            })
        }

        /// Change one value, here or further in.
        fn change(&mut self, rng: &mut impl Rng) {
            let inner = match self {
                Self::Array(items) => items.iter_mut().find(|_| coin(rng)),
                Self::Object(members) => members.values_mut().find(|_| coin(rng)),
                _ => None,
            };
            if let Some(inner) = inner {
                return inner.change(rng);
            }
            match self {
                Self::Int(int) => *int = int.wrapping_add(1),
                Self::Text(text) => text.push('x'),
                _ => *self = Self::Array(vec![self.clone()]),
            }
        }

        /// Spell this as `rng` likes.
        fn render(&self, rng: &mut impl Rng) -> String {
            let text = match self {
                Self::Array(items) => {
                    let items: Vec<_> = items.iter().map(|item| item.render(rng)).collect();
                    format!("[{}]", items.join(","))
                }
                Self::Int(int) if coin(rng) => format!("{int}.0E+0"),
                Self::Int(int) => int.to_string(),
                Self::Null => "null".to_owned(),
                Self::Object(members) => {
                    let member = |(key, value): (&String, &Self)| {
                        format!("{}:{}", quote(key, rng), value.render(rng))
                    };
                    let mut members: Vec<_> = members.iter().map(member).collect();
                    members.sort_by_cached_key(|_| rng.next_u32());
                    format!("{{{}}}", members.join(","))
                }
                Self::Text(text) => quote(text, rng),
            };
            let space = if coin(rng) { " \r\n\t" } else { "" };
            format!("{space}{text}{space}")
        }
    }

    fn quote(text: &str, rng: &mut impl Rng) -> String {
        let mut quoted = String::new();
        for c in text.chars() {
            if c >= ' ' && c != '"' && c != '\\' && coin(rng) {
                quoted.push(c);
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                let hex = format!("{unit:04x}");
                quoted += r"\u";
                quoted += &if coin(rng) { hex.to_uppercase() } else { hex };
            }
        }
        format!(r#""{quoted}""#)
    }

    fn coin(rng: &mut impl Rng) -> bool {
        rng.next_u32().is_multiple_of(2)
    }

    proptest! {
        #[test]
        fn digest_follows_content(texts in Json::any().prop_perturb(|mut json, mut rng| {
            let (one, same) = (json.render(&mut rng), json.render(&mut rng));
            json.change(&mut rng);
            [one, same, json.render(&mut rng)]
        })) {
            let [one, same, other] = texts.map(digest);
            prop_assert!(one.is_some() && other.is_some());
            prop_assert_eq!(one, same);
            prop_assert_ne!(one, other);
        }

        #[test]
        fn any_bytes_are_survived(
            bytes in vec(any::<u8>(), 0..64),
            text in r#"([\[\]{}:," \\u0-9a-f+.eE-]|"a":|\\ud8|true){0,32}"#,
        ) {
            let _ = (digest(bytes), digest(text));
        }
    }
}
