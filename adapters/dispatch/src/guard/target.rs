//! Where a request goes.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;
use std::sync::Arc;

use http::HeaderValue;
use http::uri::{PathAndQuery, Uri};
use rustls::pki_types::{DnsName, ServerName};
use url::{Host, Url};

/// A URL that a request may be made of: everything about it that no policy can change was checked.
///
/// What a policy decides (schemes, ports, addresses) is checked whenever a request is sent, since policies
/// change; [`super::GuardedClient::admit`] and [`super::GuardedClient::preflight`] ask beforehand.
///
/// Parse once and keep: cloning is cheap. `Display` and `Debug` give the origin alone, since paths and
/// queries of webhooks are often secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Target(Arc<Parts>);

impl Target {
    /// Parse a URL.
    ///
    /// The host is normalised as the WHATWG's URL standard says: `0x7f.1` *is* 127.0.0.1 from here on. A
    /// final dot of a name is dropped, since names are always looked up as absolute. The fragment is
    /// dropped.
    ///
    /// # Errors
    ///
    /// If it is no `http` or `https` URL of at most 2048 bytes, if it names a user or password, port 0, or
    /// no host that DNS could know, or if it has characters that other parsers read in other ways
    /// (backslashes, spaces, controls).
    pub fn parse(text: &str) -> Result<Self, TargetFault> {
        if text.len() > MAX_URL_BYTES {
            return Err(TargetFault::TooLong);
        }
        if text
            .chars()
            .any(|c| c == '\\' || c.is_whitespace() || c.is_control())
        {
            return Err(TargetFault::AmbiguousCharacter);
        }
        Self::from_url(&Url::parse(text).map_err(|_| TargetFault::Syntax)?)
    }

    /// As [`Self::parse`], from a URL that was parsed already. Its original spelling is not known any more.
    ///
    /// # Errors
    ///
    /// As [`Self::parse`].
    pub fn from_url(url: &Url) -> Result<Self, TargetFault> {
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(TargetFault::TooLong);
        }
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return Err(TargetFault::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetFault::UserInfo);
        }
        let host = match url.host().ok_or(TargetFault::Host)? {
            Host::Ipv4(address) => TargetHost::Address(address.into()),
            Host::Ipv6(address) => TargetHost::Address(address.into()),
            Host::Domain(name) => TargetHost::name(name)?,
        };
        let port = match url.port_or_known_default() {
            Some(port) if port != 0 => port,
            _ => return Err(TargetFault::Port),
        };
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let path = PathAndQuery::from_str(&path).map_err(|_| TargetFault::Syntax)?;
        let authority = host.authority(port, scheme);
        let authority = HeaderValue::try_from(authority).map_err(|_| TargetFault::Host)?;
        Ok(Self(Arc::new(Parts {
            origin: format!("{}://{}:{port}", scheme.name(), host.bracketed()).into(),
            host_text: host.text(),
            server_name: host.server_name()?,
            authority,
            host,
            path: Uri::from(path),
            port,
            scheme,
        })))
    }

    /// The host: a name in lower case without a final dot (in Punycode if it is international), or an
    /// address without brackets.
    pub fn host(&self) -> &str {
        &self.0.host_text
    }

    /// Whether the request is made over TLS.
    pub fn is_https(&self) -> bool {
        self.0.scheme == Scheme::Https
    }

    /// The port, given or implied.
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// Scheme, host and port, always in full.
    pub(super) fn origin(&self) -> &Arc<str> {
        &self.0.origin
    }

    /// The request target, in origin form.
    pub(super) fn path(&self) -> &Uri {
        &self.0.path
    }

    /// The `host` header.
    pub(super) fn authority(&self) -> &HeaderValue {
        &self.0.authority
    }

    /// Whom the certificate must name.
    pub(super) fn server_name(&self) -> &ServerName<'static> {
        &self.0.server_name
    }

    /// The address, if no DNS is needed to know it: a literal, or a name under `localhost`, which RFC 6761
    /// section 6.3 wants resolved to loopback by whoever sees it.
    pub(super) fn fixed_address(&self) -> Option<IpAddr> {
        match &self.0.host {
            TargetHost::Address(address) => Some(*address),
            TargetHost::Name(name) => {
                let top = name.rsplit('.').next();
                (top == Some("localhost")).then_some(Ipv4Addr::LOCALHOST.into())
            }
        }
    }
}

impl FromStr for Target {
    type Err = TargetFault;

    fn from_str(text: &str) -> Result<Self, TargetFault> {
        Self::parse(text)
    }
}

impl TryFrom<&Url> for Target {
    type Error = TargetFault;

    fn try_from(url: &Url) -> Result<Self, TargetFault> {
        Self::from_url(url)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.origin)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// Why a text is no [`Target`], under any policy.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum TargetFault {
    /// A backslash, a space or a control character: parsers disagree on what it means.
    #[error("the URL has a backslash, a space or a control character")]
    AmbiguousCharacter,
    /// No host, or none that could be in DNS.
    #[error("the URL has no host that DNS could know")]
    Host,
    /// Port 0.
    #[error("the URL has port 0")]
    Port,
    /// Neither `http` nor `https`.
    #[error("the URL's scheme is neither http nor https")]
    Scheme,
    /// Not a URL.
    #[error("not a URL")]
    Syntax,
    /// More than 2048 bytes.
    #[error("the URL is longer than 2048 bytes")]
    TooLong,
    /// A user or a password: secrets belong into signatures, and names before an `@` deceive people.
    #[error("the URL names a user or a password")]
    UserInfo,
}

#[derive(PartialEq, Eq)]
struct Parts {
    origin: Arc<str>,
    host_text: Box<str>,
    server_name: ServerName<'static>,
    authority: HeaderValue,
    host: TargetHost,
    path: Uri,
    port: u16,
    scheme: Scheme,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

#[derive(PartialEq, Eq)]
enum TargetHost {
    Address(IpAddr),
    /// Lower case, no final dot, labels checked.
    Name(Box<str>),
}

impl TargetHost {
    fn name(name: &str) -> Result<Self, TargetFault> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_label = |label: &str| {
            (1..=MAX_LABEL_BYTES).contains(&label.len())
                && label
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
        };
        if name.len() > MAX_NAME_BYTES || !name.split('.').all(is_label) {
            return Err(TargetFault::Host);
        }
        Ok(Self::Name(name.into()))
    }

    fn text(&self) -> Box<str> {
        match self {
            Self::Address(address) => address.to_string().into(),
            Self::Name(name) => name.clone(),
        }
    }

    fn bracketed(&self) -> String {
        match self {
            Self::Address(IpAddr::V6(address)) => format!("[{address}]"),
            Self::Address(IpAddr::V4(address)) => address.to_string(),
            Self::Name(name) => name.to_string(),
        }
    }

    fn authority(&self, port: u16, scheme: Scheme) -> String {
        let host = self.bracketed();
        if port == scheme.default_port() {
            host
        } else {
            format!("{host}:{port}")
        }
    }

    fn server_name(&self) -> Result<ServerName<'static>, TargetFault> {
        match self {
            Self::Address(address) => Ok(ServerName::IpAddress((*address).into())),
            Self::Name(name) => DnsName::try_from(name.to_string())
                .map(ServerName::DnsName)
                .map_err(|_| TargetFault::Host),
        }
    }
}

/// What browsers and proxies agree to carry.
const MAX_URL_BYTES: usize = 2048;
/// RFC 1035 section 2.3.4.
const MAX_LABEL_BYTES: usize = 63;
const MAX_NAME_BYTES: usize = 253;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Target {
        Target::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
    }

    #[test]
    fn secrets_of_paths_are_not_printed() {
        let target = parse("https://hooks.example/T00/secret?token=secret#secret");
        assert_eq!(format!("{target} {target:?}").matches("secret").count(), 0);
        assert_eq!(target.path(), "/T00/secret?token=secret");
    }

    #[test]
    fn a_final_dot_and_case_make_no_other_origin() {
        let plain = parse("https://hooks.example/");
        assert_eq!(parse("HTTPS://Hooks.Example.:443/"), plain);
        assert_eq!(plain.authority(), "hooks.example");
        assert_eq!(
            parse("https://hooks.example:8443/").authority(),
            "hooks.example:8443"
        );
        assert_eq!(
            parse("https://[2606:4700::1]:8443/").authority(),
            "[2606:4700::1]:8443"
        );
        assert_eq!(parse("https://[2606:4700::1]/").host(), "2606:4700::1");
        assert_eq!(
            parse("https://bücher.example/").host(),
            "xn--bcher-kva.example"
        );
    }

    #[test]
    fn the_length_is_bounded() {
        let of = |bytes: usize| format!("https://a.example/{}", "a".repeat(bytes - 18));
        assert!(Target::parse(&of(2048)).is_ok());
        assert_eq!(Target::parse(&of(2049)), Err(TargetFault::TooLong));
        let label = "a".repeat(63);
        let name = [label.as_str(); 3].join(".");
        assert!(Target::parse(&format!("https://{name}.{}/", "a".repeat(61))).is_ok());
        assert!(Target::parse(&format!("https://{name}.{}/", "a".repeat(62))).is_err());
        assert!(Target::parse(&format!("https://a{label}.example/")).is_err());
    }
}
