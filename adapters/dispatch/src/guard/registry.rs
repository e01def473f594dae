//! The address space that no receiver of webhooks lives in, as data.
//!
//! One row a prefix. Sources are IANA's [IPv4] and [IPv6] special-purpose registries and the RFCs they
//! name, and the providers' documentation for addresses of metadata services.
//!
//! Stricter than the registries in one respect: prefixes that they call globally reachable are denied too
//! where they are anycast services of the network next to us (PCP, TURN, AMT, AS112) or no locators at all
//! (ORCHID). The first answer for such an address is infrastructure, never a customer.
//!
//! [IPv4]: https://www.iana.org/assignments/iana-ipv4-special-registry
//! [IPv6]: https://www.iana.org/assignments/iana-ipv6-special-registry

use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Why an address is denied.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// For measuring devices.
    Benchmarking,
    /// Everybody on the link.
    Broadcast,
    /// Thrown away by routers.
    Discard,
    /// For examples in texts.
    Documentation,
    /// Valid on one link only.
    LinkLocal,
    /// This host.
    Loopback,
    /// A cloud's metadata, credentials or control service. No allow-list opens it.
    Metadata,
    /// Many hosts.
    Multicast,
    /// Private networks of IPv4.
    Private,
    /// Assigned to protocols of the IETF and to anycast services of the nearest network.
    ProtocolAssignment,
    /// Reserved, or allocated to nobody.
    Reserved,
    /// Between a carrier and its customers; also where overlay networks live.
    Shared,
    /// Private networks of IPv6, deprecated.
    SiteLocal,
    /// Another spelling of an IPv4 address.
    Translation,
    /// A tunnel to an IPv4 address.
    Tunnel,
    /// Private networks of IPv6.
    UniqueLocal,
    /// No host, or this host.
    Unspecified,
}

/// A prefix, why it is denied and who says so.
pub(super) struct Row<N> {
    pub(super) net: N,
    pub(super) class: AddressClass,
    pub(super) source: &'static str,
}

/// Denied IPv4 space; the first row that matches gives the reason.
#[rustfmt::skip]
pub(super) const V4: &[Row<Ipv4Net>] = &[
    v4([0, 0, 0, 0],          8, AddressClass::Unspecified,        "RFC 791 section 3.2"),
    v4([10, 0, 0, 0],         8, AddressClass::Private,            "RFC 1918"),
    v4([100, 64, 0, 0],      10, AddressClass::Shared,             "RFC 6598"),
    v4([127, 0, 0, 0],        8, AddressClass::Loopback,           "RFC 1122 section 3.2.1.3"),
    v4([168, 63, 129, 16],   32, AddressClass::Metadata,           "Azure WireServer"),
    v4([169, 254, 0, 0],     16, AddressClass::LinkLocal,          "RFC 3927"),
    v4([172, 16, 0, 0],      12, AddressClass::Private,            "RFC 1918"),
    v4([192, 0, 0, 0],       24, AddressClass::ProtocolAssignment, "RFC 6890 section 2.1"),
    v4([192, 0, 2, 0],       24, AddressClass::Documentation,      "RFC 5737"),
    v4([192, 31, 196, 0],    24, AddressClass::ProtocolAssignment, "RFC 7535"),
    v4([192, 52, 193, 0],    24, AddressClass::ProtocolAssignment, "RFC 7450"),
    v4([192, 88, 99, 0],     24, AddressClass::Tunnel,             "RFC 7526"),
    v4([192, 168, 0, 0],     16, AddressClass::Private,            "RFC 1918"),
    v4([192, 175, 48, 0],    24, AddressClass::ProtocolAssignment, "RFC 7534"),
    v4([198, 18, 0, 0],      15, AddressClass::Benchmarking,       "RFC 2544"),
    v4([198, 51, 100, 0],    24, AddressClass::Documentation,      "RFC 5737"),
    v4([203, 0, 113, 0],     24, AddressClass::Documentation,      "RFC 5737"),
    v4([224, 0, 0, 0],        4, AddressClass::Multicast,          "RFC 5771"),
    v4([255, 255, 255, 255], 32, AddressClass::Broadcast,          "RFC 919 section 7"),
    v4([240, 0, 0, 0],        4, AddressClass::Reserved,           "RFC 1112 section 4"),
];

/// Denied IPv6 space; the first row that matches gives the reason. What none matches is denied too unless
/// it lies in [`GLOBAL_UNICAST`].
#[rustfmt::skip]
pub(super) const V6: &[Row<Ipv6Net>] = &[
    v6([0; 8],                             128, AddressClass::Unspecified,        "RFC 4291 section 2.5.2"),
    v6([0, 0, 0, 0, 0, 0, 0, 1],           128, AddressClass::Loopback,           "RFC 4291 section 2.5.3"),
    v6([0, 0, 0, 0, 0, 0, 0, 0],            96, AddressClass::Translation,        "RFC 4291 section 2.5.5.1"),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0],       96, AddressClass::Translation,        "RFC 4291 section 2.5.5.2"),
    v6([0, 0, 0, 0, 0xffff, 0, 0, 0],       96, AddressClass::Translation,        "RFC 2765 section 2.1"),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0],    48, AddressClass::Translation,        "RFC 8215"),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0],        64, AddressClass::Discard,            "RFC 6666"),
    v6([0x100, 0, 0, 1, 0, 0, 0, 0],        64, AddressClass::Reserved,           "RFC 9780"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0],       32, AddressClass::Tunnel,             "RFC 4380"),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0],       48, AddressClass::Benchmarking,       "RFC 5180"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0],       23, AddressClass::ProtocolAssignment, "RFC 2928"),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0],   32, AddressClass::Documentation,      "RFC 3849"),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0],       16, AddressClass::Tunnel,             "RFC 3056"),
    v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, AddressClass::ProtocolAssignment, "RFC 7534"),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0],       20, AddressClass::Documentation,      "RFC 9637"),
    v6([0x5f00, 0, 0, 0, 0, 0, 0, 0],       16, AddressClass::Reserved,           "RFC 9602"),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0],        7, AddressClass::UniqueLocal,        "RFC 4193"),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0],       10, AddressClass::LinkLocal,          "RFC 4291 section 2.5.6"),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0],       10, AddressClass::SiteLocal,          "RFC 3879"),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0],        8, AddressClass::Multicast,          "RFC 4291 section 2.7"),
];

/// The only IPv6 space that IANA allocates to networks for global use.
pub(super) const GLOBAL_UNICAST: Ipv6Net = net6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Where [`GLOBAL_UNICAST`] is said.
pub(super) const GLOBAL_UNICAST_SOURCE: &str = "RFC 4291 section 2.4";

/// The well-known prefix of NAT64, the one translation that is decoded instead of denied: where a network
/// has no IPv4, its resolver writes public addresses so (RFC 6052 section 2.1, RFC 6147).
pub(super) const NAT64: Ipv6Net = net6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);

/// What no allow-list opens, in IPv4 and in every IPv6 spelling of it.
///
/// Link-local IPv4 as a whole: every cloud keeps its metadata there (169.254.169.254; ECS .170.2; EKS
/// .170.23; Scaleway .42.42; Tencent .0.23), and no receiver.
#[rustfmt::skip]
pub(super) const FLOOR_V4: &[Row<Ipv4Net>] = &[
    v4([169, 254, 0, 0],     16, AddressClass::Metadata, "RFC 3927; metadata services of all clouds"),
    v4([100, 100, 100, 200], 32, AddressClass::Metadata, "Alibaba Cloud metadata"),
    v4([168, 63, 129, 16],   32, AddressClass::Metadata, "Azure WireServer"),
    v4([192, 0, 0, 192],     32, AddressClass::Metadata, "Oracle Cloud metadata (classic)"),
];

/// As [`FLOOR_V4`]. Link-local IPv6 as a whole, for the same reason.
#[rustfmt::skip]
pub(super) const FLOOR_V6: &[Row<Ipv6Net>] = &[
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0],                   10, AddressClass::Metadata, "RFC 4291; metadata services over IPv6"),
    v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0],               32, AddressClass::Metadata, "AWS: metadata ::254, pod identity ::23, DNS ::253"),
    v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254],           128, AddressClass::Metadata, "Google Cloud metadata"),
    v6([0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe],     128, AddressClass::Metadata, "Oracle Cloud metadata"),
    v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42],            128, AddressClass::Metadata, "Scaleway metadata"),
    v6([0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1],        128, AddressClass::Metadata, "Linode metadata"),
    v6([0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200],      128, AddressClass::Metadata, "Alibaba Cloud metadata"),
];

const fn v4(
    [a, b, c, d]: [u8; 4],
    length: u8,
    class: AddressClass,
    source: &'static str,
) -> Row<Ipv4Net> {
    Row {
        net: Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length),
        class,
        source,
    }
}

const fn v6(
    groups: [u16; 8],
    length: u8,
    class: AddressClass,
    source: &'static str,
) -> Row<Ipv6Net> {
    Row {
        net: net6(groups, length),
        class,
        source,
    }
}

const fn net6(groups: [u16; 8], length: u8) -> Ipv6Net {
    // In a constant, `Ipv6Addr::from([u16; 8])` cannot be called.
    let mut bits = 0;
    let mut rest: &[u16] = &groups;
    while let [group, behind @ ..] = rest {
        bits = bits << 16 | *group as u128;
        rest = behind;
    }
    Ipv6Net::new_assert(Ipv6Addr::from_bits(bits), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_written_without_host_bits() {
        for net in V4.iter().chain(FLOOR_V4).map(|row| row.net) {
            assert_eq!(net, net.trunc());
        }
        for net in V6.iter().chain(FLOOR_V6).map(|row| row.net) {
            assert_eq!(net, net.trunc());
        }
    }
}
