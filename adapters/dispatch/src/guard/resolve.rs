//! From names to addresses.

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver, ResolverBuilder, TokioResolver};

/// Finds the addresses of a name.
///
/// Answers are not trusted: the client judges every address before it connects, and connects to what it
/// judged. So an implementation need not filter, and cannot open anything. It must be cancellable, since
/// the client drops the future at the deadline, and should hold no thread while it waits.
pub trait Resolve: fmt::Debug + Send + Sync + 'static {
    /// All IPv4 and IPv6 addresses of `name`, which is absolute, in lower case, without a final dot.
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a>;
}

/// What [`Resolve::resolve`] returns.
pub type Resolving<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, ResolveFault>> + Send + 'a>>;

/// Why a name has no address.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ResolveFault {
    /// The servers did not answer, or answered with a failure.
    #[error("the name servers failed")]
    Failed,
    /// The name does not exist, or has no addresses.
    #[error("the name has no address")]
    NoAddress,
}

/// DNS over UDP and TCP, without threads. Search domains are never appended; answers are cached for their
/// TTL, at most a minute.
#[derive(Clone)]
pub struct Dns(TokioResolver);

impl Dns {
    /// The system's name servers (`/etc/resolv.conf` and `/etc/hosts` on Unix), read once.
    ///
    /// # Errors
    ///
    /// If that configuration cannot be read.
    pub fn system() -> Result<Self, DnsSetupError> {
        Self::build(Resolver::builder_tokio().map_err(|_| DnsSetupError)?)
    }

    /// These name servers, and no hosts file.
    ///
    /// # Errors
    ///
    /// If there are none, or none can be used.
    pub fn servers(servers: impl IntoIterator<Item = SocketAddr>) -> Result<Self, DnsSetupError> {
        let server = |address: SocketAddr| {
            let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut via| {
                via.port = address.port();
                via
            });
            NameServerConfig::new(address.ip(), true, connections.into())
        };
        let servers: Vec<_> = servers.into_iter().map(server).collect();
        if servers.is_empty() {
            return Err(DnsSetupError);
        }
        let config = ResolverConfig::from_name_servers(servers);
        let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
        builder.options_mut().use_hosts_file = hickory_resolver::config::ResolveHosts::Never;
        Self::build(builder)
    }

    fn build(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> Result<Self, DnsSetupError> {
        let options: &mut ResolverOpts = builder.options_mut();
        // Both, always: a name is refused if any of its addresses is.
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.timeout = ATTEMPT;
        options.attempts = RETRIES;
        options.cache_size = CACHE_ANSWERS;
        options.positive_max_ttl = Some(LONGEST_TTL);
        options.negative_max_ttl = Some(LONGEST_NEGATIVE_TTL);
        Ok(Self(builder.build().map_err(|_| DnsSetupError)?))
    }
}

impl Resolve for Dns {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            // The final dot keeps search domains away: `metadata` must not become `metadata.corp.example`.
            match self.0.lookup_ip(format!("{name}.")).await {
                Ok(found) => Ok(found.iter().collect()),
                Err(error) if error.is_no_records_found() => Err(ResolveFault::NoAddress),
                Err(_) => Err(ResolveFault::Failed),
            }
        })
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dns(..)")
    }
}

/// The name servers' configuration cannot be read or used.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no usable name server")]
pub struct DnsSetupError;

/// How long one server is waited for, and how often it is asked again: together well within the client's
/// deadline, so that a second server gets its chance.
const ATTEMPT: Duration = Duration::from_millis(1200);
const RETRIES: usize = 1;
const CACHE_ANSWERS: u64 = 4096;
/// So that a receiver that moved is found again soon, whatever TTL was published.
const LONGEST_TTL: Duration = Duration::from_mins(1);
const LONGEST_NEGATIVE_TTL: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::rr::Name;
    use tokio::net::UdpSocket;

    use super::*;

    /// `metadata` must not become `metadata.corp.example`, which somebody else may own.
    #[tokio::test]
    async fn search_domains_are_not_appended() {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let mut connection = ConnectionConfig::udp();
        connection.port = server.local_addr().unwrap().port();
        let name_server = NameServerConfig::new([127, 0, 0, 1].into(), true, vec![connection]);
        let domain = Name::from_ascii("corp.example.").unwrap();
        let config =
            ResolverConfig::from_parts(Some(domain.clone()), vec![domain], vec![name_server]);
        let provider = TokioRuntimeProvider::default();
        let dns = Dns::build(Resolver::builder_with_config(config, provider)).unwrap();

        let asked = async {
            let mut names = Vec::new();
            let mut packet = [0; 512];
            loop {
                let (length, client) = server.recv_from(&mut packet).await.unwrap();
                names.push(packet[12..length].to_vec());
                // No such name: the question repeated, and nothing more.
                packet[2..12].copy_from_slice(&[0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0]);
                let end = packet[12..].iter().position(|byte| *byte == 0).unwrap() + 17;
                server.send_to(&packet[..end], client).await.unwrap();
                if names.len() == 2 {
                    return names;
                }
            }
        };
        let (names, outcome) = tokio::join!(asked, dns.resolve("metadata"));
        assert_eq!(outcome, Err(ResolveFault::NoAddress));
        for name in names {
            assert!(
                name.starts_with(b"\x08metadata\x00"),
                "{}",
                name.escape_ascii()
            );
        }
    }
}
