//! The one URL that is attacked, and the addresses it stood for when it was given.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use tokio::net::lookup_host;
use url::Url;

/// A URL whose name was looked up once: all connections go to that address, whatever the name says later.
#[derive(Clone)]
pub struct Target {
    url: Url,
    address: SocketAddr,
}

/// A URL that cannot be probed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableUrl {
    /// It holds a password, which would be in every report.
    #[error("a URL with a user's name or password cannot be probed")]
    Credentials,
    /// Its name has no address.
    #[error("cannot find an address of `{0}`")]
    NoAddress(String),
    /// It is no URL of HTTP.
    #[error("expected http://host/path or https://host/path")]
    NotHttp,
}

impl Target {
    /// Look `url` up.
    ///
    /// # Errors
    ///
    /// [`UnusableUrl`].
    pub async fn resolve(url: &str) -> Result<Self, UnusableUrl> {
        let mut url = Url::parse(url).map_err(|_| UnusableUrl::NotHttp)?;
        url.set_fragment(None);
        let (Some(host), "http" | "https") = (url.host_str(), url.scheme()) else {
            return Err(UnusableUrl::NotHttp);
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UnusableUrl::Credentials);
        }
        let host = host.trim_matches(['[', ']']);
        let port = url.port_or_known_default().ok_or(UnusableUrl::NotHttp)?;
        let unknown = || UnusableUrl::NoAddress(host.to_owned());
        let found = lookup_host((host, port)).await.map_err(|_| unknown())?;
        let mut found: Vec<SocketAddr> = found.collect();
        // A server on one of `localhost`'s two addresses is most often on this one.
        found.sort_by_key(SocketAddr::is_ipv6);
        let address = found.first().copied().ok_or_else(unknown)?;
        Ok(Self { url, address })
    }

    /// Whether the address is this machine's, or of a private network: nobody else's.
    pub fn is_local(&self) -> bool {
        match self.address.ip().to_canonical() {
            IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            IpAddr::V6(ip) => {
                ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
            }
        }
    }

    /// Where connections go.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The name a certificate has to bear.
    pub(crate) fn host(&self) -> &str {
        let host = self.url.host_str().unwrap_or_default();
        host.trim_matches(['[', ']'])
    }

    /// The `Host` field.
    pub(crate) fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Path and query, and a delivery's own query behind them.
    pub(crate) fn path_and_query(&self, more: Option<&str>) -> String {
        let parts: Vec<&str> = self.url.query().into_iter().chain(more).collect();
        if parts.is_empty() {
            self.url.path().to_owned()
        } else {
            format!("{}?{}", self.url.path(), parts.join("&"))
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Queries hold tokens.
        write!(f, "Target({} {})", self.address, self.url.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whose_an_address_is() {
        for (url, is_local) in [
            ("http://127.0.0.1/", true),
            ("http://[::1]:80/", true),
            ("http://10.1.2.3/hook", true),
            ("http://192.168.0.1/", true),
            ("http://[fd00::1]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://8.8.8.8/", false),
            ("http://[::ffff:8.8.8.8]/", false),
            ("http://[2001:4860:4860::8888]/", false),
            ("http://172.32.0.1/", false),
        ] {
            assert_eq!(
                Target::resolve(url).await.unwrap().is_local(),
                is_local,
                "{url}"
            );
        }
        for url in [
            "http://u:p@127.0.0.1/",
            "ftp://127.0.0.1/",
            "127.0.0.1",
            "http://",
            "data:,x",
        ] {
            assert!(Target::resolve(url).await.is_err(), "{url}");
        }
    }
}
