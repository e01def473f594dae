//! The frame around a certificate, RFC 7468.

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The base64 of the first certificate, without its line breaks. Whether it is one is judged by whoever reads it.
pub(crate) fn first_certificate(pem: &[u8]) -> Option<String> {
    // The end may be cut off, within a character.
    let end = find(pem, END.as_bytes())?;
    let text = std::str::from_utf8(pem.get(..end)?).ok()?;
    let (_, base64) = text.split_once(BEGIN)?;
    let is_break = |byte: char| matches!(byte, '\r' | '\n');
    Some(base64.split(is_break).collect())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|found| found == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_chain_is_found() {
        let one = |text: &str| format!("{BEGIN}\n{text}\n{END}\n");
        let chain = format!("# a leaf\r\n{}{}", one("AA\r\nBB"), one("CC"));
        assert_eq!(first_certificate(chain.as_bytes()).unwrap(), "AABB");
        let cut_off = [&chain.as_bytes()[..chain.len() - 40], b"\xe2\x82"].concat();
        assert_eq!(first_certificate(&cut_off).unwrap(), "AABB");
        for other in [
            "",
            "AABB",
            BEGIN,
            END,
            &format!("{END}{BEGIN}AA{END}"),
            &one("\u{e4}").replace(END, ""),
        ] {
            assert_eq!(first_certificate(other.as_bytes()), None, "{other}");
        }
    }
}
