//! An application, or a provider's crate, has arguments of its own.

use webhook_actix::{
    Claimed, Data, DataMap, Delivery, FromClaimed, Handler, HandlerError, MissingData, Provider,
    webhook,
};
use webhook_github::GitHub;

struct Tenant(String);

impl<P: Provider> FromClaimed<P> for Tenant {
    fn from_claimed(claimed: &Claimed) -> Result<Self, HandlerError> {
        let delivery = <Delivery as FromClaimed<P>>::from_claimed(claimed)?;
        Ok(Self(delivery.tenant().unwrap_or("none").to_owned()))
    }

    fn require(data: &DataMap) -> Result<(), MissingData> {
        <Data<u64> as FromClaimed<P>>::require(data)
    }
}

#[webhook(provider = GitHub, event = "push", at_least_once)]
async fn on_push(tenant: Tenant) -> Result<(), HandlerError> {
    drop(tenant.0);
    Ok(())
}

fn main() {
    let handler: &dyn Handler<GitHub, ()> = &on_push;
    assert!(handler.require(&DataMap::default()).is_err());
}
