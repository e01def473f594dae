//! JSON written again as others write it: members in their order, numbers as spelled, only what a serialiser changes.

use std::fmt::Write as _;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 64;

/// A JSON text whose numbers and order are kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
    /// A number, `true`, `false` or `null`, as spelled.
    Plain(String),
    Text(String),
}

/// How a serialiser writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) layout: Layout,
    pub(crate) sorted: bool,
    pub(crate) escapes: Escapes,
}

/// White space between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// None.
    Compact,
    /// A space behind `,` and `:`.
    Spaced,
    /// A line each, indented by so many spaces; 0 is a tab.
    Pretty(usize),
}

/// What is escaped in strings, beyond what must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Escapes {
    /// Everything outside ASCII, as `\u00e9`.
    pub(crate) non_ascii: bool,
    /// `/`, as `\/`.
    pub(crate) slash: bool,
    /// `<`, `>` and `&`, as `\u003c`.
    pub(crate) html: bool,
}

impl Json {
    /// Read a JSON text; a byte-order mark before it is skipped.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader { rest: text };
        let value = reader.value(0)?;
        reader.space();
        reader.rest.is_empty().then_some(value)
    }

    /// Write it.
    pub(crate) fn write(&self, style: Style) -> String {
        let mut out = String::new();
        self.write_at(&mut out, style, 0);
        out
    }

    fn write_at(&self, out: &mut String, style: Style, depth: usize) {
        let inner = depth.saturating_add(1);
        match self {
            Self::Plain(text) => out.push_str(text),
            Self::Text(text) => write_text(out, text, style.escapes),
            Self::Array(items) if items.is_empty() => out.push_str("[]"),
            Self::Object(members) if members.is_empty() => out.push_str("{}"),
            Self::Array(items) => {
                out.push('[');
                for (nth, item) in items.iter().enumerate() {
                    style.layout.before(out, nth, inner);
                    item.write_at(out, style, inner);
                }
                style.layout.close(out, depth);
                out.push(']');
            }
            Self::Object(members) => {
                let mut members: Vec<&(String, Self)> = members.iter().collect();
                if style.sorted {
                    members.sort_by(|(one, _), (other, _)| one.cmp(other));
                }
                out.push('{');
                for (nth, (name, value)) in members.into_iter().enumerate() {
                    style.layout.before(out, nth, inner);
                    write_text(out, name, style.escapes);
                    out.push_str(if style.layout == Layout::Compact {
                        ":"
                    } else {
                        ": "
                    });
                    value.write_at(out, style, inner);
                }
                style.layout.close(out, depth);
                out.push('}');
            }
        }
    }
}

impl Layout {
    fn before(self, out: &mut String, nth: usize, depth: usize) {
        if nth > 0 {
            out.push_str(if self == Self::Spaced { ", " } else { "," });
        }
        self.line(out, depth);
    }

    fn close(self, out: &mut String, depth: usize) {
        self.line(out, depth);
    }

    fn line(self, out: &mut String, depth: usize) {
        if let Self::Pretty(width) = self {
            let indent = if width == 0 {
                "\t".to_owned()
            } else {
                " ".repeat(width)
            };
            out.push('\n');
            out.push_str(&indent.repeat(depth));
        }
    }
}

fn write_text(out: &mut String, text: &str, escapes: Escapes) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '/' if escapes.slash => out.push_str("\\/"),
            '<' | '>' | '&' if escapes.html => write_escape(out, char),
            char if u32::from(char) < 0x20 => write_escape(out, char),
            char if escapes.non_ascii && !char.is_ascii() => write_escape(out, char),
            char => out.push(char),
        }
    }
    out.push('"');
}

fn write_escape(out: &mut String, char: char) {
    for unit in char.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, token: char) -> Option<()> {
        self.space();
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.space();
        let inner = depth.saturating_add(1);
        match self.rest.chars().next()? {
            '{' => {
                self.eat('{')?;
                let mut members = Vec::new();
                if self.eat('}').is_some() {
                    return Some(Json::Object(members));
                }
                loop {
                    self.space();
                    let name = self.text()?;
                    self.eat(':')?;
                    members.push((name, self.value(inner)?));
                    if self.eat(',').is_none() {
                        self.eat('}')?;
                        return Some(Json::Object(members));
                    }
                }
            }
            '[' => {
                self.eat('[')?;
                let mut items = Vec::new();
                if self.eat(']').is_some() {
                    return Some(Json::Array(items));
                }
                loop {
                    items.push(self.value(inner)?);
                    if self.eat(',').is_none() {
                        self.eat(']')?;
                        return Some(Json::Array(items));
                    }
                }
            }
            '"' => self.text().map(Json::Text),
            _ => self.plain(),
        }
    }

    fn plain(&mut self) -> Option<Json> {
        let end = self
            .rest
            .find(|char: char| !char.is_ascii_alphanumeric() && !"+-.".contains(char));
        let (word, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        // A number is kept as spelled; whether it is one, another reader knows.
        serde_json::from_str::<&serde_json::value::RawValue>(word).ok()?;
        self.rest = rest;
        Some(Json::Plain(word.to_owned()))
    }

    fn text(&mut self) -> Option<String> {
        let mut is_escaped = false;
        let inside = self.rest.strip_prefix('"')?;
        let end = inside.find(|char| {
            let ends = char == '"' && !is_escaped;
            is_escaped = char == '\\' && !is_escaped;
            ends
        })?;
        let (literal, rest) = self.rest.split_at_checked(end.saturating_add(2))?;
        self.rest = rest;
        serde_json::from_str(literal).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Escapes = Escapes {
        non_ascii: false,
        slash: false,
        html: false,
    };

    fn again(text: &str, layout: Layout, sorted: bool, escapes: Escapes) -> String {
        Json::read(text.as_bytes()).unwrap().write(Style {
            layout,
            sorted,
            escapes,
        })
    }

    #[test]
    fn only_what_the_style_says_changes() {
        let text = r#" {"b" : [1.0, 1e3, -0, {}], "a":"\u00e9\/\u003c\ud83d\ude00" } "#;
        assert_eq!(
            again(text, Layout::Compact, false, PLAIN),
            r#"{"b":[1.0,1e3,-0,{}],"a":"é/<😀"}"#
        );
        assert_eq!(
            again(
                text,
                Layout::Spaced,
                true,
                Escapes {
                    non_ascii: true,
                    slash: true,
                    html: true
                }
            ),
            r#"{"a": "\u00e9\/\u003c\ud83d\ude00", "b": [1.0, 1e3, -0, {}]}"#
        );
        assert_eq!(
            again("[1,{\"a\":[]}]", Layout::Pretty(2), false, PLAIN),
            "[\n  1,\n  {\n    \"a\": []\n  }\n]"
        );
        assert_eq!(again("[1]", Layout::Pretty(0), false, PLAIN), "[\n\t1\n]");
    }

    #[test]
    fn what_is_no_json_is_not_read() {
        for bad in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "nul",
            "01",
            "\"\\x\"",
            "\"a",
            "1 2",
            "{\"a\":1,}",
        ] {
            assert_eq!(Json::read(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(Json::read("[".repeat(1000).as_bytes()), None);
    }
}
