//! Quarantine: one row for each content, however often it comes.

use sqlx::PgConnection;
use webhook_core::{InboxId, NewEvent, Quarantine};

use crate::stored::{new_id, uuid};

/// Keep `event`, or count it if it is kept already. Holds no claim key.
pub(super) async fn keep(
    conn: &mut PgConnection,
    event: &NewEvent,
    reason: Quarantine,
    first: Option<InboxId>,
    same_content: bool,
) -> Result<(), sqlx::Error> {
    let cap = i64::try_from(event.quarantine_bytes()).unwrap_or(i64::MAX);
    let payload = (!same_content).then_some(&event.payload()[..]);
    // Where no payload is wanted, no header is either.
    let headers = (cap > 0).then(|| event.headers().to_json()).flatten();
    let kept: bool = sqlx::query_scalar(KEEP)
        .bind(new_id())
        .bind(&**event.endpoint())
        .bind(reason.as_str())
        .bind(&event.digest().as_bytes()[..])
        .bind(event.principal())
        .bind(event.account())
        .bind(event.id().as_str())
        .bind(event.event_type().as_str())
        .bind(&event.key_fingerprint().as_bytes()[..])
        .bind(event.key_id())
        .bind(event.signed_at())
        .bind(headers)
        .bind(first.map(uuid))
        .bind(payload)
        .bind(cap)
        .bind(event.order_key().map(|key| key.as_bytes().to_vec()))
        .fetch_one(conn)
        .await?;
    if !kept && !same_content && cap > 0 {
        tracing::warn!(endpoint = %event.endpoint(), "quarantine is full: a payload was not kept");
    }
    Ok(())
}

/// The cap is checked against what others have committed: it may be passed by what comes at once.
const KEEP: &str = "
insert into webhook.quarantine as kept (
    id, endpoint, reason, digest, principal, account, event_id, event_type,
    key_fingerprint, key_id, signed_at, headers, first_inbox, first_digest, last_event_id, payload,
    order_key)
values (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
    (select digest from webhook.inbox where id = $13),
    $7,
    case when pg_catalog.octet_length($14::bytea) + (
        select coalesce(pg_catalog.sum(pg_catalog.octet_length(payload)), 0)
        from webhook.quarantine where endpoint = $2
    ) <= $15 then $14 end,
    $16)
on conflict (endpoint, reason, digest) do update set
    seen = kept.seen + 1,
    last_seen_at = pg_catalog.clock_timestamp(),
    last_event_id = excluded.last_event_id
returning payload is not null";
