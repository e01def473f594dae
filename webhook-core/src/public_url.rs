//! The URL a sender used, for schemes that sign it: from configuration and the request's target, never from `Host` or
//! `X-Forwarded-*`, which say what the sender likes.

use crate::bounds::MAX_TARGET_BYTES;
use crate::head::{Head, Malformed};

/// Where an endpoint is reached from outside: an origin, and what a proxy does to paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: Scheme,
    host: String,
    port: Option<u16>,
    /// The path's beginning as a proxy passes it on, and as senders write it.
    rewrite: Option<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

/// Why a public URL is refused, at start-up.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PublicUrlError {
    /// Not `https://host`, perhaps with a port: in lower case, without user, path, query or fragment.
    #[error("public origin is not `https://host` or `https://host:port`")]
    Origin,
    /// A path prefix that does not begin with `/`, ends with one, or holds what no path does.
    #[error("path prefix is not empty and not `/name` or `/several/names`")]
    Prefix,
}

impl PublicUrl {
    /// An endpoint whose origin senders write so: `https://shop.example`, or with a port.
    ///
    /// `http://` is accepted for tunnels and tests. The host is compared byte for byte; senders write it in lower case.
    ///
    /// # Errors
    ///
    /// [`PublicUrlError::Origin`].
    pub fn new(origin: &str) -> Result<Self, PublicUrlError> {
        let fault = PublicUrlError::Origin;
        let (scheme, authority) = origin.split_once("://").ok_or(fault)?;
        let scheme = match scheme {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err(fault),
        };
        let ends_in_bracket = authority.ends_with(']');
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !ends_in_bracket => (host, Some(read_port(port).ok_or(fault)?)),
            _ => (authority, None),
        };
        if !is_host(host) {
            return Err(fault);
        }
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port,
            rewrite: None,
        })
    }

    /// A proxy passes on paths that begin with `outer` as ones that begin with `inner`; either may be empty.
    ///
    /// A request whose path does not begin with `inner` came some other way and is malformed.
    ///
    /// # Errors
    ///
    /// [`PublicUrlError::Prefix`].
    pub fn rewritten(mut self, outer: &str, inner: &str) -> Result<Self, PublicUrlError> {
        if !is_prefix(outer) || !is_prefix(inner) {
            return Err(PublicUrlError::Prefix);
        }
        self.rewrite = Some((inner.to_owned(), outer.to_owned()));
        Ok(self)
    }

    /// The URL of this request, with a port exactly if the origin has one.
    ///
    /// # Errors
    ///
    /// [`Malformed::Target`] for what is no path and query of visible characters that stand in URLs, or longer than
    /// [`MAX_TARGET_BYTES`].
    pub fn of(&self, head: &Head<'_>) -> Result<String, Malformed> {
        self.join(head.target(), self.port)
    }

    /// The same without a port and with one: the scheme's own where the origin has none. For senders that are not of one
    /// mind which of them they sign.
    ///
    /// # Errors
    ///
    /// As [`PublicUrl::of`].
    pub fn without_and_with_port(&self, head: &Head<'_>) -> Result<[String; 2], Malformed> {
        let port = self.port.unwrap_or(match self.scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        });
        Ok([
            self.join(head.target(), None)?,
            self.join(head.target(), Some(port))?,
        ])
    }

    fn join(&self, target: &str, port: Option<u16>) -> Result<String, Malformed> {
        if !target.starts_with('/') || target.len() > MAX_TARGET_BYTES || !is_url_text(target) {
            return Err(Malformed::Target);
        }
        let (outer, rest) = match &self.rewrite {
            None => ("", target),
            Some((inner, outer)) => {
                let rest = target.strip_prefix(&**inner).ok_or(Malformed::Target)?;
                if !rest.is_empty() && !rest.starts_with(['/', '?']) {
                    return Err(Malformed::Target);
                }
                (&**outer, rest)
            }
        };
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(format!("{scheme}://{}{port}{outer}{rest}", self.host))
    }
}

/// A port in canonical decimal.
fn read_port(text: &str) -> Option<u16> {
    let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_canonical)
}

fn is_host(host: &str) -> bool {
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    if let Some(address) = bare {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(allowed);
    host.len() <= 253 && host.split('.').all(is_label)
}

fn is_prefix(path: &str) -> bool {
    path.is_empty()
        || (path.starts_with('/')
            && !path.ends_with('/')
            && !path.contains('?')
            && is_url_text(path))
}

/// Only characters that RFC 3986 lets stand in a path or a query. No bracket, brace or quote among them: with a body that
/// is joined to the URL, none of its bytes can pass for the URL's.
fn is_url_text(text: &str) -> bool {
    let marks = b"-._~!$&'()*+,;=:@/?%";
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || marks.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &PublicUrl, target: &str) -> Result<String, Malformed> {
        url.of(&Head::new("POST", target, []).unwrap())
    }

    #[test]
    fn origins_are_read_strictly() {
        for good in [
            "https://shop.example",
            "http://localhost:8080",
            "https://[::1]",
            "https://[2001:db8::1]:8443",
            "https://10.0.0.1:1",
        ] {
            let url = PublicUrl::new(good).unwrap();
            assert_eq!(of(&url, "/a?b=%20").unwrap(), format!("{good}/a?b=%20"));
        }
        for bad in [
            "",
            "shop.example",
            "https://",
            "https:///a",
            "https://shop.example/",
            "https://shop.example/hooks",
            "https://shop.example?a",
            "https://shop.example#a",
            "https://user@shop.example",
            "https://user:8080@shop.example",
            "HTTPS://shop.example",
            "https://Shop.example",
            "https://shop..example",
            "https://shop.example.",
            "https://shop example",
            "https://shöp.example",
            "https://shop.example:",
            "https://shop.example:0",
            "https://shop.example:0443",
            "https://shop.example:+443",
            "https://shop.example:65536",
            "https://[::1",
            "https://[shop]",
            "https://[::1]443",
            "https://::1",
            "ftp://shop.example",
        ] {
            assert_eq!(PublicUrl::new(bad), Err(PublicUrlError::Origin), "{bad}");
        }
    }

    #[test]
    fn paths_are_rewritten_at_their_boundaries() {
        let origin = PublicUrl::new("https://shop.example").unwrap();
        let rewritten = |outer, inner| origin.clone().rewritten(outer, inner).unwrap();
        for (url, target, public) in [
            (rewritten("/api", ""), "/hooks?a=1", Some("/api/hooks?a=1")),
            (rewritten("", "/in"), "/in/hooks", Some("/hooks")),
            (rewritten("", "/in"), "/in?a=1", Some("?a=1")),
            (rewritten("/out", "/in"), "/in/hooks", Some("/out/hooks")),
            (rewritten("/out", "/in"), "/in", Some("/out")),
            (rewritten("/out", "/in"), "/inn/hooks", None),
            (rewritten("/out", "/in"), "/hooks", None),
        ] {
            let expected = public.map(|path| format!("https://shop.example{path}"));
            assert_eq!(of(&url, target).ok(), expected, "{target}");
        }
        for bad in ["/", "api", "/api/", "/a?b", "/a b", "/a{b}"] {
            let refused = Err(PublicUrlError::Prefix);
            assert_eq!(origin.clone().rewritten(bad, ""), refused, "{bad}");
            assert_eq!(origin.clone().rewritten("", bad), refused, "{bad}");
        }
    }

    #[test]
    fn ports_are_left_out_and_put_in() {
        for (origin, without, with) in [
            ("https://a", "https://a/x", "https://a:443/x"),
            ("https://a:443", "https://a/x", "https://a:443/x"),
            ("http://a", "http://a/x", "http://a:80/x"),
            ("https://a:8443", "https://a/x", "https://a:8443/x"),
        ] {
            let url = PublicUrl::new(origin).unwrap();
            let head = Head::new("POST", "/x", []).unwrap();
            assert_eq!(url.without_and_with_port(&head).unwrap(), [without, with]);
        }
    }

    #[test]
    fn other_targets_are_malformed() {
        let url = PublicUrl::new("https://shop.example").unwrap();
        let long = format!("/{}", "x".repeat(MAX_TARGET_BYTES));
        for target in [
            "",
            "*",
            "hooks",
            "http://shop.example/",
            "/a b",
            "/a#b",
            "/a?b=[1]",
            "/a?{\"b\":1}",
            "/a\\b",
            "/ä",
            "/\n",
            &long,
        ] {
            assert_eq!(of(&url, target), Err(Malformed::Target), "{target}");
        }
    }
}
