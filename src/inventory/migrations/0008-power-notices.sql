-- Notices of power for Nova wait in the same table as deliveries of webhooks. A delivery without a webhook is one of them.

alter table webhook_deliveries alter column webhook_uuid drop not null;
create unique index webhook_deliveries_of_power on webhook_deliveries (event_seq) where webhook_uuid is null;
