//! Two events about one resource, in whatever order they come.

/// A guard against the older of two events about one resource, for handlers.
///
/// Providers promise no order, and a retry comes late: `subscription.updated` of this morning can be
/// handled after that of noon, and would undo it. Ask before the effect, on the connection that the
/// handler is lent:
///
/// ```
/// use sqlx::PgConnection;
/// use webhook_sqlx::{Newer, NewerThan as _};
///
/// async fn apply(db: &mut PgConnection, id: &str, updated: i64) -> Result<(), sqlx::Error> {
///     if db.newer_than_last(&format!("stripe/{id}"), updated).await? == Newer::No {
///         return Ok(());
///     }
///     // .. the effect
///     Ok(())
/// }
/// ```
///
/// The answer is remembered in the handler's own transaction: it stands if the effect does. Until
/// that ends, another handler that asks about the same resource waits, and then hears the truth. A
/// handler that asks about several asks in one order, or two of them may wait for each other until the
/// database ends one.
///
/// One small row a resource is kept, in `webhook.resource` or `webhook_resource`, for as long as
/// nobody deletes it.
pub trait NewerThan: Send {
    /// Whether `version` is newer than every version of `resource` for which this was asked and the
    /// transaction committed; if so it is the newest from here on.
    ///
    /// `resource` is 1 to 255 bytes that name it within the whole ledger: put into it the provider,
    /// and the tenant if there are several. `version` is what the provider counts up or the time of
    /// its change, in one unit.
    ///
    /// # Errors
    ///
    /// The database's, also for a name out of its bounds. A connection outside a transaction is none of
    /// the framework's: there nothing is guarded.
    fn newer_than_last(
        &mut self,
        resource: &str,
        version: i64,
    ) -> impl Future<Output = Result<Newer, sqlx::Error>> + Send;
}

/// How a version stands to the newest one so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "newer, equal or older")]
pub enum Newer {
    /// It is newer, or the first.
    Yes,
    /// They are equal. Where versions are seconds, two changes may share one: ask the provider for
    /// the present state, or apply it.
    Same,
    /// A newer one was applied.
    No,
}

impl Newer {
    /// What the newest version says of one that did not replace it.
    fn of(version: i64, newest: Option<i64>) -> Self {
        if newest == Some(version) {
            Self::Same
        } else {
            Self::No
        }
    }
}

macro_rules! newer_than {
    ($connection:ty, $advance:literal, $newest:literal) => {
        impl NewerThan for $connection {
            async fn newer_than_last(
                &mut self,
                resource: &str,
                version: i64,
            ) -> Result<Newer, sqlx::Error> {
                let advanced = sqlx::query($advance)
                    .bind(resource)
                    .bind(version)
                    .execute(&mut *self)
                    .await?;
                if advanced.rows_affected() == 1 {
                    return Ok(Newer::Yes);
                }
                // The row is locked by now: this reads what it was compared with.
                let newest = sqlx::query_scalar($newest)
                    .bind(resource)
                    .fetch_optional(self)
                    .await?;
                Ok(Newer::of(version, newest))
            }
        }
    };
}

#[cfg(feature = "postgres")]
newer_than!(
    sqlx::PgConnection,
    "insert into webhook.resource (name, version) values ($1, $2)
     on conflict (name) do update set version = excluded.version
         where resource.version < excluded.version",
    "select version from webhook.resource where name = $1"
);

#[cfg(feature = "sqlite")]
newer_than!(
    sqlx::SqliteConnection,
    "insert into webhook_resource (name, version) values (?1, ?2)
     on conflict (name) do update set version = excluded.version
         where webhook_resource.version < excluded.version",
    "select version from webhook_resource where name = ?1"
);
