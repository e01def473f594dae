//! What may be sent where.

use std::net::{IpAddr, SocketAddr};

use super::address::{AddressPolicy, DeniedAddress, Passage};
use super::target::Target;

/// What may be sent where: https to public addresses, ports 443 and 8443, unless told otherwise.
///
/// Change it at run time by [`super::GuardedClient::set_policy`].
#[derive(Debug, Clone)]
pub struct Policy {
    addresses: AddressPolicy,
    allows_http: bool,
    ports: Ports,
}

impl Policy {
    /// https to public addresses, ports 443 and 8443.
    pub fn strict() -> Self {
        Self {
            addresses: AddressPolicy::public(),
            allows_http: false,
            ports: Ports::Only(vec![443, 8443]),
        }
    }

    /// Which addresses may be dialled.
    #[must_use]
    pub fn addresses(mut self, addresses: AddressPolicy) -> Self {
        self.addresses = addresses;
        self
    }

    /// Admit plain http. Whoever is on the way then reads bodies, and replays signatures within their
    /// tolerance.
    ///
    /// Its ports must be admitted too: `Policy::strict().allow_http().ports([80, 443])`.
    #[must_use]
    pub fn allow_http(mut self) -> Self {
        self.allows_http = true;
        self
    }

    /// Admit every port but 0. A receiver's address may then be dialled at services that are not HTTP.
    #[must_use]
    pub fn any_port(mut self) -> Self {
        self.ports = Ports::Any;
        self
    }

    /// Admit these ports and no others.
    #[must_use]
    pub fn ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports = Ports::Only(ports.into_iter().collect());
        self
    }

    /// Check what can be known of `target` without DNS.
    ///
    /// # Errors
    ///
    /// Says which rule refuses it.
    pub fn admit(&self, target: &Target) -> Result<(), Refused> {
        if !target.is_https() && !self.allows_http {
            return Err(Refused::PlainHttp);
        }
        match &self.ports {
            Ports::Only(ports) if !ports.contains(&target.port()) => {
                return Err(Refused::Port(target.port()));
            }
            Ports::Any | Ports::Only(_) => {}
        }
        if let Some(address) = target.fixed_address() {
            self.addresses.judge(address, target)?;
        }
        Ok(())
    }

    /// Judge what a name resolved to. One bad address refuses all: it shows that the name's owner, or
    /// somebody in between, wants us there.
    pub(super) fn check_all(
        &self,
        target: &Target,
        addresses: &[IpAddr],
    ) -> Result<Vec<Checked>, Refused> {
        let addresses = addresses.iter();
        addresses
            .map(|address| self.check(target, *address))
            .collect()
    }

    pub(super) fn check(&self, target: &Target, address: IpAddr) -> Result<Checked, Refused> {
        let passage = self.addresses.judge(address, target)?;
        Ok(Checked {
            address: SocketAddr::new(address, target.port()),
            passage,
        })
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::strict()
    }
}

/// Why a request is not made: the policy forbids it. Nothing was sent, and nothing connected to.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The host is, or resolves to, a denied address.
    #[error(transparent)]
    Address(#[from] DeniedAddress),
    /// Plain http, which the policy does not admit.
    #[error("plain http is not admitted")]
    PlainHttp,
    /// A port that the policy does not admit.
    #[error("port {0} is not admitted")]
    Port(u16),
}

/// An address and port that passed the policy. Nothing else is ever connected to, and only
/// [`Policy::check`] makes one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked {
    address: SocketAddr,
    passage: Passage,
}

impl Checked {
    pub(super) fn address(self) -> SocketAddr {
        self.address
    }

    pub(super) fn passage(self) -> Passage {
        self.passage
    }
}

#[derive(Debug, Clone)]
enum Ports {
    Any,
    Only(Vec<u16>),
}
