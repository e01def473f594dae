//! IANA's special-purpose registries, row by row, and the edges of every prefix.
//!
//! The rows are written anew here, from the registries, so that a slip in the policy's table shows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use webhook_dispatch::guard::{AddressClass, AddressPolicy, Passage};

use crate::support::target;

fn judge(address: IpAddr) -> Result<Passage, AddressClass> {
    let judged = AddressPolicy::public().judge(address, &target("https://hooks.test/"));
    judged.map_err(|denied| denied.class())
}

fn is_denied(address: IpAddr) -> bool {
    judge(address).is_err()
}

/// What a row of a registry says of "Globally Reachable".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reachable {
    False,
    /// Not a network's address in any case.
    NotApplicable,
    True,
}
use Reachable::{False, NotApplicable, True};

/// <https://www.iana.org/assignments/iana-ipv4-special-registry>, all rows.
const IPV4: [(&str, Reachable); 28] = [
    ("0.0.0.0/8", False),
    ("0.0.0.0/32", False),
    ("10.0.0.0/8", False),
    ("100.64.0.0/10", False),
    ("127.0.0.0/8", False),
    ("169.254.0.0/16", False),
    ("172.16.0.0/12", False),
    ("192.0.0.0/24", False),
    ("192.0.0.0/29", False),
    ("192.0.0.8/32", False),
    ("192.0.0.9/32", True),
    ("192.0.0.10/32", True),
    ("192.0.0.170/32", False),
    ("192.0.0.171/32", False),
    ("192.0.2.0/24", False),
    ("192.31.196.0/24", True),
    ("192.52.193.0/24", True),
    ("192.88.99.0/24", NotApplicable),
    ("192.88.99.2/32", False),
    ("192.168.0.0/16", False),
    ("192.175.48.0/24", True),
    ("198.18.0.0/15", False),
    ("198.51.100.0/24", False),
    ("203.0.113.0/24", False),
    ("240.0.0.0/4", False),
    ("255.255.255.255/32", False),
    // The registry of multicast addresses, RFC 5771: first and last block.
    ("224.0.0.0/24", False),
    ("239.0.0.0/8", False),
];

/// <https://www.iana.org/assignments/iana-ipv6-special-registry>, all rows.
const IPV6: [(&str, Reachable); 25] = [
    ("::1/128", False),
    ("::/128", False),
    ("::ffff:0:0/96", False),
    ("64:ff9b::/96", True),
    ("64:ff9b:1::/48", False),
    ("100::/64", False),
    ("100:0:0:1::/64", False),
    ("2001::/23", False),
    ("2001::/32", NotApplicable),
    ("2001:1::1/128", True),
    ("2001:1::2/128", True),
    ("2001:1::3/128", True),
    ("2001:2::/48", False),
    ("2001:3::/32", True),
    ("2001:4:112::/48", True),
    ("2001:10::/28", NotApplicable),
    ("2001:20::/28", True),
    ("2001:30::/28", True),
    ("2001:db8::/32", False),
    ("2002::/16", NotApplicable),
    ("2620:4f:8000::/48", True),
    ("3fff::/20", False),
    ("5f00::/16", False),
    ("fc00::/7", False),
    ("fe80::/10", False),
];

/// The one special prefix through which receivers are reached.
const DECODED: &str = "64:ff9b::/96";

#[test]
fn no_special_address_passes() {
    for (prefix, reachable) in IPV4.into_iter().chain(IPV6) {
        let net: IpNet = prefix.parse().unwrap();
        // `True` is no reason to pass: these are services of the nearest network, and identifiers.
        if prefix == DECODED {
            assert_eq!(reachable, True);
            continue;
        }
        for address in [net.network(), middle(net), net.broadcast()] {
            assert!(is_denied(address), "{address} of {prefix}");
        }
    }
}

fn middle(net: IpNet) -> IpAddr {
    match net {
        IpNet::V4(net) => {
            let bits = net.network().to_bits() ^ net.hostmask().to_bits() >> 1;
            Ipv4Addr::from_bits(bits).into()
        }
        IpNet::V6(net) => {
            let bits = net.network().to_bits() ^ net.hostmask().to_bits() >> 1;
            Ipv6Addr::from_bits(bits).into()
        }
    }
}

/// Everything that is denied, with its reason; merged where rows of the registries lie in each other.
const DENIED_V4: [(&str, AddressClass); 19] = [
    ("0.0.0.0/8", AddressClass::Unspecified),
    ("10.0.0.0/8", AddressClass::Private),
    ("100.64.0.0/10", AddressClass::Shared),
    ("127.0.0.0/8", AddressClass::Loopback),
    ("168.63.129.16/32", AddressClass::Metadata),
    ("169.254.0.0/16", AddressClass::Metadata),
    ("172.16.0.0/12", AddressClass::Private),
    ("192.0.0.0/24", AddressClass::ProtocolAssignment),
    ("192.0.2.0/24", AddressClass::Documentation),
    ("192.31.196.0/24", AddressClass::ProtocolAssignment),
    ("192.52.193.0/24", AddressClass::ProtocolAssignment),
    ("192.88.99.0/24", AddressClass::Tunnel),
    ("192.168.0.0/16", AddressClass::Private),
    ("192.175.48.0/24", AddressClass::ProtocolAssignment),
    ("198.18.0.0/15", AddressClass::Benchmarking),
    ("198.51.100.0/24", AddressClass::Documentation),
    ("203.0.113.0/24", AddressClass::Documentation),
    ("224.0.0.0/4", AddressClass::Multicast),
    ("240.0.0.0/4", AddressClass::Reserved),
];

/// The reason is that of the first address, and where that spells 0.0.0.0, it is 0.0.0.0's.
const DENIED_V6: [(&str, AddressClass); 13] = [
    ("2001::/32", AddressClass::Unspecified),
    ("2001:2::/48", AddressClass::Benchmarking),
    ("2001::/23", AddressClass::Unspecified),
    ("2001:db8::/32", AddressClass::Documentation),
    ("2002::/16", AddressClass::Unspecified),
    ("2620:4f:8000::/48", AddressClass::ProtocolAssignment),
    ("3fff::/20", AddressClass::Documentation),
    // Beyond 2000::/3.
    ("5f00::/16", AddressClass::Reserved),
    ("fc00::/7", AddressClass::UniqueLocal),
    ("fe80::/10", AddressClass::Metadata),
    ("fec0::/10", AddressClass::SiteLocal),
    ("ff00::/8", AddressClass::Multicast),
    ("100::/64", AddressClass::Discard),
];

#[test]
fn the_edges_of_every_ipv4_prefix() {
    let nets = DENIED_V4.map(|(prefix, class)| (prefix.parse::<Ipv4Net>().unwrap(), class));
    let is_listed = |address: Ipv4Addr| nets.iter().any(|(net, _)| net.contains(&address));
    let mut outside = 0;
    for (net, class) in nets {
        let (first, last) = (net.network(), net.broadcast());
        assert_eq!(judge(first.into()), Err(class), "first of {net}");
        let expected = match last {
            Ipv4Addr::BROADCAST => AddressClass::Broadcast,
            _ => class,
        };
        assert_eq!(judge(last.into()), Err(expected), "last of {net}");
        let before = first.to_bits().checked_sub(1);
        let after = last.to_bits().checked_add(1);
        for neighbour in [before, after]
            .into_iter()
            .flatten()
            .map(Ipv4Addr::from_bits)
        {
            assert_eq!(
                is_denied(neighbour.into()),
                is_listed(neighbour),
                "{neighbour} at {net}"
            );
            outside += usize::from(!is_listed(neighbour));
        }
    }
    assert!(
        outside > 25,
        "most prefixes have public neighbours: {outside}"
    );
}

#[test]
fn the_edges_of_every_ipv6_prefix() {
    let nets = DENIED_V6.map(|(prefix, class)| (prefix.parse::<Ipv6Net>().unwrap(), class));
    let global: Ipv6Net = "2000::/3".parse().unwrap();
    let is_listed = |address: Ipv6Addr| {
        !global.contains(&address) || nets.iter().any(|(net, _)| net.contains(&address))
    };
    for (net, class) in nets {
        assert_eq!(judge(net.network().into()), Err(class), "first of {net}");
        assert!(is_denied(net.broadcast().into()), "last of {net}");
        let before = net.network().to_bits().checked_sub(1);
        let after = net.broadcast().to_bits().checked_add(1);
        for neighbour in [before, after]
            .into_iter()
            .flatten()
            .map(Ipv6Addr::from_bits)
        {
            assert_eq!(
                is_denied(neighbour.into()),
                is_listed(neighbour),
                "{neighbour} at {net}"
            );
        }
    }
}

#[test]
fn the_edges_of_global_unicast() {
    let denied = |text: &str| is_denied(text.parse().unwrap());
    assert!(denied("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
    assert!(!denied("2000::"));
    assert!(!denied("3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
    assert!(!denied("3fff:1000::"));
    assert!(!denied("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
    assert!(denied("4000::"));
}

#[test]
fn public_addresses_pass() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "9.9.9.9",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2001:4860:4860::8888",
        "2001:200::1",
        "2a00:1450:4001::1",
        "2620:4f:8001::",
        "2003::1",
        "64:ff9b::808:808",
        "64:ff9b::1.1.1.1",
        // An interface identifier that spells a public address is just an interface identifier.
        "2606:4700::5efe:8.8.8.8",
    ] {
        assert_eq!(judge(text.parse().unwrap()), Ok(Passage::Public), "{text}");
    }
}
