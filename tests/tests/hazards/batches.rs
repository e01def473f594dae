//! A provider that sends several events in one delivery.

use webhook_actix::{
    Envelope, EventId, EventType, Head, Identities, Identity, InvalidEvent, Malformed, Provider,
    Signing, Spec, Verified,
};
use webhook_timestamped::Timestamped;

/// [`Timestamped`], with an array of events in each body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batches;

impl Provider for Batches {
    type Identity = <Timestamped as Provider>::Identity;

    fn spec(&self) -> &Spec {
        Provider::spec(&Timestamped)
    }

    fn envelope<'r>(&self, head: &Head<'r>) -> Result<Envelope<'r>, Malformed> {
        Provider::envelope(&Timestamped, head)
    }

    fn sign(&self, with: &Signing<'_>) -> Vec<(&'static str, String)> {
        Provider::sign(&Timestamped, with)
    }

    fn identities(&self, verified: &Verified<'_>) -> Result<Identities, InvalidEvent> {
        let items: Vec<serde_json::Value> =
            serde_json::from_slice(verified.body()).map_err(|_| InvalidEvent::Body)?;
        let identity = |item: &serde_json::Value| {
            let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
            let (id, event_type) = (text("id"), text("type"));
            let identity = Identity::new(EventId::new(&id)?, EventType::new(&event_type)?);
            Ok(identity.payload(item.to_string().into()))
        };
        items.iter().map(identity).collect()
    }
}
