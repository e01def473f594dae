//! HubSpot's spelling of a URL.

/// Undo the escapes that HubSpot undoes before it signs, and no others.
pub(crate) fn decode(url: &str) -> String {
    let mut decoded = String::with_capacity(url.len());
    let mut parts = url.split('%');
    decoded.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let escape = part.get(..2).unwrap_or_default();
        let known = DECODED.iter().find(|(digits, _)| *digits == escape);
        decoded.push(known.map_or('%', |(_, mark)| *mark));
        decoded.push_str(known.map_or(part, |_| part.get(2..).unwrap_or_default()));
    }
    decoded
}

const DECODED: [(&str, char); 12] = [
    ("21", '!'),
    ("24", '$'),
    ("27", '\''),
    ("28", '('),
    ("29", ')'),
    ("2A", '*'),
    ("2C", ','),
    ("2F", '/'),
    ("3A", ':'),
    ("3B", ';'),
    ("3F", '?'),
    ("40", '@'),
];

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn the_listed_escapes_are_undone_once() {
        for (url, decoded) in [
            ("https://a/b?c=d", "https://a/b?c=d"),
            ("%3A%2F%3F%40%21%24%27%28%29%2A%2C%3B", ":/?@!$'()*,;"),
            ("%20%26%25%2B%3D%23", "%20%26%25%2B%3D%23"),
            ("%253A", "%253A"),
            ("%3a", "%3a"),
            ("a%", "a%"),
            ("a%3", "a%3"),
            ("%%3A", "%:"),
            ("", ""),
        ] {
            assert_eq!(decode(url), decoded);
        }
    }
}
