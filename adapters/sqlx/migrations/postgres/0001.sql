create schema if not exists webhook;

-- Which step the schema is at, and the oldest library that may still use it.
create table webhook.schema_version (
    version    integer     primary key,
    min_reader integer     not null,
    applied_at timestamptz not null default pg_catalog.clock_timestamp()
);

-- One number for each claim of any event. Never reset, so that no token ever returns.
create sequence webhook.fencing_token as bigint;

-- What is held. Text never decides: keys are hashes, compared as bytes.
-- A row whose event is not in the inbox is what a half-won claim left: it holds nothing,
-- unless it is a tombstone.
create table webhook.claim (
    key             bytea       primary key check (pg_catalog.octet_length(key) = 32),
    inbox           uuid        not null,
    kind            smallint    not null check (kind in (1, 2, 3)), -- by id, by digest, released
    key_fingerprint bytea       not null,
    digest          bytea,       -- of a tombstone: what the event contained
    pruned_at       timestamptz  -- makes a tombstone
);

create index claim_tombstone on webhook.claim (key_fingerprint) where pruned_at is not null;

create table webhook.inbox (
    id              uuid        primary key,
    seq             bigint      generated always as identity,
    endpoint        text        collate "C" not null,
    principal       text        collate "C",
    account         text        collate "C",
    event_id        text        collate "C" not null,
    event_type      text        collate "C" not null,
    state           text        collate "C" not null
                    check (state in ('completed', 'dead', 'ignored', 'pending', 'processing')),
    token           bigint,
    due_at          timestamptz not null, -- pending: next attempt; processing: end of the lease; dead: end of the quiet time
    failures        integer     not null default 0,
    crashes         integer     not null default 0,
    hand_backs      integer     not null default 0,
    contended       integer     not null default 0, -- attempts that the store stood in the way of
    id_key          bytea       not null, -- the claim keys that lead here
    digest_key      bytea,
    digest          bytea       not null,
    canonical       bytea,
    key_fingerprint bytea       not null,
    key_id          text        collate "C",
    signed_at       bigint,
    received_at     timestamptz not null default pg_catalog.clock_timestamp(),
    last_seen_at    timestamptz not null default pg_catalog.clock_timestamp(),
    settled_at      timestamptz,
    last_error      text        collate "C",
    reply_type      text        collate "C",
    reply           bytea,
    order_key       bytea,
    replayed_at     timestamptz, -- by an operator, the last time
    replayed_by     text        collate "C",
    headers         text        collate "C",
    payload         bytea,
    check (state <> 'processing' or token is not null),
    check (state not in ('pending', 'processing') or payload is not null)
) with (fillfactor = 80);

-- Payloads are opaque and often compressed: not worth the server's time.
alter table webhook.inbox alter column payload set storage external;

-- A row stands in one of these. The last is what retention has left of it.
create index inbox_pending on webhook.inbox (endpoint, due_at) where state = 'pending';
create index inbox_leased on webhook.inbox (endpoint, due_at) where state = 'processing';
create index inbox_settled on webhook.inbox (endpoint, settled_at)
    where state not in ('pending', 'processing') and payload is not null;
create index inbox_spent on webhook.inbox (endpoint, settled_at)
    where state not in ('pending', 'processing') and payload is null;
-- Beside one of these: what an operator looks for.
create index inbox_aside on webhook.inbox (id) where state in ('dead', 'ignored');
-- Beside one of these, while it waits or runs: what it may have to wait for.
create index inbox_ordered on webhook.inbox (order_key, seq)
    where order_key is not null and state in ('pending', 'processing');

-- Locked by each claim of an ordered event until it commits, and before it draws its `seq`: among
-- events of one key the order of `seq` is the order of their commits.
create table webhook.order_head (
    order_key bytea       primary key,
    last_at   timestamptz not null default pg_catalog.clock_timestamp()
);

create table webhook.quarantine (
    id              uuid        primary key,
    endpoint        text        collate "C" not null,
    reason          text        collate "C" not null,
    digest          bytea       not null,
    principal       text        collate "C",
    account         text        collate "C",
    event_id        text        collate "C" not null,
    event_type      text        collate "C" not null,
    key_fingerprint bytea       not null,
    key_id          text        collate "C",
    signed_at       bigint,
    headers         text        collate "C",
    first_inbox     uuid,       -- the event it collides with
    first_digest    bytea,
    seen            bigint      not null default 1,
    first_seen_at   timestamptz not null default pg_catalog.clock_timestamp(),
    last_seen_at    timestamptz not null default pg_catalog.clock_timestamp(),
    last_event_id   text        collate "C" not null,
    order_key       bytea,
    payload         bytea,      -- null: equal to the first one's, or over the endpoint's cap
    released_at     timestamptz,
    released_by     text        collate "C",
    resolution      text        collate "C",
    unique (endpoint, reason, digest)
);

alter table webhook.quarantine alter column payload set storage external;

create index quarantine_open on webhook.quarantine (id) where released_at is null;
create index quarantine_settled on webhook.quarantine (endpoint, released_at)
    where released_at is not null and payload is not null;

-- Keys ever used. One whose tombstones were pruned must not come back.
create table webhook.signing_key (
    endpoint      text        collate "C" not null,
    fingerprint   bytea       not null,
    first_seen_at timestamptz not null default pg_catalog.clock_timestamp(),
    last_live_at  timestamptz not null default pg_catalog.clock_timestamp(),
    pruned_at     timestamptz,
    primary key (endpoint, fingerprint)
);
