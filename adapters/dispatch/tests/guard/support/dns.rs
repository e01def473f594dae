//! A name server that says what a test wants. Written by hand, so that it shares no fault with the
//! resolver under test.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// What is said about a name. Addresses of the family that was not asked for are left out.
#[derive(Clone)]
pub(crate) enum Said {
    Addresses(Vec<IpAddr>),
    /// An alias, and the addresses of what it stands for.
    Alias(&'static str, Vec<IpAddr>),
    /// SERVFAIL for IPv6, addresses for IPv4.
    Ipv6Fails(Vec<IpAddr>),
    NoSuchName,
    Nothing,
}

impl Said {
    pub(crate) fn addresses(texts: &[&str]) -> Self {
        Self::Addresses(parse(texts))
    }

    pub(crate) fn alias(of: &'static str, texts: &[&str]) -> Self {
        Self::Alias(of, parse(texts))
    }
}

pub(crate) fn parse(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// A name server on loopback, UDP only.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    questions: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl NameServer {
    /// `say` is given the name that is asked for, lower case, with its final dot, and how many questions
    /// for IPv4 addresses came before. All answers have a TTL of 0.
    pub(crate) async fn start(say: impl Fn(&str, usize) -> Said + Send + 'static) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = socket.local_addr().unwrap();
        let questions = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&questions);
        let serving = tokio::spawn(async move {
            let mut packet = [0; 1500];
            let mut asked_v4 = 0;
            while let Ok((length, client)) = socket.recv_from(&mut packet).await {
                let question = Question::parse(&packet[..length]);
                count.fetch_add(1, SeqCst);
                let said = say(&question.name, asked_v4);
                asked_v4 += usize::from(question.kind == A);
                if let Some(answer) = question.answer(&said) {
                    socket.send_to(&answer, client).await.unwrap();
                }
            }
        });
        Self {
            address,
            questions,
            serving,
        }
    }

    pub(crate) fn questions(&self) -> usize {
        self.questions.load(SeqCst)
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct Question {
    id: [u8; 2],
    /// The question's section, to be repeated.
    section: Vec<u8>,
    name: String,
    kind: u16,
}

impl Question {
    fn parse(packet: &[u8]) -> Self {
        let mut name = String::new();
        let mut at = 12;
        while packet[at] != 0 {
            let length = usize::from(packet[at]);
            name += std::str::from_utf8(&packet[at + 1..=at + length]).unwrap();
            name.push('.');
            at += length + 1;
        }
        Self {
            id: [packet[0], packet[1]],
            section: packet[12..at + 5].to_vec(),
            name: name.to_ascii_lowercase(),
            kind: u16::from_be_bytes([packet[at + 1], packet[at + 2]]),
        }
    }

    fn answer(&self, said: &Said) -> Option<Vec<u8>> {
        let (code, alias, addresses) = match said {
            Said::Alias(alias, addresses) => (0, Some(*alias), addresses.as_slice()),
            Said::Ipv6Fails(_) if self.kind == AAAA => (2, None, [].as_slice()),
            Said::Addresses(addresses) | Said::Ipv6Fails(addresses) => {
                (0, None, addresses.as_slice())
            }
            Said::NoSuchName => (3, None, [].as_slice()),
            Said::Nothing => return None,
        };
        let mut records = Vec::new();
        // A pointer to the name in the question, or the alias in full.
        let mut owner = vec![0xc0, 12];
        if let Some(alias) = alias {
            let alias = encode(alias);
            records.push(record(&owner, CNAME, &alias));
            owner = alias;
        }
        for address in addresses {
            match address {
                IpAddr::V4(address) if self.kind == A => {
                    records.push(record(&owner, A, &address.octets()));
                }
                IpAddr::V6(address) if self.kind == AAAA => {
                    records.push(record(&owner, AAAA, &address.octets()));
                }
                _ => {}
            }
        }
        let count = u8::try_from(records.len()).unwrap();
        // Answer, recursion desired and available; one question, the records, nothing else.
        let mut packet = vec![self.id[0], self.id[1], 0x81, 0x80 | code];
        packet.extend([0, 1, 0, count, 0, 0, 0, 0]);
        packet.extend(&self.section);
        packet.extend(records.concat());
        Some(packet)
    }
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = owner.to_vec();
    record.extend(kind.to_be_bytes());
    record.extend([0, 1, 0, 0, 0, 0]); // class IN, TTL 0
    record.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    record.extend(data);
    record
}

fn encode(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.trim_end_matches('.').split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.bytes());
    }
    bytes.push(0);
    bytes
}

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
