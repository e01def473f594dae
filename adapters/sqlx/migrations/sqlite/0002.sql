-- Settled quarantine is forgotten in time, whether or not its payload is kept. What
-- `webhook_quarantine_settled` serves is served by this one too: it goes with a later step, once no
-- older library is running.
create index webhook_quarantine_decided on webhook_quarantine (endpoint, released_at)
    where released_at is not null;

-- The newest version of a resource that a handler has applied: see `NewerThan`. Older libraries do
-- not know of it.
create table webhook_resource (
    name    text    primary key check (length(cast(name as blob)) between 1 and 255),
    version integer not null
) strict, without rowid;
