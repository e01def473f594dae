//! The peer: an inbox as one writes it by hand, a table with a unique id and a state.
//!
//! It stores each event by a statement of its own, and keeps less: no digest, no signing key, no
//! retention, no order.

use std::fmt::Write as _;
use std::future::Future;
use std::time::{Duration, Instant};

use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row as _};
use tokio::task::JoinSet;
use webhook_actix::NewEvent;

use crate::timings::Timings;

/// An inbox by hand, on a pool.
#[derive(Debug, Clone)]
pub(crate) struct ByHand {
    pool: PgPool,
}

impl ByHand {
    /// Connections are opened when they are wanted, on the runtime of whoever wants them. That of
    /// whoever calls this looks after the pool.
    pub(crate) fn new(url: &str, connections: u32) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .test_before_acquire(false) // which would cost it a fifth
            .connect_lazy(url);
        Self {
            pool: pool.expect("a URL"),
        }
    }

    pub(crate) async fn store(&self, id: &str, event_type: &str, payload: &[u8]) {
        let insert = sqlx::query(INSERT).bind(id).bind(event_type).bind(payload);
        insert.execute(&self.pool).await.expect("an insert");
    }

    pub(crate) async fn claim(&self, event: NewEvent) {
        let (id, event_type) = (event.id().as_str(), event.event_type().as_str());
        self.store(id, event_type, event.payload()).await;
    }

    /// Claim only: no event is kept.
    pub(crate) async fn remember(&self, ids: &[String]) {
        let insert = sqlx::query(REMEMBER).bind(ids);
        insert.execute(&self.pool).await.expect("an insert");
    }

    /// Store `events` as one `COPY`, the fastest way into a table.
    pub(crate) async fn copy(&self, events: &[NewEvent]) -> Duration {
        let lines: Vec<u8> = events.iter().flat_map(copy_line).collect();
        let mut conn = self.pool.acquire().await.expect("a connection");
        let began = Instant::now();
        let mut copy = conn.copy_in_raw(COPY).await.expect("a copy");
        for chunk in lines.chunks(64 * 1024) {
            copy.send(chunk).await.expect("a chunk");
        }
        copy.finish().await.expect("a copy");
        began.elapsed()
    }

    /// Store `count` events, quickly.
    pub(crate) async fn fill(&self, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let fill = sqlx::query(FILL).bind(count);
        fill.execute(&self.pool).await.expect("a fill");
    }

    /// Let `workers` take and complete one event after the other, until none is due.
    pub(crate) async fn drain_one_by_one(&self, workers: usize) -> Timings {
        self.drain(workers, |inbox| async move {
            let taken = sqlx::query(TAKE).fetch_optional(&inbox.pool).await;
            let Some(row) = taken.expect("a row") else {
                return 0;
            };
            let complete = sqlx::query(COMPLETE).bind(row.get::<&str, _>(0));
            complete.execute(&inbox.pool).await.expect("an update");
            1
        })
        .await
    }

    /// Let `workers` delete events, 50 at a time: taken and completed in one step, and lost with
    /// the worker.
    pub(crate) async fn drain_by_deleting(&self, workers: usize) -> Timings {
        self.drain(workers, |inbox| async move {
            let taken = sqlx::query(DELETE).fetch_all(&inbox.pool).await;
            taken.expect("rows").len()
        })
        .await
    }

    /// `take` as often as it takes any; it says how many.
    async fn drain<F, R>(&self, workers: usize, take: F) -> Timings
    where
        F: Fn(Self) -> R + Clone + Send + 'static,
        R: Future<Output = usize> + Send,
    {
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            let (inbox, take) = (self.clone(), take.clone());
            tasks.spawn(async move {
                let mut count = 0usize;
                loop {
                    match take(inbox.clone()).await {
                        0 => return count,
                        taken => count = count.saturating_add(taken),
                    }
                }
            });
        }
        let count = tasks.join_all().await.into_iter().sum();
        Timings::of_many(count, began.elapsed())
    }
}

// Input: an event
// Output: `evt_1<TAB>invoice.paid<TAB>\\x7b..`, as COPY reads it
fn copy_line(event: &NewEvent) -> Vec<u8> {
    let (id, event_type) = (event.id().as_str(), event.event_type().as_str());
    let mut line = format!("{id}\t{event_type}\t\\\\x");
    for byte in event.payload() {
        let _ = write!(line, "{byte:02x}");
    }
    line.push('\n');
    line.into_bytes()
}

pub(crate) const SCHEMA: &str = "
create table by_hand (
    id         text        primary key,
    event_type text        not null,
    state      text        not null default 'pending',
    due_at     timestamptz not null default clock_timestamp(),
    payload    bytea       not null
);
create index by_hand_due on by_hand (due_at) where state = 'pending';
create table by_hand_seen (id text primary key)";

const INSERT: &str =
    "insert into by_hand (id, event_type, payload) values ($1, $2, $3) on conflict do nothing";

const REMEMBER: &str = "
insert into by_hand_seen select unnest($1::text[]) order by 1 on conflict do nothing";

const COPY: &str = "copy by_hand (id, event_type, payload) from stdin";

const FILL: &str = "
insert into by_hand (id, event_type, payload)
select 'evt_' || number, 'payment_intent.succeeded', repeat('x', 300)::bytea
from generate_series(1, $1) as number";

const TAKE: &str = "
update by_hand set state = 'processing', due_at = clock_timestamp() + interval '30 seconds'
where id = (
    select id from by_hand where state = 'pending' and due_at <= clock_timestamp()
    order by due_at limit 1
    for update skip locked)
returning id, event_type, payload";

const COMPLETE: &str = "update by_hand set state = 'completed' where id = $1";

const DELETE: &str = "
delete from by_hand where id = any(array(
    select id from by_hand where state = 'pending' and due_at <= clock_timestamp()
    order by due_at limit 50
    for update skip locked))
returning id, event_type, payload";
