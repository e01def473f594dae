-- Times are Unix milliseconds of SQLite's clock.

-- Which step the outbox is at, and the oldest library that may still use it.
create table webhook_outbox_version (
    version    integer primary key,
    min_reader integer not null,
    applied_at integer not null default (cast(unixepoch('subsec') * 1000 as integer))
) strict;

-- One number for each attempt of any delivery. Never reset.
create table webhook_outbox_token (
    only  integer primary key check (only = 1),
    value integer not null
) strict;

insert into webhook_outbox_token (only, value) values (1, 0);

-- Written in the application's own transactions: one row an event, and nothing else.
create table webhook_outbox_event (
    seq             integer primary key autoincrement,
    id              text    not null unique,
    tenant          text    not null,
    event_type      text    not null,
    idempotency_key text,
    digest          blob    not null,
    order_key       text,
    enqueued_at     integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    expanded_at     integer,
    payload         blob    not null,
    unique (tenant, idempotency_key)
) strict;

create index webhook_outbox_unexpanded on webhook_outbox_event (seq) where expanded_at is null;
create index webhook_outbox_expanded on webhook_outbox_event (enqueued_at)
    where expanded_at is not null;

create table webhook_outbox_endpoint (
    id            blob    primary key,
    version       integer not null,
    tenant        text    not null,
    url           text    not null,
    filter        text    not null, -- JSON
    scheme        text    not null,
    headers       text    not null, -- JSON
    state         text    not null check (state in ('deleted', 'disabled', 'enabled', 'paused')),
    state_reason  text,
    in_flight     integer not null,
    per_second    integer,
    is_ordered    integer not null,
    secrets       text    not null, -- JSON; every secret in it is sealed
    -- How it fares.
    failures      integer not null default 0,
    slow          integer not null default 0,
    is_proven     integer not null default 0,
    failing_since integer,
    open_until    integer,
    is_noticed    integer not null default 0
) strict;

create index webhook_outbox_endpoint_tenant on webhook_outbox_endpoint (tenant, id);
create index webhook_outbox_endpoint_deleted on webhook_outbox_endpoint (id)
    where state = 'deleted';

-- One event on its way to one endpoint. Numbers grow in the order of fan-out: of events of one order
-- key, that of their commits.
create table webhook_outbox_delivery (
    id            integer primary key autoincrement,
    event         integer not null,
    endpoint      blob    not null,
    state         text    not null default 'pending'
                  check (state in ('dead', 'delivered', 'pending', 'sending')),
    token         integer,
    due_at        integer not null default (cast(unixepoch('subsec') * 1000 as integer)), -- sending: end of the lease
    attempts      integer not null default 0,
    size          integer not null, -- of the payload, in bytes
    order_key     text,
    waiting_since integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    settled_at    integer,
    last_class    text,
    last_status   integer,
    unique (event, endpoint),
    check (state <> 'sending' or token is not null)
) strict;

create index webhook_outbox_pending on webhook_outbox_delivery (endpoint, due_at)
    where state = 'pending';
create index webhook_outbox_waiting on webhook_outbox_delivery (waiting_since)
    where state = 'pending';
create index webhook_outbox_sending on webhook_outbox_delivery (endpoint) where state = 'sending';
create index webhook_outbox_leased on webhook_outbox_delivery (due_at) where state = 'sending';
create index webhook_outbox_ordered on webhook_outbox_delivery (endpoint, order_key, id)
    where order_key is not null and state in ('pending', 'sending');
create index webhook_outbox_delivery_endpoint on webhook_outbox_delivery (endpoint, id);

create table webhook_outbox_attempt (
    id               integer primary key autoincrement,
    delivery         integer not null,
    attempt          integer not null,
    ended_at         integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    class            text    not null,
    status           integer,
    address          text,
    was_allow_listed integer not null,
    took_millis      integer not null,
    answer           blob    not null
) strict;

create index webhook_outbox_attempt_delivery on webhook_outbox_attempt (delivery, id);
create index webhook_outbox_attempt_ended on webhook_outbox_attempt (ended_at);
