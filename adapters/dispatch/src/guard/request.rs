//! What is sent.

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request};
use http_body_util::Full;

use super::target::Target;

/// A request to a target. Cheap to clone; one body is shared by all attempts.
///
/// `Debug` shows neither headers nor body.
#[derive(Clone)]
pub struct GuardedRequest {
    method: Method,
    target: Target,
    headers: HeaderMap,
    body: Bytes,
}

impl GuardedRequest {
    /// POST `body`, byte for byte, to `target`.
    pub fn post(target: Target, body: impl Into<Bytes>) -> Self {
        Self {
            method: Method::POST,
            target,
            headers: HeaderMap::new(),
            body: body.into(),
        }
    }

    /// GET `target`: a certificate, a confirmation that somebody waits for.
    pub fn get(target: Target) -> Self {
        Self {
            method: Method::GET,
            ..Self::post(target, Bytes::new())
        }
    }

    /// Add a header that is the same in every attempt. Signatures are not: they are made once the
    /// connection is held, see [`super::GuardedClient::send`], and replace a header of the same name.
    ///
    /// # Errors
    ///
    /// If the header is the connection's and not the request's.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Result<Self, ReservedHeader> {
        check(&name)?;
        self.headers.append(name, value);
        Ok(self)
    }

    /// Where it goes.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The message, with what `signed` adds to it.
    pub(super) fn message(
        &self,
        signed: HeaderMap,
    ) -> Result<Request<Full<Bytes>>, ReservedHeader> {
        signed.keys().try_for_each(check)?;
        let mut message = Request::new(Full::new(self.body.clone()));
        *message.method_mut() = self.method.clone();
        *message.uri_mut() = self.target.path().clone();
        let headers = message.headers_mut();
        headers.reserve(
            self.headers
                .len()
                .saturating_add(signed.len())
                .saturating_add(3),
        );
        headers.insert(header::HOST, self.target.authority().clone());
        headers.insert(header::ACCEPT_ENCODING, IDENTITY);
        headers.insert(header::USER_AGENT, USER_AGENT);
        // `extend` replaces what has the name of something in the other map.
        headers.extend(self.headers.clone());
        headers.extend(signed);
        Ok(message)
    }
}

impl std::fmt::Debug for GuardedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardedRequest")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// A header that says how this connection works, and is therefore the client's: `host`, `content-length`,
/// `transfer-encoding`, `accept-encoding`, `expect`, and the hop-by-hop headers of RFC 9110 section 7.6.1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("header `{0}` is the connection's, not the request's")]
pub struct ReservedHeader(HeaderName);

impl ReservedHeader {
    /// Which one.
    pub fn name(&self) -> &HeaderName {
        &self.0
    }
}

fn check(name: &HeaderName) -> Result<(), ReservedHeader> {
    if RESERVED.contains(&name.as_str()) {
        return Err(ReservedHeader(name.clone()));
    }
    Ok(())
}

const RESERVED: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Bodies are never decompressed, so none need be compressed.
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");
/// Unless the request says otherwise.
const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("webhook-dispatch/", env!("CARGO_PKG_VERSION")));

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> GuardedRequest {
        GuardedRequest::post(Target::parse("https://hooks.example/in").unwrap(), "{}")
    }

    #[test]
    fn what_is_signed_replaces_what_was_set() {
        let forged = HeaderValue::from_static("v1,forged");
        let name = HeaderName::from_static("webhook-signature");
        let request = request().header(name.clone(), forged).unwrap();
        let mut signed = HeaderMap::new();
        signed.append(name.clone(), HeaderValue::from_static("v1,first"));
        signed.append(name.clone(), HeaderValue::from_static("v1,second"));
        let message = request.message(signed).unwrap();
        let values: Vec<_> = message.headers().get_all(name).iter().collect();
        assert_eq!(values, ["v1,first", "v1,second"]);
    }

    #[test]
    fn the_connections_headers_are_refused() {
        for name in RESERVED {
            let name = HeaderName::from_static(name);
            let value = HeaderValue::from_static("x");
            let refused = request().header(name.clone(), value.clone());
            assert_eq!(refused.unwrap_err().name(), &name);
            let signed = HeaderMap::from_iter([(name.clone(), value)]);
            assert_eq!(request().message(signed).unwrap_err().name(), &name);
        }
    }

    #[test]
    fn the_product_is_named_unless_the_request_does() {
        let message = request().message(HeaderMap::new()).unwrap();
        assert_eq!(message.headers()[header::USER_AGENT], USER_AGENT);
        let own = request().header(header::USER_AGENT, HeaderValue::from_static("shop/2"));
        let message = own.unwrap().message(HeaderMap::new()).unwrap();
        let agents: Vec<_> = message
            .headers()
            .get_all(header::USER_AGENT)
            .iter()
            .collect();
        assert_eq!(agents, ["shop/2"]);
    }
}
