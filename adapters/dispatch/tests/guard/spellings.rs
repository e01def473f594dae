//! An IPv4 address that is denied is denied in every IPv6 spelling of it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use proptest::prelude::*;
use webhook_dispatch::guard::{
    AddressClass, AddressPolicy, Allow, AllowFault, Passage, Policy, Target,
};

use crate::support::{net, target};

/// All spellings of `address`: the well-known ones, and those of an operator's NAT64.
fn spellings(address: Ipv4Addr) -> Vec<Ipv6Addr> {
    let [a, b, c, d] = address.octets().map(u16::from);
    let (high, low) = (a << 8 | b, c << 8 | d);
    let six = |groups: [u16; 8]| Ipv6Addr::from(groups);
    let mut all = vec![
        six([0, 0, 0, 0, 0, 0, high, low]),
        six([0, 0, 0, 0, 0, 0xffff, high, low]),
        six([0, 0, 0, 0, 0xffff, 0, high, low]),
        six([0x64, 0xff9b, 0, 0, 0, 0, high, low]),
        six([0x64, 0xff9b, 1, 0, 0, 0, high, low]),
        six([0x64, 0xff9b, 1, high, c, d << 8, 0, 0]),
        six([0x64, 0xff9b, 1, 7 << 8 | a, b, low, 0, 0]),
        six([0x2002, high, low, 0, 0, 0, 0, 1]),
        six([0x2001, 0, high, low, 0, 0, !0x0808, !0x0808]),
        six([0x2001, 0, 0x0808, 0x0808, 0, 0, !high, !low]),
        six([0x2606, 0x4700, 0, 1, 0, 0x5efe, high, low]),
        six([0x2606, 0x4700, 0, 1, 0x200, 0x5efe, high, low]),
        six([0xfe80, 0, 0, 0, 0, 0x5efe, high, low]),
    ];
    all.extend(OPERATORS.map(|(_, spell)| spell([a, b, c, d])));
    all
}

type Spell = fn([u16; 4]) -> Ipv6Addr;

/// An operator's prefixes, one of each length, and how they spell.
const OPERATORS: [(&str, Spell); 6] = [
    ("2a00:32::/32", |[a, b, c, d]| {
        Ipv6Addr::new(0x2a00, 0x32, a << 8 | b, c << 8 | d, 0, 0, 0, 0)
    }),
    ("2a00:40:4000::/40", |[a, b, c, d]| {
        Ipv6Addr::new(0x2a00, 0x40, 0x4000 | a, b << 8 | c, d, 0, 0, 0)
    }),
    ("2a00:48:1::/48", |[a, b, c, d]| {
        Ipv6Addr::new(0x2a00, 0x48, 1, a << 8 | b, c, d << 8, 0, 0)
    }),
    ("2a00:56:1:5600::/56", |[a, b, c, d]| {
        Ipv6Addr::new(0x2a00, 0x56, 1, 0x5600 | a, b, c << 8 | d, 0, 0)
    }),
    ("2a00:64:1:1::/64", |[a, b, c, d]| {
        Ipv6Addr::new(0x2a00, 0x64, 1, 1, a, b << 8 | c, d << 8, 0)
    }),
    ("2a00:96:1:1::/96", |[a, b, c, d]| {
        Ipv6Addr::new(0x2a00, 0x96, 1, 1, 0, 0, a << 8 | b, c << 8 | d)
    }),
];

fn policy() -> AddressPolicy {
    OPERATORS
        .iter()
        .fold(AddressPolicy::public(), |policy, (prefix, _)| {
            policy.nat64(prefix.parse().unwrap()).unwrap()
        })
}

fn passes(policy: &AddressPolicy, address: impl Into<IpAddr>) -> Result<Passage, AddressClass> {
    let judged = policy.judge(address.into(), &target("https://hooks.test/"));
    judged.map_err(|denied| denied.class())
}

/// Half of them denied, half anything.
fn addresses() -> impl Strategy<Value = Ipv4Addr> {
    let denied = prop::sample::select(vec![
        [0_u32, 8],
        [10, 8],
        [100, 10],
        [127, 8],
        [169, 8],
        [172, 8],
        [192, 8],
        [198, 8],
        [203, 8],
        [224, 4],
        [240, 4],
    ]);
    let near = (denied, any::<u32>()).prop_map(|([first, length], rest)| {
        let mask = u32::MAX >> length;
        Ipv4Addr::from_bits(first << 24 & !mask | rest & mask)
    });
    prop_oneof![near, any::<u32>().prop_map(Ipv4Addr::from_bits)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_denied_address_is_denied_in_every_spelling(address in addresses()) {
        let policy = policy();
        if passes(&policy, address).is_err() {
            for spelling in spellings(address) {
                prop_assert!(passes(&policy, spelling).is_err(), "{address} as {spelling}");
            }
        }
    }

    #[test]
    fn a_public_address_passes_through_nat64_and_nothing_else(address in addresses()) {
        let policy = policy();
        if passes(&policy, address).is_ok() {
            let [a, b, c, d] = address.octets().map(u16::from);
            let known = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a << 8 | b, c << 8 | d);
            prop_assert_eq!(passes(&policy, known), Ok(Passage::Public));
            for (_, spell) in OPERATORS {
                prop_assert_eq!(passes(&policy, spell([a, b, c, d])), Ok(Passage::Public));
            }
            for other in &spellings(address)[..3] {
                prop_assert!(passes(&policy, *other).is_err());
            }
        }
    }

    /// However a host is written: if it is an address and admitted, the standard library finds nothing
    /// against it either.
    #[test]
    fn what_is_admitted_is_public_to_others_too(
        host in "(\\[[0-9a-f:]{2,20}(\\.[0-9]{1,3}){0,3}\\]|0?x?[0-9a-f]{1,10}(\\.0?x?[0-9a-f]{1,4}){0,3}\\.?)"
    ) {
        let Ok(parsed) = Target::parse(&format!("https://{host}/")) else {
            return Ok(());
        };
        let Ok(address) = parsed.host().parse::<IpAddr>() else {
            return Ok(());
        };
        if Policy::strict().admit(&parsed).is_ok() {
            prop_assert!(!address.is_loopback() && !address.is_unspecified());
            prop_assert!(!address.is_multicast());
            match address {
                IpAddr::V4(address) => prop_assert!(
                    !address.is_private()
                        && !address.is_link_local()
                        && !address.is_broadcast()
                        && !address.is_documentation()
                ),
                IpAddr::V6(address) => prop_assert!(
                    address.to_ipv4().is_none()
                        && !address.is_unique_local()
                        && !address.is_unicast_link_local()
                ),
            }
        }
    }

    /// IPv6 at random: nothing outside of 2000::/3 passes but NAT64.
    #[test]
    fn nothing_else_of_ipv6_passes(bits in any::<u128>()) {
        let address = Ipv6Addr::from_bits(bits);
        if bits >> 125 != 1 {
            prop_assert!(passes(&AddressPolicy::public(), address).is_err());
        }
    }
}

const FLOOR_V4: [&str; 9] = [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "169.254.42.42",
    "169.254.0.0",
    "169.254.255.255",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
];
const FLOOR_V6: [&str; 9] = [
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fd00:a9fe:a9fe::1",
    "fd00:100::100:200",
    "fe80::1",
    "fe80::a9fe:a9fe",
];

/// Neither an entry for the range, nor for the address itself, nor for its spelling.
#[test]
fn no_allow_list_opens_the_floor() {
    let wide = [
        "100.0.0.0/8",
        "168.0.0.0/8",
        "169.0.0.0/8",
        "192.0.0.0/8",
        "::/32",
        "64:ff9b::/32",
        "2002::/32",
        "2002:a9fe::/32",
        "2001::/32",
        "fe80::/32",
        "fd00:ec2::/32",
        "fd20:ce::/32",
        "fd00:c1::/32",
        "fd00:42::/32",
        "fd00:a9fe::/32",
        "fd00:100::/32",
        "2606:4700::/32",
    ];
    let policy = wide
        .iter()
        .fold(policy(), |policy, text| policy.allow(net(text)));
    for text in FLOOR_V4 {
        let address: Ipv4Addr = text.parse().unwrap();
        let all = spellings(address).into_iter().map(IpAddr::V6);
        for spelling in all.chain([address.into()]) {
            let own = policy.clone().allow(Allow::address(spelling));
            assert_eq!(
                passes(&own, spelling),
                Err(AddressClass::Metadata),
                "{spelling}"
            );
        }
    }
    for text in FLOOR_V6 {
        let address: IpAddr = text.parse().unwrap();
        let own = policy.clone().allow(Allow::address(address));
        assert_eq!(passes(&own, address), Err(AddressClass::Metadata), "{text}");
    }
    // The neighbours of the floor are open, so the entries do what they say.
    for text in [
        "100.100.100.201",
        "168.63.129.17",
        "192.0.0.193",
        "fd20:ce::253",
    ] {
        let address: IpAddr = text.parse().unwrap();
        assert!(passes(&policy, address).is_ok(), "{text}");
    }
}

#[test]
fn an_entry_opens_the_address_as_dialled_and_no_spelling_of_it() {
    let policy = policy().allow(net("127.0.0.0/8"));
    let address = Ipv4Addr::LOCALHOST;
    assert_eq!(passes(&policy, address), Ok(Passage::AllowListed));
    for spelling in spellings(address) {
        assert!(passes(&policy, spelling).is_err(), "{spelling}");
    }
}

#[test]
fn an_overlay_network_can_be_opened() {
    let policy = AddressPolicy::public().allow(net("100.64.0.0/10"));
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    assert_eq!(
        passes(&policy, address("100.101.102.103")),
        Ok(Passage::AllowListed)
    );
    assert_eq!(
        passes(&policy, address("100.100.100.200")),
        Err(AddressClass::Metadata)
    );
    assert_eq!(passes(&policy, address("8.8.8.8")), Ok(Passage::Public));
}

/// RFC 6052 section 2.2: the octet between the halves is zero, or the address is none of these.
#[test]
fn a_translation_with_a_filled_octet_is_denied() {
    let address: Ipv6Addr = "2a00:48:1:808:108:800::".parse().unwrap();
    assert_eq!(passes(&policy(), address), Err(AddressClass::Reserved));
    let address: Ipv6Addr = "2a00:48:1:808:8:800::".parse().unwrap();
    assert_eq!(passes(&policy(), address), Ok(Passage::Public));
}

#[test]
fn entries_that_are_slips_are_refused() {
    let entry = |text: &str| Allow::net(text.parse::<IpNet>().unwrap()).map(drop);
    for (text, fault) in [
        ("0.0.0.0/0", AllowFault::TooWide),
        ("8.0.0.0/7", AllowFault::TooWide),
        ("::/0", AllowFault::TooWide),
        ("fc00::/7", AllowFault::TooWide),
        ("fd00::/31", AllowFault::TooWide),
        ("10.0.0.1/8", AllowFault::HostBits),
        ("fd00::1/64", AllowFault::HostBits),
    ] {
        assert_eq!(entry(text), Err(fault), "{text}");
    }
    assert_eq!(entry("10.0.0.0/8"), Ok(()));
    let nat64 = |text: &str| {
        let prefix = text.parse().unwrap();
        AddressPolicy::public().nat64(prefix).map(drop)
    };
    assert_eq!(nat64("2a00::/33").unwrap_err(), AllowFault::NotNat64);
    assert_eq!(nat64("10.0.0.0/32").unwrap_err(), AllowFault::NotNat64);
    assert_eq!(nat64("2a00::1/64").unwrap_err(), AllowFault::HostBits);
}
