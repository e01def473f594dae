//! Which addresses may be dialled.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv6Net};

use super::embedded;
use super::registry::{
    AddressClass, FLOOR_V4, FLOOR_V6, GLOBAL_UNICAST, GLOBAL_UNICAST_SOURCE, NAT64, Row, V4, V6,
};
use super::target::Target;

/// Which addresses may be dialled: those that IANA's registries call public, and what an allow-list opens.
///
/// An address is judged as it would be dialled, and every IPv4 address that it spells is judged with it.
/// NAT64 (`64:ff9b::/96`, and prefixes given to [`Self::nat64`]) is decoded; all other spellings of IPv4
/// in IPv6 are denied whatever they spell, since nothing public is reached by them alone.
///
/// Metadata services of clouds are denied under any policy, in every spelling.
#[derive(Debug, Clone, Default)]
pub struct AddressPolicy {
    allowed: Vec<Allow>,
    nat64: Vec<Ipv6Net>,
}

impl AddressPolicy {
    /// Public addresses and no others.
    pub fn public() -> Self {
        Self::default()
    }

    /// Open what `entry` says.
    #[must_use]
    pub fn allow(mut self, entry: Allow) -> Self {
        self.allowed.push(entry);
        self
    }

    /// Say that `prefix` is this network's own NAT64: addresses in it are judged by the IPv4 address they
    /// spell. It says nothing about what lies behind the translator otherwise.
    ///
    /// # Errors
    ///
    /// If `prefix` has none of the lengths of RFC 6052 section 2.2 (32, 40, 48, 56, 64, 96), or bits behind it.
    pub fn nat64(mut self, prefix: IpNet) -> Result<Self, AllowFault> {
        let IpNet::V6(prefix) = prefix else {
            return Err(AllowFault::NotNat64);
        };
        if !matches!(prefix.prefix_len(), 32 | 40 | 48 | 56 | 64 | 96) {
            return Err(AllowFault::NotNat64);
        }
        if prefix != prefix.trunc() {
            return Err(AllowFault::HostBits);
        }
        self.nat64.push(prefix);
        Ok(self)
    }

    /// Judge an address of `target`.
    ///
    /// # Errors
    ///
    /// Says which rule denies it.
    pub fn judge(&self, address: IpAddr, target: &Target) -> Result<Passage, DeniedAddress> {
        let denied = |denial: Denial| DeniedAddress {
            address,
            class: denial.class,
            rule: denial.rule,
        };
        self.floor(address).map_err(denied)?;
        if self
            .allowed
            .iter()
            .any(|entry| entry.opens(address, target))
        {
            return Ok(Passage::AllowListed);
        }
        match address {
            IpAddr::V4(address) => judge_v4(address),
            IpAddr::V6(address) => self.judge_v6(address),
        }
        .map_err(denied)?;
        Ok(Passage::Public)
    }

    fn floor(&self, address: IpAddr) -> Result<(), Denial> {
        match address {
            IpAddr::V4(address) => floor_v4(address),
            IpAddr::V6(address) => {
                deny(FLOOR_V6, |row| row.net.contains(&address))?;
                embedded::every(address)
                    .chain(self.translated(address))
                    .try_for_each(floor_v4)
            }
        }
    }

    fn judge_v6(&self, address: Ipv6Addr) -> Result<(), Denial> {
        if self.is_nat64(address) {
            return self.judge_nat64(address);
        }
        // The table first: `::1` is loopback, and only then something that spells 0.0.0.1.
        deny(V6, |row| row.net.contains(&address)).map_err(|denial| precise(denial, address))?;
        if !GLOBAL_UNICAST.contains(&address) {
            return Err(Denial {
                class: AddressClass::Reserved,
                rule: GLOBAL_UNICAST_SOURCE,
            });
        }
        embedded::every(address).try_for_each(judge_v4)
    }

    fn is_nat64(&self, address: Ipv6Addr) -> bool {
        NAT64.contains(&address) || self.translated(address).next().is_some()
    }

    fn judge_nat64(&self, address: Ipv6Addr) -> Result<(), Denial> {
        if !embedded::has_zero_octet(address) {
            return Err(Denial {
                class: AddressClass::Reserved,
                rule: "RFC 6052 section 2.2",
            });
        }
        if NAT64.contains(&address) {
            embedded::every(address).try_for_each(judge_v4)?;
        }
        self.translated(address).try_for_each(judge_v4)
    }

    /// What `address` spells under the operator's own prefixes.
    fn translated(&self, address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
        let prefixes = self.nat64.iter();
        prefixes
            .filter(move |prefix| prefix.contains(&address))
            .map(move |prefix| embedded::translated(address, prefix.prefix_len()))
    }
}

/// An entry of the allow-list: addresses that are not public and may be dialled all the same.
///
/// Matches the address as it is dialled, never what an address of the other family spells. Make it as
/// narrow as it can be: everybody who may register an endpoint can reach what it opens, unless it is
/// narrowed to a host.
#[derive(Debug, Clone)]
pub struct Allow {
    net: IpNet,
    host: Option<Box<str>>,
    port: Option<u16>,
}

impl Allow {
    /// Open the addresses of `net`.
    ///
    /// # Errors
    ///
    /// If `net` is wider than /8 in IPv4 or /32 in IPv6, or has bits behind the prefix.
    pub fn net(net: IpNet) -> Result<Self, AllowFault> {
        let widest = match net {
            IpNet::V4(_) => 8,
            IpNet::V6(_) => 32,
        };
        if net.prefix_len() < widest {
            return Err(AllowFault::TooWide);
        }
        if net != net.trunc() {
            return Err(AllowFault::HostBits);
        }
        Ok(Self {
            net,
            host: None,
            port: None,
        })
    }

    /// Open one address.
    pub fn address(address: IpAddr) -> Self {
        Self {
            net: address.into(),
            host: None,
            port: None,
        }
    }

    /// Only for targets of this host, written as [`Target::host`] gives it.
    #[must_use]
    pub fn only_host(mut self, host: &str) -> Self {
        self.host = Some(host.into());
        self
    }

    /// Only at this port. Says nothing about which ports the policy admits.
    #[must_use]
    pub fn only_port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    fn opens(&self, address: IpAddr, target: &Target) -> bool {
        self.net.contains(&address)
            && self.port.is_none_or(|port| port == target.port())
            && self
                .host
                .as_deref()
                .is_none_or(|host| host == target.host())
    }
}

/// How an address passed.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passage {
    /// By an entry of the allow-list alone: what answers there is not for strangers' eyes.
    AllowListed,
    /// It is public.
    Public,
}

/// An address that must not be dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{address} is denied: {class:?} ({rule})")]
pub struct DeniedAddress {
    address: IpAddr,
    class: AddressClass,
    rule: &'static str,
}

impl DeniedAddress {
    /// The address as it would have been dialled.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Why.
    pub fn class(&self) -> AddressClass {
        self.class
    }

    /// Who says so: an RFC, or whose metadata service it is.
    pub fn rule(&self) -> &'static str {
        self.rule
    }
}

/// Why an entry makes no sense in a policy.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AllowFault {
    /// The address has bits behind its prefix: one of the two is a slip.
    #[error("the address has bits behind its prefix")]
    HostBits,
    /// Not a prefix that RFC 6052 section 2.2 defines.
    #[error("a NAT64 prefix is IPv6 of 32, 40, 48, 56, 64 or 96 bits")]
    NotNat64,
    /// An allow-list of everything.
    #[error("wider than /8 in IPv4 or /32 in IPv6")]
    TooWide,
}

/// A row that matched.
#[derive(Clone, Copy)]
struct Denial {
    class: AddressClass,
    rule: &'static str,
}

fn judge_v4(address: Ipv4Addr) -> Result<(), Denial> {
    deny(V4, |row| row.net.contains(&address))
}

fn floor_v4(address: Ipv4Addr) -> Result<(), Denial> {
    deny(FLOOR_V4, |row| row.net.contains(&address))
}

fn deny<N>(rows: &'static [Row<N>], matches: impl Fn(&Row<N>) -> bool) -> Result<(), Denial> {
    match rows.iter().find(|row| matches(row)) {
        None => Ok(()),
        Some(row) => Err(Denial {
            class: row.class,
            rule: row.source,
        }),
    }
}

/// For a spelling of a denied IPv4 address, that address's reason, which says more to who reads it.
fn precise(denial: Denial, address: Ipv6Addr) -> Denial {
    match denial.class {
        AddressClass::Translation | AddressClass::Tunnel => embedded::certain(address)
            .try_for_each(judge_v4)
            .err()
            .unwrap_or(denial),
        _ => denial,
    }
}
