//! IPv4 addresses inside IPv6 addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::Ipv6Net;

use super::registry::NAT64;

/// Every IPv4 address that one of the standard spellings may find in `address`.
///
/// Spellings overlap and none is preferred: whoever judges must judge all of them.
pub(super) fn every(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let guesses = LOCAL_LENGTHS
        .into_iter()
        .filter(move |_| LOCAL.contains(&address))
        .map(move |length| translated(address, length));
    certain(address).chain(guesses)
}

/// As [`every`], without guesses.
pub(super) fn certain(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    [
        last(address),
        six_to_four(address),
        teredo_server(address),
        teredo_client(address),
        isatap(address),
    ]
    .into_iter()
    .flatten()
}

/// The IPv4 address behind a NAT64 whose prefix has `length` bits (RFC 6052 section 2.2).
///
/// The octet at bits 64 to 71 belongs to neither; [`has_zero_octet`] checks it.
pub(super) fn translated(address: Ipv6Addr, length: u8) -> Ipv4Addr {
    let bits = address.to_bits();
    // Cut out the reserved octet, so that the 32 bits stand together behind every prefix.
    let upper = bits >> 64;
    let lower = bits & 0x00ff_ffff_ffff_ffff;
    let joined = upper << 56 | lower;
    low_32(match length {
        32 => joined >> 56,
        40 => joined >> 48,
        48 => joined >> 40,
        56 => joined >> 32,
        64 => joined >> 24,
        _ => bits,
    })
}

/// Whether the octet that RFC 6052 reserves is zero, as it must be.
pub(super) fn has_zero_octet(address: Ipv6Addr) -> bool {
    address.octets()[8] == 0
}

/// The last 32 bits, where the prefix says that they are an IPv4 address: IPv4-compatible, IPv4-mapped,
/// SIIT (`::ffff:0:a.b.c.d`) and the well-known prefix of NAT64.
fn last(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let is_spelling = matches!(
        address.segments(),
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..]
    );
    (is_spelling || NAT64.contains(&address)).then(|| low_32(address.to_bits()))
}

/// `2002:a.b.c.d::/48`, RFC 3056.
fn six_to_four(address: Ipv6Addr) -> Option<Ipv4Addr> {
    (address.segments()[0] == 0x2002).then(|| low_32(address.to_bits() >> 80))
}

/// `2001:0:a.b.c.d::`, the server of a Teredo tunnel; RFC 4380 section 4.
fn teredo_server(address: Ipv6Addr) -> Option<Ipv4Addr> {
    is_teredo(address).then(|| low_32(address.to_bits() >> 64))
}

/// The last 32 bits, inverted: the client of a Teredo tunnel.
fn teredo_client(address: Ipv6Addr) -> Option<Ipv4Addr> {
    is_teredo(address).then(|| low_32(!address.to_bits()))
}

fn is_teredo(address: Ipv6Addr) -> bool {
    address.segments()[..2] == [0x2001, 0]
}

/// The interface identifier `[02]00:5efe:a.b.c.d`, under any prefix; RFC 5214 section 6.1.
fn isatap(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [_, _, _, _, flags, tag, ..] = address.segments();
    let is_isatap = flags & !0x0300 == 0 && tag == 0x5efe;
    is_isatap.then(|| low_32(address.to_bits()))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low 32 bits are what is meant"
)]
const fn low_32(bits: u128) -> Ipv4Addr {
    Ipv4Addr::from_bits(bits as u32)
}

/// For translators of one network, RFC 8215. Which length such a network uses nobody can see.
const LOCAL: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48);

const LOCAL_LENGTHS: [u8; 4] = [48, 56, 64, 96];

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of RFC 6052 section 2.4.
    #[test]
    fn translations_of_every_length() {
        for (length, text) in [
            (32, "2001:db8:c000:221::"),
            (40, "2001:db8:1c0:2:21::"),
            (48, "2001:db8:122:c000:2:2100::"),
            (56, "2001:db8:122:3c0:0:221::"),
            (64, "2001:db8:122:344:c0:2:2100::"),
            (96, "2001:db8:122:344::192.0.2.33"),
        ] {
            let address: Ipv6Addr = text.parse().unwrap();
            assert_eq!(
                translated(address, length),
                Ipv4Addr::new(192, 0, 2, 33),
                "{text}"
            );
            assert!(has_zero_octet(address), "{text}");
        }
        assert!(!has_zero_octet("2001:db8:122:344:100::".parse().unwrap()));
    }

    #[test]
    fn each_spelling_is_found() {
        for text in [
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1:7f00:0:100::",
            "64:ff9b:1::7f00:1",
            "2002:7f00:1::",
            "2001:0:7f00:1::",
            "2001:0:808:808:0:0:80ff:fffe",
            "2606:4700::5efe:127.0.0.1",
            "2606:4700::200:5efe:7f00:1",
            "2606:4700::100:5efe:7f00:1",
        ] {
            let address = text.parse().unwrap();
            assert!(every(address).any(|ipv4| ipv4.is_loopback()), "{text}");
        }
        assert_eq!(every("2606:4700::7f00:1".parse().unwrap()).count(), 0);
    }
}
