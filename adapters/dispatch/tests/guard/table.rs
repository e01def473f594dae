//! URLs and answers of name servers that must not lead anywhere, and why not.
//!
//! `{p}` is the port of a sink that listens on every address of this host. Whatever slips through and
//! means this host is counted there.

use std::time::Duration;

use webhook_dispatch::guard::AddressClass::{
    Benchmarking, Broadcast, Discard, Documentation, Loopback, Metadata, Multicast, Private,
    ProtocolAssignment, Reserved, Shared, SiteLocal, Translation, Tunnel, UniqueLocal, Unspecified,
};
use webhook_dispatch::guard::TargetFault::{
    AmbiguousCharacter, Host, Port, Scheme, Syntax, UserInfo,
};
use webhook_dispatch::guard::{
    AddressClass, GuardedClient, Refused, SendError, Target, TargetFault,
};

use crate::support::receiver::Receiver;
use crate::support::{Fixed, any_port, loopback_open, post, target};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Class(AddressClass),
    Fault(TargetFault),
}
use Why::{Class, Fault};

#[tokio::test]
async fn urls_that_lead_nowhere() {
    let sink = Receiver::sink().await;
    let port = sink.address.port().to_string();
    // A name that is resolved after all leads to the sink.
    let client = client(&["127.0.0.1"]);
    let mut wrong = Vec::new();
    for (text, expected) in URLS {
        let url = text.replace("{p}", &port);
        let why = match Target::parse(&url) {
            Err(fault) => Some(Fault(fault)),
            Ok(target) => {
                // Saving says what sending says.
                let saved = client.admit(&target);
                let sent = post(&client, &url).await;
                assert_eq!(
                    sent.unwrap_err(),
                    SendError::Refused(saved.clone().unwrap_err())
                );
                match saved {
                    Err(Refused::Address(denied)) => Some(Class(denied.class())),
                    _ => None,
                }
            }
        };
        if why != Some(*expected) {
            wrong.push(format!("{text:?}: {why:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(sink.connections(), 0);
}

#[tokio::test]
async fn answers_of_name_servers_that_lead_nowhere() {
    let sink = Receiver::sink().await;
    let port = sink.address.port();
    for (address, class) in RESOLVED {
        for answer in [
            vec![*address],
            vec!["8.8.8.8", *address],
            vec![*address, "2606:4700::1"],
        ] {
            let client = client(&answer);
            for url in [
                format!("http://hooks.test:{port}/"),
                format!("https://hooks.test:{port}/"),
            ] {
                match post(&client, &url).await.unwrap_err() {
                    SendError::Refused(Refused::Address(denied)) => {
                        assert_eq!(denied.class(), *class, "{address}");
                        assert_eq!(
                            denied.address(),
                            address.parse::<std::net::IpAddr>().unwrap()
                        );
                    }
                    other => panic!("{address}: {other}"),
                }
            }
        }
    }
    assert_eq!(sink.connections(), 0);
}

/// The sink counts: what is open gets there.
#[tokio::test]
async fn the_sink_would_have_noticed() {
    let sink = Receiver::sink().await;
    let client = GuardedClient::builder()
        .policy(loopback_open())
        .resolver(Fixed::new(&["127.0.0.1"]))
        .deadline(Duration::from_millis(300))
        .build()
        .unwrap();
    for host in ["127.0.0.1", "0x7f.1", "[::1]", "localhost", "hooks.test"] {
        let url = format!("http://{host}:{}/", sink.address.port());
        assert!(
            matches!(post(&client, &url).await, Err(SendError::TimedOut(_))),
            "{host}"
        );
    }
    assert_eq!(sink.connections(), 5);
}

/// Odd and public: how an address is written is no reason to refuse it.
#[test]
fn public_urls_are_admitted() {
    for url in [
        "https://8.8.8.8/",
        "https://134744072/",
        "https://0x8.8.2056/",
        "https://[2606:4700:4700::1111]/",
        "https://[64:ff9b::8.8.8.8]/",
        "https://hooks.test/",
        "https://hooks.test./",
        "https://127.0.0.1.nip.io/",
        "https://xn--bcher-kva.test/",
        "https://b\u{fc}cher.test/",
        "https://under_score.test/a%20b?c=%5C",
    ] {
        assert_eq!(any_port().admit(&target(url)), Ok(()), "{url}");
    }
}

#[test]
fn the_table_is_as_long_as_it_should_be() {
    assert!(
        URLS.len() > 250 && RESOLVED.len() > 50,
        "{} {}",
        URLS.len(),
        RESOLVED.len()
    );
}

/// A client under the default address policy whose every name has these addresses.
fn client(addresses: &[&str]) -> GuardedClient {
    GuardedClient::builder()
        .policy(any_port())
        .resolver(Fixed::new(addresses))
        .build()
        .unwrap()
}

#[rustfmt::skip]
const URLS: &[(&str, Why)] = &[
    ("http://127.0.0.1:{p}/", Class(Loopback)),
    ("http://127.0.0.1.:{p}/", Class(Loopback)),
    ("http://127.1:{p}/", Class(Loopback)),
    ("http://127.0.1:{p}/", Class(Loopback)),
    ("http://127.000.000.001:{p}/", Class(Loopback)),
    ("http://127.255.255.255:{p}/", Class(Loopback)),
    ("http://127.0.0.2:{p}/", Class(Loopback)),
    ("http://127.127.127.127:{p}/", Class(Loopback)),
    ("http://2130706433:{p}/", Class(Loopback)),
    ("http://017700000001:{p}/", Class(Loopback)),
    ("http://0x7f000001:{p}/", Class(Loopback)),
    ("http://0X7F000001:{p}/", Class(Loopback)),
    ("http://0x7f.1:{p}/", Class(Loopback)),
    ("http://0x7F.0.0.1:{p}/", Class(Loopback)),
    ("http://0x7f.0x0.0x0.0x1:{p}/", Class(Loopback)),
    ("http://0177.0.0.1:{p}/", Class(Loopback)),
    ("http://0177.1:{p}/", Class(Loopback)),
    ("http://0177.0.01:{p}/", Class(Loopback)),
    ("http://00000177.0.0.1:{p}/", Class(Loopback)),
    ("http://127.0x0.0.01:{p}/", Class(Loopback)),
    ("http://0x7f.0.1:{p}/", Class(Loopback)),
    ("http://127.0.0x1:{p}/", Class(Loopback)),
    ("http://0x000000007f.0.0.1:{p}/", Class(Loopback)),
    ("http://2130706434:{p}/", Class(Loopback)),
    ("http://0x7fffffff:{p}/", Class(Loopback)),
    ("http://1２7.0.0.1:{p}/", Class(Loopback)),
    ("http://１２７.０.０.１:{p}/", Class(Loopback)),
    ("http://①②⑦.⓪.⓪.①:{p}/", Class(Loopback)),
    ("http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:{p}/", Class(Loopback)),
    ("http://%31%32%37.0.0.1:{p}/", Class(Loopback)),
    ("http://127%2e0%2e0%2e1:{p}/", Class(Loopback)),
    ("http://%3127.1:{p}/", Class(Loopback)),
    ("http://127。0。0。1:{p}/", Class(Loopback)),
    ("http://127．0．0．1:{p}/", Class(Loopback)),
    ("http://127｡0｡0｡1:{p}/", Class(Loopback)),
    ("http://1\u{ad}27.0.0.1:{p}/", Class(Loopback)),
    ("http://127.0.0.1\u{200b}:{p}/", Class(Loopback)),
    ("http://LOCALHOST:{p}/", Class(Loopback)),
    ("http://localhost:{p}/", Class(Loopback)),
    ("http://localhost.:{p}/", Class(Loopback)),
    ("http://LocalHost.:{p}/", Class(Loopback)),
    ("http://lo\u{ad}calhost:{p}/", Class(Loopback)),
    ("http://ｌｏｃａｌｈｏｓｔ:{p}/", Class(Loopback)),
    ("http://%6cocalhost:{p}/", Class(Loopback)),
    ("http://localhos%74:{p}/", Class(Loopback)),
    ("http://localhost%2e:{p}/", Class(Loopback)),
    ("http://a.localhost:{p}/", Class(Loopback)),
    ("http://evil.test.localhost:{p}/", Class(Loopback)),
    ("http://a.b.localhost.:{p}/", Class(Loopback)),
    ("http:///127.0.0.1:{p}/", Class(Loopback)),
    ("http:127.0.0.1:{p}/", Class(Loopback)),
    ("http:/127.0.0.1:{p}/", Class(Loopback)),
    ("HTTP://127.0.0.1:{p}/", Class(Loopback)),
    ("https://127.0.0.1:{p}/", Class(Loopback)),
    ("http://127.0.0.1:{p}", Class(Loopback)),
    ("http://127.0.0.1:{p}?x=y", Class(Loopback)),
    ("http://127.0.0.1:{p}#@8.8.8.8/", Class(Loopback)),
    ("http://127.0.0.1:{p}/@8.8.8.8/", Class(Loopback)),
    ("http://127.0.0.1:0{p}/", Class(Loopback)),
    ("http://[::1]:{p}/", Class(Loopback)),
    ("http://[0:0:0:0:0:0:0:1]:{p}/", Class(Loopback)),
    ("http://[000:0:0000::01]:{p}/", Class(Loopback)),
    ("http://[0000:0000:0000:0000:0000:0000:0000:0001]:{p}/", Class(Loopback)),
    ("http://[::0.0.0.1]:{p}/", Class(Loopback)),
    ("https://[::1]:{p}/", Class(Loopback)),
    ("http://[::ffff:127.0.0.1]:{p}/", Class(Loopback)),
    ("http://[::ffff:7f00:1]:{p}/", Class(Loopback)),
    ("http://[::FFFF:7F00:0001]:{p}/", Class(Loopback)),
    ("http://[0:0:0:0:0:ffff:127.0.0.1]:{p}/", Class(Loopback)),
    ("http://[::127.0.0.1]:{p}/", Class(Loopback)),
    ("http://[::7f00:1]:{p}/", Class(Loopback)),
    ("http://[::ffff:0:7f00:1]:{p}/", Class(Loopback)),
    ("http://[::ffff:0:127.0.0.1]:{p}/", Class(Loopback)),
    ("http://[64:ff9b::7f00:1]:{p}/", Class(Loopback)),
    ("http://[64:ff9b::127.0.0.1]:{p}/", Class(Loopback)),
    ("http://[64:ff9b:1:7f00:0:100::]:{p}/", Class(Translation)),
    ("http://[64:ff9b:1::7f00:1]:{p}/", Class(Translation)),
    ("http://[2002:7f00:1::]:{p}/", Class(Loopback)),
    ("http://[2002:7f00:1::1]:{p}/", Class(Loopback)),
    ("http://[2001:0:7f00:1::]:{p}/", Class(Loopback)),
    ("http://[2001:0:808:808::80ff:fffe]:{p}/", Class(Loopback)),
    ("http://[2606:4700::5efe:7f00:1]:{p}/", Class(Loopback)),
    ("http://[2606:4700::200:5efe:127.0.0.1]:{p}/", Class(Loopback)),
    ("http://0.0.0.0:{p}/", Class(Unspecified)),
    ("http://0:{p}/", Class(Unspecified)),
    ("http://0x0:{p}/", Class(Unspecified)),
    ("http://00:{p}/", Class(Unspecified)),
    ("http://0.0:{p}/", Class(Unspecified)),
    ("http://0.1.2.3:{p}/", Class(Unspecified)),
    ("http://0.255.255.255:{p}/", Class(Unspecified)),
    ("http://00.0.0.0:{p}/", Class(Unspecified)),
    ("http://[::]:{p}/", Class(Unspecified)),
    ("http://[0:0:0:0:0:0:0:0]:{p}/", Class(Unspecified)),
    ("http://[::0]:{p}/", Class(Unspecified)),
    ("http://[::0.0.0.0]:{p}/", Class(Unspecified)),
    ("http://[::ffff:0.0.0.0]:{p}/", Class(Unspecified)),
    ("http://[::ffff:0:0]:{p}/", Class(Unspecified)),
    ("http://[64:ff9b::]:{p}/", Class(Unspecified)),
    ("http://10.0.0.1:{p}/", Class(Private)),
    ("http://10.255.255.255:{p}/", Class(Private)),
    ("http://10.1:{p}/", Class(Private)),
    ("http://0xa.1:{p}/", Class(Private)),
    ("http://012.1.2.3:{p}/", Class(Private)),
    ("http://167772161:{p}/", Class(Private)),
    ("http://172.16.0.1:{p}/", Class(Private)),
    ("http://172.31.255.255:{p}/", Class(Private)),
    ("http://192.168.0.1:{p}/", Class(Private)),
    ("http://192.168.1:{p}/", Class(Private)),
    ("http://0xc0a80001:{p}/", Class(Private)),
    ("http://3232235521:{p}/", Class(Private)),
    ("http://192.168.255.255:{p}/", Class(Private)),
    ("http://[::ffff:10.0.0.1]:{p}/", Class(Private)),
    ("http://[::ffff:c0a8:1]:{p}/", Class(Private)),
    ("http://[64:ff9b::10.0.0.1]:{p}/", Class(Private)),
    ("http://[2002:a00:1::]:{p}/", Class(Private)),
    ("http://[2002:c0a8:1::1]:{p}/", Class(Private)),
    ("http://169.254.169.254:{p}/", Class(Metadata)),
    ("http://169.254.170.2:{p}/", Class(Metadata)),
    ("http://169.254.170.23:{p}/", Class(Metadata)),
    ("http://169.254.42.42:{p}/", Class(Metadata)),
    ("http://169.254.0.1:{p}/", Class(Metadata)),
    ("http://2852039166:{p}/", Class(Metadata)),
    ("http://0xa9fea9fe:{p}/", Class(Metadata)),
    ("http://0251.0376.0251.0376:{p}/", Class(Metadata)),
    ("http://169.254.43518:{p}/", Class(Metadata)),
    ("http://0xa9.254.0251.254:{p}/", Class(Metadata)),
    ("http://[::ffff:169.254.169.254]:{p}/", Class(Metadata)),
    ("http://[::ffff:a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[::a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[::ffff:0:a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[64:ff9b::a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[64:ff9b:1::a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[64:ff9b:1:a9fe:a9:fe00::]:{p}/", Class(Metadata)),
    ("http://[2002:a9fe:a9fe::]:{p}/", Class(Metadata)),
    ("http://[2001:0:a9fe:a9fe::]:{p}/", Class(Metadata)),
    ("http://[2001:0:808:808::5601:5601]:{p}/", Class(Metadata)),
    ("http://[2606:4700::5efe:a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[fd00:ec2::254]:{p}/", Class(Metadata)),
    ("http://[fd00:ec2::23]:{p}/", Class(Metadata)),
    ("http://[fd20:ce::254]:{p}/", Class(Metadata)),
    ("http://[fd00:c1::a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[fd00:42::42]:{p}/", Class(Metadata)),
    ("http://[fe80::1]:{p}/", Class(Metadata)),
    ("http://[fe80::a9fe:a9fe]:{p}/", Class(Metadata)),
    ("http://[fe81::1]:{p}/", Class(Metadata)),
    ("http://[febf:ffff::1]:{p}/", Class(Metadata)),
    ("http://100.100.100.200:{p}/", Class(Metadata)),
    ("http://1684301000:{p}/", Class(Metadata)),
    ("http://[64:ff9b::100.100.100.200]:{p}/", Class(Metadata)),
    ("http://192.0.0.192:{p}/", Class(Metadata)),
    ("http://168.63.129.16:{p}/", Class(Metadata)),
    ("http://[::ffff:168.63.129.16]:{p}/", Class(Metadata)),
    ("http://[64:ff9b::168.63.129.16]:{p}/", Class(Metadata)),
    ("http://100.64.0.1:{p}/", Class(Shared)),
    ("http://100.127.255.255:{p}/", Class(Shared)),
    ("http://[::ffff:100.64.0.1]:{p}/", Class(Shared)),
    ("http://192.0.0.1:{p}/", Class(ProtocolAssignment)),
    ("http://192.0.0.9:{p}/", Class(ProtocolAssignment)),
    ("http://192.0.0.170:{p}/", Class(ProtocolAssignment)),
    ("http://192.31.196.1:{p}/", Class(ProtocolAssignment)),
    ("http://192.52.193.1:{p}/", Class(ProtocolAssignment)),
    ("http://192.175.48.1:{p}/", Class(ProtocolAssignment)),
    ("http://[2001:1::1]:{p}/", Class(ProtocolAssignment)),
    ("http://[2001:3::1]:{p}/", Class(ProtocolAssignment)),
    ("http://[2001:20::1]:{p}/", Class(ProtocolAssignment)),
    ("http://[2001:4:112::1]:{p}/", Class(ProtocolAssignment)),
    ("http://[2620:4f:8000::1]:{p}/", Class(ProtocolAssignment)),
    ("http://192.0.2.1:{p}/", Class(Documentation)),
    ("http://198.51.100.1:{p}/", Class(Documentation)),
    ("http://203.0.113.1:{p}/", Class(Documentation)),
    ("http://[2001:db8::1]:{p}/", Class(Documentation)),
    ("http://[3fff::1]:{p}/", Class(Documentation)),
    ("http://[3fff:fff::1]:{p}/", Class(Documentation)),
    ("http://198.18.0.1:{p}/", Class(Benchmarking)),
    ("http://198.19.255.255:{p}/", Class(Benchmarking)),
    ("http://[2001:2::1]:{p}/", Class(Benchmarking)),
    ("http://224.0.0.1:{p}/", Class(Multicast)),
    ("http://239.255.255.255:{p}/", Class(Multicast)),
    ("http://[ff02::1]:{p}/", Class(Multicast)),
    ("http://[ff0e::1]:{p}/", Class(Multicast)),
    ("http://[64:ff9b::224.0.0.1]:{p}/", Class(Multicast)),
    ("http://240.0.0.1:{p}/", Class(Reserved)),
    ("http://255.255.255.254:{p}/", Class(Reserved)),
    ("http://[5f00::1]:{p}/", Class(Reserved)),
    ("http://[4000::1]:{p}/", Class(Reserved)),
    ("http://[200::1]:{p}/", Class(Reserved)),
    ("http://[100:0:0:1::1]:{p}/", Class(Reserved)),
    ("http://255.255.255.255:{p}/", Class(Broadcast)),
    ("http://4294967295:{p}/", Class(Broadcast)),
    ("http://0xffffffff:{p}/", Class(Broadcast)),
    ("http://[::ffff:255.255.255.255]:{p}/", Class(Broadcast)),
    ("http://192.88.99.1:{p}/", Class(Tunnel)),
    ("http://[2002:808:808::1]:{p}/", Class(Tunnel)),
    ("http://[2001:0:808:808::f7f7:f7f7]:{p}/", Class(Tunnel)),
    ("http://[::ffff:8.8.8.8]:{p}/", Class(Translation)),
    ("http://[::8.8.8.8]:{p}/", Class(Translation)),
    ("http://[::ffff:0:808:808]:{p}/", Class(Translation)),
    ("http://[64:ff9b:1::808:808]:{p}/", Class(Translation)),
    ("http://[fc00::1]:{p}/", Class(UniqueLocal)),
    ("http://[fd12:3456:789a::1]:{p}/", Class(UniqueLocal)),
    ("http://[fdff:ffff::1]:{p}/", Class(UniqueLocal)),
    ("http://[fec0::1]:{p}/", Class(SiteLocal)),
    ("http://[feff::1]:{p}/", Class(SiteLocal)),
    ("http://[100::1]:{p}/", Class(Discard)),
    ("", Fault(Syntax)),
    ("127.0.0.1:{p}", Fault(Syntax)),
    ("//127.0.0.1:{p}/", Fault(Syntax)),
    ("http://", Fault(Syntax)),
    ("http://:{p}/", Fault(Syntax)),
    ("http://256.256.256.256/", Fault(Syntax)),
    ("http://4294967296/", Fault(Syntax)),
    ("http://1.2.3.4.5/", Fault(Syntax)),
    ("http://foo.0x7f/", Fault(Syntax)),
    ("http://127.0.0.1.0x/", Fault(Syntax)),
    ("http://[::1%25lo]:{p}/", Fault(Syntax)),
    ("http://[::1/", Fault(Syntax)),
    ("http://[hooks.test]/", Fault(Syntax)),
    ("http://[127.0.0.1]:{p}/", Fault(Syntax)),
    ("http://[::1]]/", Fault(Syntax)),
    ("http://127.0.0.1:65536/", Fault(Syntax)),
    ("http://127.0.0.1:port/", Fault(Syntax)),
    ("http://127.0.0.1:-1/", Fault(Syntax)),
    ("http://ho<st/", Fault(Syntax)),
    ("http://ho^st/", Fault(Syntax)),
    ("http://xn--/", Fault(Syntax)),
    ("http://%00/", Fault(Syntax)),
    ("http://%/", Fault(Syntax)),
    ("http://a%20b/", Fault(Syntax)),
    ("https://user@8.8.8.8/", Fault(UserInfo)),
    ("https://user:password@8.8.8.8/", Fault(UserInfo)),
    ("https://:password@8.8.8.8/", Fault(UserInfo)),
    ("https://8.8.8.8:443@127.0.0.1:{p}/", Fault(UserInfo)),
    ("http://8.8.8.8%40@127.0.0.1:{p}/", Fault(UserInfo)),
    ("http://hooks.test@127.0.0.1:{p}/", Fault(UserInfo)),
    ("http://a@b@127.0.0.1:{p}/", Fault(UserInfo)),
    ("file:///etc/passwd", Fault(Scheme)),
    ("gopher://127.0.0.1:{p}/_x", Fault(Scheme)),
    ("ftp://127.0.0.1:{p}/", Fault(Scheme)),
    ("ws://127.0.0.1:{p}/", Fault(Scheme)),
    ("dict://127.0.0.1:{p}/", Fault(Scheme)),
    ("data:,x", Fault(Scheme)),
    ("javascript:alert(1)", Fault(Scheme)),
    ("localhost:{p}", Fault(Scheme)),
    ("unix:/run/docker.sock", Fault(Scheme)),
    ("jar:http://127.0.0.1:{p}!/", Fault(Scheme)),
    ("http://evil.test\\@127.0.0.1:{p}/", Fault(AmbiguousCharacter)),
    ("http:\\\\127.0.0.1:{p}/", Fault(AmbiguousCharacter)),
    ("http://127.0.0.1:{p}\\", Fault(AmbiguousCharacter)),
    ("lo\tcal", Fault(AmbiguousCharacter)),
    ("http://lo\tcalhost:{p}/", Fault(AmbiguousCharacter)),
    ("http://local\nhost:{p}/", Fault(AmbiguousCharacter)),
    (" http://127.0.0.1:{p}/", Fault(AmbiguousCharacter)),
    ("http://127.0.0.1:{p}/\r\nx: y", Fault(AmbiguousCharacter)),
    ("http://127.0.0.1:{p}/a b", Fault(AmbiguousCharacter)),
    ("http://127.0.0.1\u{a0}:{p}/", Fault(AmbiguousCharacter)),
    ("http://8.8.8.8/\0", Fault(AmbiguousCharacter)),
    ("http://localhost..:{p}/", Fault(Host)),
    ("http://.localhost:{p}/", Fault(Host)),
    ("http://a..test/", Fault(Host)),
    ("http://./", Fault(Host)),
    ("http://a!b.test/", Fault(Host)),
    ("http://127.0.0.1:0/", Fault(Port)),
    ("https://8.8.8.8:0/", Fault(Port)),
];

#[rustfmt::skip]
const RESOLVED: &[(&str, AddressClass)] = &[
    ("127.0.0.1", Loopback),
    ("127.255.255.254", Loopback),
    ("::1", Loopback),
    ("::ffff:127.0.0.1", Loopback),
    ("::127.0.0.1", Loopback),
    ("::ffff:0:127.0.0.1", Loopback),
    ("64:ff9b::127.0.0.1", Loopback),
    ("64:ff9b:1::127.0.0.1", Translation),
    ("2002:7f00:1::1", Loopback),
    ("2001:0:7f00:1::1", Loopback),
    ("2606:4700::5efe:127.0.0.1", Loopback),
    ("0.0.0.0", Unspecified),
    ("0.0.0.1", Unspecified),
    ("::", Unspecified),
    ("::ffff:0.0.0.0", Unspecified),
    ("10.0.0.1", Private),
    ("172.16.0.1", Private),
    ("172.31.255.255", Private),
    ("192.168.0.1", Private),
    ("::ffff:192.168.0.1", Private),
    ("64:ff9b::10.0.0.1", Private),
    ("2002:a00:1::1", Private),
    ("169.254.169.254", Metadata),
    ("169.254.170.2", Metadata),
    ("169.254.170.23", Metadata),
    ("::ffff:169.254.169.254", Metadata),
    ("64:ff9b::169.254.169.254", Metadata),
    ("fd00:ec2::254", Metadata),
    ("fd20:ce::254", Metadata),
    ("fd00:c1::a9fe:a9fe", Metadata),
    ("fe80::1", Metadata),
    ("100.100.100.200", Metadata),
    ("192.0.0.192", Metadata),
    ("168.63.129.16", Metadata),
    ("100.64.0.1", Shared),
    ("192.0.0.8", ProtocolAssignment),
    ("192.0.2.1", Documentation),
    ("198.18.0.1", Benchmarking),
    ("198.51.100.7", Documentation),
    ("203.0.113.7", Documentation),
    ("224.0.0.251", Multicast),
    ("255.255.255.255", Broadcast),
    ("240.0.0.1", Reserved),
    ("fc00::1", UniqueLocal),
    ("fd12::1", UniqueLocal),
    ("fec0::1", SiteLocal),
    ("ff02::fb", Multicast),
    ("2001:db8::1", Documentation),
    ("2001:1::1", ProtocolAssignment),
    ("2001:2::1", Benchmarking),
    ("2002:808:808::1", Tunnel),
    ("3fff::1", Documentation),
    ("5f00::1", Reserved),
    ("100::1", Discard),
    ("4000::1", Reserved),
    ("64:ff9b:1::808:808", Translation),
];
