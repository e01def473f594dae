//! How an attempt ended.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;

use super::delivery::{Delivery, DeliveryId, Share};
use super::endpoint::EndpointId;

/// The number of an attempt in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptId(i64);

/// What kind of end it was. The operator's word: customers are shown less.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptClass {
    /// An answer other than 2xx.
    Answer,
    /// The connection was refused, or broke.
    Connect,
    /// 2xx.
    Delivered,
    /// The name has no address, or its server did not answer.
    Dns,
    /// The answer was no HTTP, or larger than is allowed.
    Protocol,
    /// The policy forbids the URL or an address of it.
    Refused,
    /// The secrets could not be opened, or the scheme is unknown here.
    Signing,
    /// The time was over.
    TimedOut,
    /// No TLS connection: an unknown, expired or wrong certificate among others.
    Tls,
    /// Its dispatcher died, or lost its lease: it may have reached the endpoint.
    Unknown,
}

/// What becomes of the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Nothing more is tried.
    Dead,
    /// It arrived.
    Delivered,
    /// It is tried again after this time.
    Retry(Duration),
}

/// An attempt that ended, to be recorded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AttemptRecord {
    /// The lease it was made under.
    pub share: Share,
    /// Where to.
    pub endpoint: EndpointId,
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// How it ended.
    pub class: AttemptClass,
    /// What becomes of the delivery.
    pub next: Next,
    /// The answer's status.
    pub status: Option<u16>,
    /// The address that answered.
    pub address: Option<IpAddr>,
    /// Whether that address is one that only an allow-list entry opens.
    pub was_allow_listed: bool,
    /// How long it took, whole.
    pub took: Duration,
    /// Whether that was so long that it should count against the endpoint.
    pub was_slow: bool,
    /// The endpoint says that it is gone for good (410).
    pub is_gone: bool,
    /// The first bytes of the answer's body, at most 4 KiB.
    pub answer: Bytes,
}

/// An attempt in the log, as an operator sees it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Attempt {
    /// Its number.
    pub id: AttemptId,
    /// Of which delivery.
    pub delivery: DeliveryId,
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// When it ended, in Unix milliseconds of the store's clock.
    pub ended_at_millis: i64,
    /// How it ended.
    pub class: AttemptClass,
    /// The answer's status.
    pub status: Option<u16>,
    /// The address that answered.
    pub address: Option<IpAddr>,
    /// Whether that address is one that only an allow-list entry opens.
    pub was_allow_listed: bool,
    /// How long it took.
    pub took: Duration,
    /// The first bytes of the answer's body, at most 4 KiB.
    pub answer: Bytes,
}

impl AttemptRecord {
    /// An attempt of `delivery` that ended in this way, for dispatchers to fill in: no answer, no time.
    pub fn new(delivery: &Delivery, class: AttemptClass, next: Next) -> Self {
        Self {
            share: delivery.share,
            endpoint: delivery.endpoint,
            attempt: delivery.attempt,
            class,
            next,
            status: None,
            address: None,
            was_allow_listed: false,
            took: Duration::ZERO,
            was_slow: false,
            is_gone: false,
            answer: Bytes::new(),
        }
    }
}

impl Attempt {
    /// A first attempt without an answer, for stores to fill in.
    pub fn new(id: AttemptId, delivery: DeliveryId, class: AttemptClass) -> Self {
        Self {
            id,
            delivery,
            attempt: 1,
            ended_at_millis: 0,
            class,
            status: None,
            address: None,
            was_allow_listed: false,
            took: Duration::ZERO,
            answer: Bytes::new(),
        }
    }
}

impl AttemptId {
    /// From its stored number.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl AttemptClass {
    /// Its name in stores, metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Connect => "connect",
            Self::Delivered => "delivered",
            Self::Dns => "dns",
            Self::Protocol => "protocol",
            Self::Refused => "refused",
            Self::Signing => "signing",
            Self::TimedOut => "timed_out",
            Self::Tls => "tls",
            Self::Unknown => "unknown",
        }
    }

    /// From its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }

    const ALL: [Self; 10] = [
        Self::Answer,
        Self::Connect,
        Self::Delivered,
        Self::Dns,
        Self::Protocol,
        Self::Refused,
        Self::Signing,
        Self::TimedOut,
        Self::Tls,
        Self::Unknown,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_read_as_it_is_written() {
        for class in AttemptClass::ALL {
            assert_eq!(AttemptClass::parse(class.as_str()), Some(class));
        }
        assert_eq!(AttemptClass::parse("Delivered"), None);
    }
}
