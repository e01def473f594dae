//! An endpoint in miniature: head judged, keys taken up, body fed in pieces, identity read.

use bytes::Bytes;
use webhook_core::danger::trusted_arrival;
use webhook_core::{
    ClaimScope, DynProvider, Handshake, Head, InvalidEvent, Judged, KeptHeaders, KeyConfig,
    Keyring, NewEvent, Rejection, Signing, Verified, Window,
};

/// A provider, its keys and a clock that stands still.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Receiver<'p> {
    /// The provider.
    pub provider: &'p dyn DynProvider,
    /// The keys.
    pub keys: Keyring,
    /// The replay window; without effect where no timestamp is signed.
    pub window: Window,
    /// The moment of every request, in Unix seconds.
    pub now: i64,
}

/// A request as a test writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Header fields in wire order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The raw body.
    pub body: Vec<u8>,
}

/// What authentic bytes turned out to be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Received {
    /// The events.
    pub events: Result<Vec<Seen>, InvalidEvent>,
    /// The answer to a handshake.
    pub handshake: Result<Option<Handshake>, InvalidEvent>,
}

/// One event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Seen {
    /// Its id.
    pub id: String,
    /// Its type.
    pub event_type: String,
    /// Its account.
    pub account: Option<String>,
    /// Why it is not for this endpoint.
    pub outside: Option<&'static str>,
    /// Its JSON, as stored.
    pub payload: Bytes,
    /// The unsigned headers stored with it.
    pub headers: KeptHeaders,
}

/// Where requests go unless they say otherwise.
pub(crate) const TARGET: &str = "/webhooks";

impl<'p> Receiver<'p> {
    /// A receiver with unnamed keys; the first one signs.
    ///
    /// # Panics
    ///
    /// If no keyring can be made of `secrets`.
    pub fn new(provider: &'p dyn DynProvider, secrets: &[&str], now: i64) -> Self {
        let configs = secrets.iter().map(|secret| KeyConfig::new(*secret));
        let keys = Keyring::build(provider.spec().secret(), configs).expect("a keyring");
        Self::with_keys(provider, keys, now)
    }

    /// A receiver with these keys.
    pub fn with_keys(provider: &'p dyn DynProvider, keys: Keyring, now: i64) -> Self {
        Self {
            provider,
            keys,
            window: provider.spec().window().unwrap_or(Window::FIVE_MINUTES),
            now,
        }
    }

    /// `body` with the headers that sign it now, or inside the body that does.
    pub fn sign(&self, body: impl Into<Vec<u8>>) -> Request {
        let body = body.into();
        let signing = Signing::new(&self.keys, &body, self.now).to(TARGET);
        let enclosed = self.provider.enclose(&signing);
        Request::new(
            self.provider.sign(&signing),
            enclosed.unwrap_or(body.clone()),
        )
    }

    /// Receive a request that is authentic.
    ///
    /// # Panics
    ///
    /// If it is not.
    pub fn accept(&self, request: &Request) -> Received {
        self.receive(request).expect("an authentic request")
    }

    /// Receive a request whose body arrives at once.
    ///
    /// # Errors
    ///
    /// [`Rejection`] for everything that is not authentic.
    pub fn receive(&self, request: &Request) -> Result<Received, Rejection> {
        self.receive_in_pieces(request, usize::MAX)
    }

    /// Receive a request whose body arrives in pieces of this many bytes.
    ///
    /// # Errors
    ///
    /// As [`Receiver::receive`].
    pub fn receive_in_pieces(
        &self,
        request: &Request,
        bytes: usize,
    ) -> Result<Received, Rejection> {
        let fields = request.headers.iter();
        let head = Head::new(
            &request.method,
            &request.target,
            fields.map(|(name, value)| (name.as_str(), value.as_slice())),
        )?;
        let now = trusted_arrival(self.now);
        let cap = self.provider.spec().body_cap();
        let mut macs =
            Judged::judge(self.provider, &head, self.window, now)?.keyed(&self.keys, now, cap)?;
        for piece in request.body.chunks(bytes) {
            macs.update(Bytes::copy_from_slice(piece))?;
        }
        let verified = macs.finish(&head)?;
        Ok(self.read(&verified))
    }

    fn read(&self, verified: &Verified<'_>) -> Received {
        let scope = ClaimScope::new("tests");
        let events = self.provider.identities(verified).and_then(|identities| {
            let seen = identities.into_iter().map(|identity| {
                let outside = identity.is_outside();
                let event = NewEvent::new(verified, identity, self.provider, &scope)?;
                Ok(Seen {
                    id: event.id().as_str().to_owned(),
                    event_type: event.event_type().as_str().to_owned(),
                    account: event.account().map(ToOwned::to_owned),
                    outside,
                    payload: event.payload().clone(),
                    headers: event.headers().clone(),
                })
            });
            seen.collect()
        });
        Received {
            events,
            handshake: self.provider.handshake(verified),
        }
    }
}

impl Request {
    /// A request with these header fields.
    pub fn new(
        headers: impl IntoIterator<Item = (impl Into<String>, impl Into<Vec<u8>>)>,
        body: impl Into<Vec<u8>>,
    ) -> Self {
        let headers = headers.into_iter();
        Self {
            method: "POST".to_owned(),
            target: TARGET.to_owned(),
            headers: headers
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            body: body.into(),
        }
    }

    /// The same request by this method and to this target.
    #[must_use]
    pub fn to(mut self, method: &str, target: &str) -> Self {
        method.clone_into(&mut self.method);
        target.clone_into(&mut self.target);
        self
    }

    /// The same request with one field more.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

impl Received {
    /// The only event.
    ///
    /// # Errors
    ///
    /// The provider's.
    ///
    /// # Panics
    ///
    /// If there are several.
    pub fn event(self) -> Result<Seen, InvalidEvent> {
        let mut events = self.events?;
        assert_eq!(events.len(), 1, "one event a delivery");
        Ok(events.remove(0))
    }
}

impl Seen {
    /// What a handler decodes: the value at the provider's payload path, if it is there.
    ///
    /// # Panics
    ///
    /// If the payload is no JSON.
    pub fn handled(&self, provider: &dyn DynProvider) -> Option<serde_json::Value> {
        let mut value: serde_json::Value =
            serde_json::from_slice(&self.payload).expect("payloads are JSON");
        for step in provider.spec().payload_path() {
            value = value.get_mut(*step)?.take();
        }
        Some(value)
    }
}
