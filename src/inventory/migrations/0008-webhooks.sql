-- Whom to tell of events, what was told, and how it went.

create table webhooks (
  id          bigint generated always as identity primary key,
  uuid        uuid not null unique default gen_random_uuid(),
  url         text not null,
  kinds       text[] not null,                           -- 'run.failed', 'run.*' or '*'
  enabled     boolean not null default true,
  description text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz
);

-- Apart from all other secrets: the control workers read these and no others.
create table webhook_secrets (
  webhook_uuid uuid primary key references webhooks (uuid) on delete cascade,
  id           uuid not null,
  key_id       text not null,
  nonce        bytea not null,
  ciphertext   bytea not null
);

create table webhook_deliveries (
  id           bigint generated always as identity primary key,
  uuid         uuid not null unique default gen_random_uuid(),
  webhook_uuid uuid not null references webhooks (uuid) on delete cascade,
  event_seq    bigint not null,
  kind         text not null,
  state        text not null default 'pending',          -- 'pending', 'delivered', 'failed'
  attempts     int not null default 0,
  status       int,                                      -- of the last answer
  error        text,
  next_at      timestamptz not null default now(),
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  unique (webhook_uuid, event_seq)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_uuid, next_at) where state = 'pending';
create index webhook_deliveries_old on webhook_deliveries (created_at);

-- How far the events have been read. One row; who holds its lock is the one who reads.
create table event_cursor (
  id  int primary key default 1 check (id = 1),
  tx   xid8 not null,
  seq  bigint not null
);
insert into event_cursor (tx, seq) values (pg_current_xact_id(), 0);

grant select, insert, update, delete on webhooks to temper_api;
grant insert, delete on webhook_secrets to temper_api;
grant select (webhook_uuid, id, key_id) on webhook_secrets to temper_api;
grant select, insert on webhook_deliveries to temper_api;
grant select on webhooks, webhook_secrets to temper_control;
grant select, insert, update, delete on webhook_deliveries to temper_control;
grant select, update on event_cursor to temper_control;
