//! An operator's own way out.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use http::HeaderValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::policy::Checked;

/// An HTTP proxy that requests leave through, by `CONNECT` (RFC 9110 section 9.3.6), https and plain http
/// alike.
///
/// Names are resolved and judged here all the same, and the proxy is told the checked address, not the
/// name: otherwise it would resolve the name once more, and the policy would have judged something else.
/// Certificates are checked against the name, through the tunnel. A proxy that wants names to apply rules of
/// its own is therefore of no use with this client.
///
/// Reached by plain TCP, at an address that no policy judges: it is the operator's.
#[derive(Clone)]
pub struct EgressProxy {
    address: SocketAddr,
    authorization: Option<HeaderValue>,
}

impl EgressProxy {
    /// The proxy at `address`.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            authorization: None,
        }
    }

    /// Send this as `proxy-authorization`. It is never printed.
    #[must_use]
    pub fn authorization(mut self, value: HeaderValue) -> Self {
        self.authorization = Some(value);
        self
    }

    /// Where the proxy is.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ask for a tunnel to `checked`, on a connection to the proxy.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ConnectionRefused`] if the proxy does not want to, or cannot.
    pub(super) async fn tunnel(&self, stream: &mut TcpStream, checked: Checked) -> io::Result<()> {
        let to = checked.address();
        let mut request = format!("CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n").into_bytes();
        if let Some(value) = &self.authorization {
            request.extend(b"proxy-authorization: ");
            request.extend(value.as_bytes());
            request.extend(b"\r\n");
        }
        request.extend(b"\r\n");
        stream.write_all(&request).await?;

        // Byte by byte, since what follows the head belongs to whoever is behind the tunnel.
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == HEAD_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            head.push(stream.read_u8().await?);
        }
        let is_open = matches!(
            head.as_slice(),
            [
                b'H',
                b'T',
                b'T',
                b'P',
                b'/',
                b'1',
                b'.',
                _,
                b' ',
                b'2',
                _,
                _,
                b' ' | b'\r',
                ..
            ]
        );
        if is_open {
            Ok(())
        } else {
            Err(io::ErrorKind::ConnectionRefused.into())
        }
    }
}

impl fmt::Debug for EgressProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EgressProxy")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Of the proxy's answer, which is a line or two.
const HEAD_BYTES: usize = 4096;
