-- How far an event is fanned out that is for more endpoints than a statement should make deliveries for.
alter table webhook_outbox_event add column expanded_to blob;

-- The attempt's lease: who records it twice, not knowing what became of the first time, is told so.
alter table webhook_outbox_attempt add column token integer;
