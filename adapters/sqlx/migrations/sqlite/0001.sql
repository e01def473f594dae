-- Times are Unix milliseconds of SQLite's clock.

-- Which step the schema is at, and the oldest library that may still use it.
create table webhook_schema_version (
    version    integer primary key,
    min_reader integer not null,
    applied_at integer not null default (cast(unixepoch('subsec') * 1000 as integer))
) strict;

-- One number for each claim of any event. Never reset, so that no token ever returns.
create table webhook_fencing_token (
    only  integer primary key check (only = 1),
    value integer not null
) strict;

insert into webhook_fencing_token (only, value) values (1, 0);

-- What is held. Text never decides: keys are hashes, compared as bytes.
-- A row whose event is not in the inbox holds nothing, unless it is a tombstone.
create table webhook_claim (
    key             blob    primary key check (length(key) = 32),
    inbox           blob    not null,
    kind            integer not null check (kind in (1, 2, 3)), -- by id, by digest, released
    key_fingerprint blob    not null,
    digest          blob,    -- of a tombstone: what the event contained
    pruned_at       integer  -- makes a tombstone
) strict, without rowid;

create index webhook_claim_tombstone on webhook_claim (key_fingerprint) where pruned_at is not null;

create table webhook_inbox (
    seq             integer primary key autoincrement,
    id              blob    not null unique,
    endpoint        text    not null,
    principal       text,
    account         text,
    event_id        text    not null,
    event_type      text    not null,
    state           text    not null
                    check (state in ('completed', 'dead', 'ignored', 'pending', 'processing')),
    token           integer,
    due_at          integer not null, -- pending: next attempt; processing: end of the lease; dead: end of the quiet time
    failures        integer not null default 0,
    crashes         integer not null default 0,
    hand_backs      integer not null default 0,
    contended       integer not null default 0, -- attempts that the store stood in the way of
    id_key          blob    not null, -- the claim keys that lead here
    digest_key      blob,
    digest          blob    not null,
    canonical       blob,
    key_fingerprint blob    not null,
    key_id          text,
    signed_at       integer,
    received_at     integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    last_seen_at    integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    settled_at      integer,
    last_error      text,
    reply_type      text,
    reply           blob,
    order_key       blob,
    replayed_at     integer, -- by an operator, the last time
    replayed_by     text,
    headers         text,
    payload         blob,
    check (state <> 'processing' or token is not null),
    check (state not in ('pending', 'processing') or payload is not null)
) strict;

-- A row stands in one of these. The last is what retention has left of it.
create index webhook_inbox_pending on webhook_inbox (endpoint, due_at) where state = 'pending';
create index webhook_inbox_leased on webhook_inbox (endpoint, due_at) where state = 'processing';
create index webhook_inbox_settled on webhook_inbox (endpoint, settled_at)
    where state not in ('pending', 'processing') and payload is not null;
create index webhook_inbox_spent on webhook_inbox (endpoint, settled_at)
    where state not in ('pending', 'processing') and payload is null;
-- Beside one of these: what an operator looks for.
create index webhook_inbox_aside on webhook_inbox (id) where state in ('dead', 'ignored');
-- Beside one of these, while it waits or runs: what it may have to wait for. There is one writer, so
-- that the order of `seq` is the order of commits.
create index webhook_inbox_ordered on webhook_inbox (order_key, seq)
    where order_key is not null and state in ('pending', 'processing');

create table webhook_quarantine (
    id              blob    not null primary key,
    endpoint        text    not null,
    reason          text    not null,
    digest          blob    not null,
    principal       text,
    account         text,
    event_id        text    not null,
    event_type      text    not null,
    key_fingerprint blob    not null,
    key_id          text,
    signed_at       integer,
    headers         text,
    first_inbox     blob,    -- the event it collides with
    first_digest    blob,
    seen            integer not null default 1,
    first_seen_at   integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    last_seen_at    integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    last_event_id   text    not null,
    order_key       blob,
    payload         blob,    -- null: equal to the first one's, or over the endpoint's cap
    released_at     integer,
    released_by     text,
    resolution      text,
    unique (endpoint, reason, digest)
) strict;

create index webhook_quarantine_open on webhook_quarantine (id) where released_at is null;
create index webhook_quarantine_settled on webhook_quarantine (endpoint, released_at)
    where released_at is not null and payload is not null;

-- Keys ever used. One whose tombstones were pruned must not come back.
create table webhook_signing_key (
    endpoint      text    not null,
    fingerprint   blob    not null,
    first_seen_at integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    last_live_at  integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
    pruned_at     integer,
    primary key (endpoint, fingerprint)
) strict, without rowid;
