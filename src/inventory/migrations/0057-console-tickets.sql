-- Tickets for a node's serial line: made by the API, used once at the BMC worker that reads the line.

create table console_tickets (
  id          uuid primary key default gen_random_uuid(),
  ticket_hash text not null unique,                     -- SHA-256; the ticket itself is kept nowhere
  node_uuid   uuid not null references nodes (uuid) on delete cascade,
  owner       text,                                     -- the node's when the ticket was made: another one ends the reading
  lessee      text,
  requester   jsonb not null,
  use_before  timestamptz not null,
  ends_at     timestamptz not null,                     -- of a reading, however long its reader stays
  used_at     timestamptz,
  seen_at     timestamptz,                              -- the worker that reads says so every few seconds
  closed_at   timestamptz
);
-- One reader a node, whichever worker it is at.
create unique index console_tickets_open on console_tickets (node_uuid) where used_at is not null and closed_at is null;
create index console_tickets_by_node on console_tickets (node_uuid);

grant select, insert, delete on console_tickets to temper_api;
grant select, update on console_tickets to temper_bmc;

-- Where the readers of serial lines reach a worker; null where it reads none.
alter table workers add column console_url text;
