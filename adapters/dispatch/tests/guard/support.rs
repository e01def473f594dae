//! What the tests stand on.

pub(crate) mod dns;
pub(crate) mod receiver;

use std::net::IpAddr;
use std::time::Duration;

use http::HeaderMap;
use ipnet::IpNet;
use webhook_dispatch::guard::{
    AddressPolicy, Allow, Answer, GuardedClient, GuardedClientBuilder, GuardedRequest, Policy,
    Resolve, Resolving, SendError, Target,
};

/// Every address is public or denied; schemes and ports are not what is tested.
pub(crate) fn any_port() -> Policy {
    Policy::strict().allow_http().any_port()
}

/// As [`any_port`], with loopback open.
pub(crate) fn loopback_open() -> Policy {
    any_port().addresses(loopback())
}

pub(crate) fn loopback() -> AddressPolicy {
    AddressPolicy::public()
        .allow(net("127.0.0.0/8"))
        .allow(net("::1/128"))
}

pub(crate) fn net(text: &str) -> Allow {
    Allow::net(text.parse::<IpNet>().unwrap()).unwrap()
}

/// A client whose names all resolve to 127.0.0.1, which is open.
pub(crate) fn builder() -> GuardedClientBuilder {
    GuardedClient::builder()
        .policy(loopback_open())
        .resolver(Fixed::new(&["127.0.0.1"]))
}

pub(crate) fn client() -> GuardedClient {
    builder().build().unwrap()
}

/// As [`client`], in a hurry.
pub(crate) fn impatient() -> GuardedClient {
    builder()
        .deadline(Duration::from_millis(700))
        .build()
        .unwrap()
}

pub(crate) fn target(text: &str) -> Target {
    Target::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

pub(crate) async fn post(client: &GuardedClient, url: &str) -> Result<Answer, SendError> {
    let request = GuardedRequest::post(target(url), r#"{"hello":"world"}"#);
    client.send(&request, HeaderMap::new).await
}

/// A resolver with one answer to everything.
#[derive(Debug, Clone)]
pub(crate) struct Fixed(Vec<IpAddr>);

impl Fixed {
    pub(crate) fn new(addresses: &[&str]) -> Self {
        let addresses = addresses.iter();
        Self(addresses.map(|text| text.parse().unwrap()).collect())
    }
}

impl Resolve for Fixed {
    fn resolve<'a>(&'a self, _name: &'a str) -> Resolving<'a> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}
