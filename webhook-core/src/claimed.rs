//! A claimed event, bound to the handler that runs it.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::data::DataMap;
use crate::handler_spec::HandlerSpec;
use crate::identity::Unsigned;
use crate::json;
use crate::ledger::Leased;
use crate::provider::DynProvider;

/// An event whose claim was won: the last step before a handler.
///
/// Made from a [`Leased`] event, which only a ledger hands out.
pub struct Claimed {
    pub(crate) leased: Leased,
    pub(crate) provider: Arc<dyn DynProvider>,
    pub(crate) handler: &'static HandlerSpec,
    pub(crate) data: DataMap,
}

impl Claimed {
    /// For engines: bind a leased event to the handler that runs it.
    pub fn new(
        leased: Leased,
        provider: Arc<dyn DynProvider>,
        handler: &'static HandlerSpec,
        data: DataMap,
    ) -> Self {
        Self {
            leased,
            provider,
            handler,
            data,
        }
    }

    /// The event's type, by which its handler was chosen. Whether it is signed, its provider knows.
    pub fn event_type(&self) -> Unsigned<&str> {
        Unsigned::new(self.leased.event.event_type.as_str())
    }

    fn payload(&self) -> Result<&[u8], serde_json::Error> {
        let json = json::without_bom(&self.leased.event.payload);
        match self.provider.spec().payload_path() {
            [] => Ok(json),
            path => json::at(json, path).map(str::as_bytes),
        }
    }

    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.payload()?)
    }
}

impl fmt::Debug for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimed")
            .field("endpoint", &self.leased.event.endpoint)
            .field("handler", &self.handler.name)
            .finish_non_exhaustive()
    }
}
