-- Settled quarantine is forgotten in time, whether or not its payload is kept. What `quarantine_settled`
-- serves is served by this one too: it goes with a later step, once no older library is running.
create index quarantine_decided on webhook.quarantine (endpoint, released_at)
    where released_at is not null;

-- The newest version of a resource that a handler has applied: see `NewerThan`. Older libraries do
-- not know of it.
create table webhook.resource (
    name    text   collate "C" primary key check (pg_catalog.octet_length(name) between 1 and 255),
    version bigint not null
);
