create schema if not exists webhook;

-- Which step the outbox is at, and the oldest library that may still use it.
create table webhook.outbox_version (
    version    integer     primary key,
    min_reader integer     not null,
    applied_at timestamptz not null default pg_catalog.clock_timestamp()
);

-- One number for each attempt of any delivery. Never reset.
create sequence webhook.outbox_token as bigint;

-- Written in the application's own transactions: one row an event, and nothing else.
create table webhook.outbox_event (
    seq             bigint      primary key generated always as identity,
    id              text        collate "C" not null unique,
    tenant          text        collate "C" not null,
    event_type      text        collate "C" not null,
    idempotency_key text        collate "C",
    digest          bytea       not null,
    order_key       text        collate "C",
    enqueued_at     timestamptz not null default pg_catalog.clock_timestamp(),
    expanded_at     timestamptz,
    payload         bytea       not null,
    unique (tenant, idempotency_key)
);

-- Payloads are opaque and often compressed: not worth the server's time.
alter table webhook.outbox_event alter column payload set storage external;

create index outbox_unexpanded on webhook.outbox_event (seq) where expanded_at is null;
create index outbox_expanded on webhook.outbox_event (enqueued_at) where expanded_at is not null;

create table webhook.outbox_endpoint (
    id            uuid    primary key,
    version       bigint  not null,
    tenant        text    collate "C" not null,
    url           text    collate "C" not null,
    filter        text[]  collate "C" not null,
    scheme        text    collate "C" not null,
    headers       text    collate "C" not null, -- JSON
    state         text    collate "C" not null
                  check (state in ('deleted', 'disabled', 'enabled', 'paused')),
    state_reason  text    collate "C",
    in_flight     bigint not null,
    per_second    bigint,
    is_ordered    boolean not null,
    secrets       text    collate "C" not null, -- JSON; every secret in it is sealed
    -- How it fares. Times in Unix milliseconds of this server's clock.
    failures      bigint not null default 0,
    slow          bigint not null default 0,
    is_proven     boolean not null default false,
    failing_since bigint,
    open_until    bigint,
    is_noticed    boolean not null default false
);

create index outbox_endpoint_tenant on webhook.outbox_endpoint (tenant, id);
create index outbox_endpoint_deleted on webhook.outbox_endpoint (id) where state = 'deleted';

-- One event on its way to one endpoint. Numbers grow in the order of fan-out, which one process at a
-- time does: of events of one order key, that of their commits.
create table webhook.outbox_delivery (
    id            bigint      primary key generated always as identity,
    event         bigint      not null,
    endpoint      uuid        not null,
    state         text        collate "C" not null default 'pending'
                  check (state in ('dead', 'delivered', 'pending', 'sending')),
    token         bigint,
    due_at        timestamptz not null default pg_catalog.clock_timestamp(), -- sending: end of the lease
    attempts      bigint     not null default 0,
    size          bigint     not null, -- of the payload, in bytes
    order_key     text        collate "C",
    waiting_since timestamptz not null default pg_catalog.clock_timestamp(),
    settled_at    timestamptz,
    last_class    text        collate "C",
    last_status   bigint,
    unique (event, endpoint),
    check (state <> 'sending' or token is not null)
) with (fillfactor = 80);

create index outbox_pending on webhook.outbox_delivery (endpoint, due_at) where state = 'pending';
create index outbox_waiting on webhook.outbox_delivery (waiting_since) where state = 'pending';
create index outbox_sending on webhook.outbox_delivery (endpoint) where state = 'sending';
create index outbox_leased on webhook.outbox_delivery (due_at) where state = 'sending';
create index outbox_ordered on webhook.outbox_delivery (endpoint, order_key, id)
    where order_key is not null and state in ('pending', 'sending');
create index outbox_delivery_endpoint on webhook.outbox_delivery (endpoint, id);

create table webhook.outbox_attempt (
    id               bigint      primary key generated always as identity,
    delivery         bigint      not null,
    attempt          bigint     not null,
    ended_at         timestamptz not null default pg_catalog.clock_timestamp(),
    class            text        collate "C" not null,
    status           bigint,
    address          text        collate "C",
    was_allow_listed boolean     not null,
    took_millis      bigint      not null,
    answer           bytea       not null
);

create index outbox_attempt_delivery on webhook.outbox_attempt (delivery, id);
create index outbox_attempt_ended on webhook.outbox_attempt (ended_at);
