//! TLS: who may answer for a name.

use std::io;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connects with certificates of Mozilla's list, and those that an operator added.
///
/// The list is compiled in: what a receiver must present does not depend on which host a sender runs on,
/// nor on what its administrators trust for other ends.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// # Errors
    ///
    /// If one of `extra` is no certificate of an authority.
    pub(super) fn new(extra: &[Vec<u8>]) -> Result<Self, NotAnAuthority> {
        let mut roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        for der in extra {
            let der = CertificateDer::from(der.as_slice());
            roots.add(der).map_err(|_| NotAnAuthority)?;
        }
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .map_err(|_| NotAnAuthority)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    pub(super) async fn connect<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        name: &ServerName<'static>,
    ) -> Result<TlsStream<S>, TlsFault> {
        let connected = self.0.connect(name.clone(), stream).await;
        connected.map_err(|error| TlsFault::of(&error))
    }
}

/// Why there is no TLS with a receiver.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum TlsFault {
    /// It hung up.
    #[error("the receiver closed the connection")]
    Closed,
    /// Its certificate is not valid any more, or not yet.
    #[error("the certificate is expired or not valid yet")]
    Expired,
    /// It answered with something else than TLS, or with none that we speak.
    #[error("the receiver does not speak TLS 1.2 or 1.3")]
    Protocol,
    /// It refused us, by an alert.
    #[error("the receiver refused the handshake")]
    RefusedByReceiver,
    /// It sent more than a handshake needs.
    #[error("the handshake is too large")]
    TooLarge,
    /// Nobody we trust vouches for its certificate.
    #[error("the certificate is not trusted")]
    Untrusted,
    /// Its certificate is for other names.
    #[error("the certificate is for another name")]
    WrongName,
}

impl TlsFault {
    fn of(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        match inner {
            Some(rustls::Error::InvalidCertificate(certificate)) => match certificate {
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Self::Expired,
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::WrongName,
                _ => Self::Untrusted,
            },
            Some(rustls::Error::AlertReceived(AlertDescription::CloseNotify)) | None => {
                Self::Closed
            }
            Some(rustls::Error::AlertReceived(_)) => Self::RefusedByReceiver,
            Some(_) => Self::Protocol,
        }
    }
}

/// A root certificate that is none.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the DER of an authority's certificate")]
pub struct NotAnAuthority;
