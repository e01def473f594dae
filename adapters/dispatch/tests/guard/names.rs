//! Names, resolved by a name server of ours over real sockets.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream};
use webhook_dispatch::guard::{
    AddressClass, AddressPolicy, Dns, GuardedClient, Phase, Policy, Refused, ResolveFault,
    SendError,
};

use crate::support::dns::{NameServer, Said};
use crate::support::receiver::Receiver;
use crate::support::{Fixed, any_port, loopback_open, net, post, target};

fn client(server: &NameServer, policy: Policy) -> GuardedClient {
    GuardedClient::builder()
        .policy(policy)
        .resolver(Dns::servers([server.address]).unwrap())
        .deadline(Duration::from_secs(4))
        .build()
        .unwrap()
}

fn refusal(outcome: Result<impl std::fmt::Debug, SendError>) -> (IpAddr, AddressClass) {
    match outcome.unwrap_err() {
        SendError::Refused(Refused::Address(denied)) => (denied.address(), denied.class()),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_name_is_refused_if_any_of_its_addresses_is() {
    let sink = Receiver::sink().await;
    let port = sink.address.port();
    for (said, bad) in [
        (Said::addresses(&["127.0.0.1"]), "127.0.0.1"),
        (Said::addresses(&["::1"]), "::1"),
        // Public on one side of the mirror.
        (Said::addresses(&["8.8.8.8", "::1"]), "::1"),
        (Said::addresses(&["2606:4700::1", "127.0.0.1"]), "127.0.0.1"),
        (
            Said::addresses(&["8.8.8.8", "1.1.1.1", "127.0.0.1"]),
            "127.0.0.1",
        ),
        (
            Said::addresses(&["8.8.8.8", "64:ff9b::7f00:1"]),
            "64:ff9b::7f00:1",
        ),
        (Said::addresses(&["::ffff:127.0.0.1"]), "::ffff:127.0.0.1"),
        (Said::alias("inner.corp.test.", &["127.0.0.1"]), "127.0.0.1"),
        (
            Said::alias("metadata.test.", &["169.254.169.254"]),
            "169.254.169.254",
        ),
        (
            Said::Ipv6Fails(vec!["127.0.0.1".parse().unwrap()]),
            "127.0.0.1",
        ),
    ] {
        let server = NameServer::start(move |_, _| said.clone()).await;
        let client = client(&server, any_port());
        let url = format!("http://hooks.test:{port}/");
        assert_eq!(client.admit(&target(&url)), Ok(()));
        let bad: IpAddr = bad.parse().unwrap();
        assert_eq!(refusal(client.preflight(&target(&url)).await).0, bad);
        assert_eq!(refusal(post(&client, &url).await).0, bad);
    }
    assert_eq!(sink.connections(), 0);
}

/// The public answer goes to whoever checks first, loopback to whoever connects; we are both at once.
#[tokio::test]
async fn rebinding_meets_the_check_of_the_address_that_is_dialled() {
    let sink = Receiver::sink().await;
    let url = format!("http://rebind.test:{}/", sink.address.port());
    let server = NameServer::start(|_, asked| {
        Said::addresses(&[if asked == 0 { "8.8.8.8" } else { "127.0.0.1" }])
    })
    .await;
    let client = client(&server, any_port());
    client.preflight(&target(&url)).await.unwrap();
    let refused = refusal(post(&client, &url).await);
    assert_eq!(refused, ([127, 0, 0, 1].into(), AddressClass::Loopback));
    assert_eq!(sink.connections(), 0);
}

/// The other way round: what was judged is what is dialled, and nobody asks a second time in between.
#[tokio::test]
async fn one_lookup_serves_the_check_and_the_connection() {
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let url = format!("http://rebind.test:{}/", receiver.address.port());
    let server = NameServer::start(|_, asked| {
        Said::addresses(&[if asked == 0 { "127.0.0.1" } else { "10.0.0.1" }])
    })
    .await;
    let client = client(&server, loopback_open());
    let answer = post(&client, &url).await.unwrap();
    assert_eq!(answer.address, receiver.address);
    assert_eq!(server.questions(), 2, "one for each family");
}

#[tokio::test]
async fn a_silent_name_server_takes_no_longer_than_the_deadline() {
    let server = NameServer::start(|_, _| Said::Nothing).await;
    let client = GuardedClient::builder()
        .resolver(Dns::servers([server.address]).unwrap())
        .deadline(Duration::from_millis(500))
        .build()
        .unwrap();
    let error = post(&client, "https://silent.test/").await.unwrap_err();
    assert_eq!(error, SendError::TimedOut(Phase::Resolve));
    assert!(!error.may_have_arrived());
    let target = target("https://silent.test/");
    let error = client.preflight(&target).await.unwrap_err();
    assert_eq!(error, SendError::TimedOut(Phase::Resolve));
}

/// A thousand lookups of a name that nobody answers hold no thread each.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn silent_name_servers_pile_up_no_threads() {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let server = NameServer::start(|_, _| Said::Nothing).await;
    let client = client(&server, any_port());
    let before = threads();
    let lookups: Vec<_> = (0..1000)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { post(&client, &format!("https://n{n}.test/")).await })
        })
        .collect();
    while server.questions() < 100 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Other tests of this process come and go meanwhile, with a runtime each.
    assert!(threads() < before + 200, "{} threads", threads());
    for lookup in lookups {
        assert!(lookup.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn names_without_addresses() {
    let server = NameServer::start(|name, _| match name {
        "empty.test." => Said::addresses(&[]),
        "one-family.test." => Said::Ipv6Fails(vec![[127, 0, 0, 1].into()]),
        _ => Said::NoSuchName,
    })
    .await;
    let client = client(&server, loopback_open());
    for name in ["empty", "unknown"] {
        let error = post(&client, &format!("https://{name}.test/"))
            .await
            .unwrap_err();
        assert_eq!(
            error,
            SendError::Unresolved(ResolveFault::NoAddress),
            "{name}"
        );
    }
    // Half of the answer is lost, the other half is used.
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let url = format!("http://one-family.test:{}/", receiver.address.port());
    assert_eq!(post(&client, &url).await.unwrap().status, 204);
}

#[tokio::test]
async fn names_are_absolute_and_localhost_is_never_asked_for() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&asked);
    let server = NameServer::start(move |name, _| {
        names.lock().unwrap().push(name.to_owned());
        Said::NoSuchName
    })
    .await;
    let client = client(&server, any_port());
    for host in ["metadata", "intranet.", "a.b.test"] {
        post(&client, &format!("https://{host}/"))
            .await
            .unwrap_err();
    }
    for host in ["localhost", "LOCALHOST.", "a.b.localhost"] {
        let refused = refusal(post(&client, &format!("https://{host}/")).await);
        assert_eq!(refused, ([127, 0, 0, 1].into(), AddressClass::Loopback));
    }
    let asked: std::collections::BTreeSet<_> = asked.lock().unwrap().drain(..).collect();
    assert_eq!(
        Vec::from_iter(asked),
        ["a.b.test.", "intranet.", "metadata."]
    );
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let port = receiver.address.port();
    // Nobody listens at the others; IPv6 goes first.
    let server =
        NameServer::start(|_, _| Said::addresses(&["127.0.0.3", "127.0.0.2", "::1", "127.0.0.1"]))
            .await;
    let client = client(&server, loopback_open());
    let answer = post(&client, &format!("http://many.test:{port}/"))
        .await
        .unwrap();
    assert_eq!(answer.address, receiver.address);
    drop(receiver);
    // Kept from before, and dead now.
    let error = post(&client, &format!("http://many.test:{}/", free_port().await)).await;
    let refused = SendError::Unreachable(std::io::ErrorKind::ConnectionRefused);
    assert_eq!(error.unwrap_err(), refused);
}

/// One address swallows calls, as behind a firewall; the next one is called before the deadline.
#[tokio::test]
async fn an_address_that_swallows_calls_does_not_use_up_the_deadline() {
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let port = receiver.address.port();
    let swallows: SocketAddr = ([127, 0, 0, 2], port).into();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(swallows).unwrap();
    let _full = socket.listen(1).unwrap();
    // Nobody accepts, so the queue fills, and what comes later is not answered any more.
    let mut waiting = Vec::new();
    loop {
        let call = tokio::time::timeout(Duration::from_millis(100), TcpStream::connect(swallows));
        match call.await {
            Ok(connected) => waiting.push(connected.unwrap()),
            Err(_) => break,
        }
    }
    let client = GuardedClient::builder()
        .policy(loopback_open())
        .resolver(Fixed::new(&["127.0.0.2", "127.0.0.1"]))
        .build()
        .unwrap();
    let url = format!("http://hooks.test:{port}/");
    let answer = post(&client, &url).await.unwrap();
    assert_eq!(answer.address, receiver.address);
    let connected = answer.times.connected.unwrap();
    assert!(connected >= Duration::from_millis(250), "{connected:?}");
}

async fn free_port() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

/// A narrow entry opens one host's private address, not everybody's names for it.
#[tokio::test]
async fn an_entry_can_be_narrowed_to_a_host_and_a_port() {
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let other = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    let server = NameServer::start(|_, _| Said::addresses(&["127.0.0.1"])).await;
    let port = receiver.address.port();
    let entry = net("127.0.0.1/32").only_host("inner.test").only_port(port);
    let policy = any_port().addresses(AddressPolicy::public().allow(entry));
    let client = client(&server, policy);
    let url = |host: &str, port: u16| format!("http://{host}:{port}/");
    assert_eq!(
        post(&client, &url("inner.test", port))
            .await
            .unwrap()
            .status,
        204
    );
    for url in [
        url("stranger.test", port),
        url("inner.test", other.address.port()),
        url("127.0.0.1", port),
    ] {
        let class = refusal(post(&client, &url).await).1;
        assert_eq!(class, AddressClass::Loopback, "{url}");
    }
    assert_eq!((receiver.connections(), other.connections()), (1, 0));
}
