//! What is printed: text for people, one JSON value for programs, and nothing that a terminal would obey.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::fault::Fault;

/// How to print.
#[derive(Debug, Clone, Args)]
pub(crate) struct Output {
    /// Print JSON to standard output instead of text: one value, or one a line from commands that go on
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Colour: `auto` is on a terminal and without `NO_COLOR`
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        value_name = "WHEN"
    )]
    color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// What a text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Bad,
    Dim,
    Good,
    Note,
    Strong,
}

impl Output {
    /// Print the one or the other.
    pub(crate) fn show(&self, value: &Value, text: impl FnOnce(&Self) -> String) {
        if self.json {
            say(&value.to_string());
        } else {
            say(text(self).trim_end());
        }
    }

    /// Say why it failed.
    pub(crate) fn fault(&self, fault: &Fault) {
        if matches!(fault, Fault::Negative) {
            return;
        }
        if self.json {
            let value = json!({"error": fault.to_string(), "exit": fault.code()});
            say(&value.to_string());
        } else {
            say_aside(&format!("error: {fault}"));
        }
    }

    /// `text`, coloured where that is wanted.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.has_colour() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Bad => "31",
            Tone::Dim => "2",
            Tone::Good => "32",
            Tone::Note => "33",
            Tone::Strong => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    fn has_colour(&self) -> bool {
        match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && io::stdout().is_terminal()
            }
        }
    }
}

/// Print one line. A reader that has gone is no fault of ours.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Print bytes as they are.
pub(crate) fn say_raw(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Tell a person something that is no result.
pub(crate) fn say_aside(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// `bytes` as text that a terminal shows and does not obey: control characters are escaped, but for line ends and tabs.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for char in String::from_utf8_lossy(bytes).chars() {
        match char {
            '\n' | '\t' => out.push(char),
            char if char.is_control() || is_bidi(char) => {
                let _ = write!(out, "{}", char.escape_unicode());
            }
            char => out.push(char),
        }
    }
    out
}

/// Characters that reorder the text around them.
fn is_bidi(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns as wide as their widest cell, two spaces apart.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, &width)| format!("{cell:width$}"))
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing() {
        assert_eq!(printable(b"a\x1b[2Jb\tc\n"), "a\\u{1b}[2Jb\tc\n");
        assert_eq!(printable("x\u{202e}y".as_bytes()), "x\\u{202e}y");
        assert_eq!(printable(b"\xff\r"), "\u{fffd}\\u{d}");
    }
}
