//! What Stripe says of subscriptions, as rows.

use serde::de::IgnoredAny;
use sqlx::SqliteConnection;
use webhook_actix::{
    Delivery, Disposition, Event, Events, HandlerError, OrElse as _, RawEvent, webhook,
};
use webhook_sqlx::{Newer, NewerThan as _};
use webhook_stripe::Stripe;
use webhook_stripe::payloads::{Invoice, Snapshot, Subscription, UnixSeconds};

/// The events that the endpoint takes. The handler's types are read from here.
#[derive(Events)]
pub(crate) enum Billing {
    #[events(
        "customer.subscription.created",
        "customer.subscription.updated",
        "customer.subscription.deleted"
    )]
    Changed(Subscription),
    #[event = "invoice.paid"]
    Paid(Invoice),
    #[event = "invoice.payment_failed"]
    Failed(Invoice),
}

#[webhook(provider = Stripe)]
pub(crate) async fn on_billing(
    event: Event<Billing>,
    raw: RawEvent,
    delivery: Delivery,
    db: &mut SqliteConnection,
) -> Result<(), HandlerError> {
    // The path chose the key, and the key verified the event: whatever the body says, it is this shop's.
    let shop = delivery
        .tenant()
        .ok_or_else(|| HandlerError::public(Disposition::DeadLetter, "no shop"))?;
    match event.into_inner() {
        Billing::Changed(subscription) => {
            let around: Snapshot<IgnoredAny> = serde_json::from_slice(&raw).or_dead_letter()?;
            change(db, shop, &subscription, around.created.get()).await?;
        }
        Billing::Paid(invoice) => pay(db, shop, &invoice).await?,
        Billing::Failed(invoice) => fail(db, shop, &invoice).await?,
    }
    Ok(())
}

/// Stripe promises no order: what an older event says of a subscription is out of date.
async fn change(
    db: &mut SqliteConnection,
    shop: &str,
    subscription: &Subscription,
    created: i64,
) -> Result<(), sqlx::Error> {
    let resource = format!("stripe/{shop}/{}", subscription.id);
    if db.newer_than_last(&resource, created).await? == Newer::No {
        return Ok(());
    }
    let price = subscription.items.data.first();
    let price = price.and_then(|item| item.price.as_ref());
    sqlx::query(
        "insert into subscription (shop, id, customer, status, price, paid_until)
         values (?1, ?2, ?3, ?4, ?5, ?6)
         on conflict (shop, id) do update set
             status = excluded.status, price = excluded.price, paid_until = excluded.paid_until",
    )
    .bind(shop)
    .bind(&subscription.id)
    .bind(subscription.customer.id())
    .bind(subscription.status.as_str())
    .bind(price.map(|price| &price.id))
    .bind(subscription.current_period_end().map(UnixSeconds::get))
    .execute(db)
    .await
    .map(drop)
}

/// No `on conflict`: that this runs once for each event is the framework's business.
async fn pay(db: &mut SqliteConnection, shop: &str, invoice: &Invoice) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into payment (shop, invoice, subscription, currency, amount)
         values (?1, ?2, ?3, ?4, ?5)",
    )
    .bind(shop)
    .bind(&invoice.id)
    .bind(invoice.subscription())
    .bind(invoice.currency.as_str())
    .bind(invoice.amount_paid.minor_units())
    .execute(db)
    .await
    .map(drop)
}

async fn fail(db: &mut SqliteConnection, shop: &str, invoice: &Invoice) -> Result<(), sqlx::Error> {
    let attempt = i64::try_from(invoice.attempt_count).unwrap_or(i64::MAX);
    sqlx::query("insert into dunning (shop, invoice, attempt) values (?1, ?2, ?3)")
        .bind(shop)
        .bind(&invoice.id)
        .bind(attempt)
        .execute(db)
        .await
        .map(drop)
}
