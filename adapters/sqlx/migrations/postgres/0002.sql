-- Settled quarantine is forgotten in time, whether or not its payload is kept. What `quarantine_settled`
-- serves is served by this one too: it goes with a later step, once no older library is running.
create index quarantine_decided on webhook.quarantine (endpoint, released_at)
    where released_at is not null;
