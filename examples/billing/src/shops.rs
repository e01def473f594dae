//! Shops and their secrets.

use std::sync::Arc;

use sqlx::SqlitePool;
use webhook_actix::{BoxFuture, KeyConfig, KeyFault, KeyQuery, KeySource, Keyring, Provider as _};
use webhook_stripe::Stripe;

/// The secret of the shop that the path names. The engine remembers answers: this is asked rarely.
#[derive(Debug)]
pub(crate) struct Secrets(pub(crate) SqlitePool);

impl KeySource for Secrets {
    fn keys<'a>(&'a self, query: KeyQuery<'a>) -> BoxFuture<'a, Result<Arc<Keyring>, KeyFault>> {
        Box::pin(async move {
            let shop = query.tenant.ok_or(KeyFault::Unknown)?;
            let secret: Option<String> =
                sqlx::query_scalar("select secret from shop where name = ?1")
                    .bind(shop)
                    .fetch_optional(&self.0)
                    .await
                    .map_err(|_| KeyFault::Unavailable)?;
            let secret = secret.ok_or(KeyFault::Unknown)?;
            let format = Stripe::test().spec().secret();
            // A secret that cannot be used is our fault, and may be mended before the next retry.
            let keys = Keyring::build(format, [KeyConfig::new(secret)])
                .map_err(|_| KeyFault::Unavailable)?;
            Ok(Arc::new(keys))
        })
    }
}

/// Two shops with made-up secrets, so that there is something to try.
pub(crate) async fn seed(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    for (name, secret) in SHOPS {
        sqlx::query("insert into shop (name, secret) values (?1, ?2) on conflict do nothing")
            .bind(name)
            .bind(secret)
            .execute(pool)
            .await?;
    }
    Ok(())
}

pub(crate) const SHOPS: [(&str, &str); 2] = [
    ("bakery", "whsec_made_up_for_the_bakery_in_the_example"),
    ("florist", "whsec_made_up_for_the_florist_in_the_example"),
];
