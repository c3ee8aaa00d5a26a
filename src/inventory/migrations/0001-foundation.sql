-- Nodes, ports, runbooks, runs and what is told of them. Column names are the wire's.

create extension if not exists pgcrypto;

create table nodes (
  id                      bigint generated always as identity primary key,
  uuid                    uuid not null unique default gen_random_uuid(),
  name                    text unique,
  driver                  text not null,
  driver_info             jsonb not null default '{}',
  driver_internal_info    jsonb not null default '{}',
  properties              jsonb not null default '{}',
  extra                   jsonb not null default '{}',
  instance_uuid           uuid unique,
  instance_info           jsonb not null default '{}',
  instance_name           text,
  chassis_uuid            uuid,
  allocation_uuid         uuid,
  power_state             text,
  target_power_state      text,
  provision_state         text not null default 'enroll',
  target_provision_state  text,
  provision_updated_at    timestamptz,
  maintenance             boolean not null default false,
  maintenance_reason      text,
  fault                   text,
  last_error              text,
  reservation             uuid,                          -- the run that holds the node
  fence                   bigint not null default 0,     -- grows with every lock; an older run's writes find no row
  console_enabled         boolean not null default false,
  inspection_started_at   timestamptz,
  inspection_finished_at  timestamptz,
  clean_step              jsonb,
  deploy_step             jsonb,
  service_step            jsonb,
  raid_config             jsonb,
  target_raid_config      jsonb,
  bios_interface          text,
  boot_interface          text,
  console_interface       text,
  deploy_interface        text,
  firmware_interface      text,
  inspect_interface       text,
  management_interface    text,
  network_interface       text,
  power_interface         text,
  raid_interface          text,
  rescue_interface        text,
  storage_interface       text,
  vendor_interface        text,
  resource_class          text,
  traits                  text[] not null default '{}',
  conductor_group         text not null default '',
  automated_clean         boolean,
  protected               boolean not null default false,
  protected_reason        text,
  owner                   text,
  lessee                  text,
  lease_id                uuid,                          -- the present lease; a project may lease a node twice
  description             text,
  retired                 boolean not null default false,
  retired_reason          text,
  network_data            jsonb not null default '{}',
  boot_mode               text,
  secure_boot             boolean,
  shard                   text,
  parent_node             uuid,
  disable_power_off       boolean not null default false,
  health                  text,
  created_at              timestamptz not null default now(),
  updated_at              timestamptz
);
-- Lists are paged by id within a filter.
create index nodes_by_owner on nodes (owner, id) where owner is not null;
create index nodes_by_lessee on nodes (lessee, id) where lessee is not null;
create index nodes_by_state on nodes (provision_state, id);
create index nodes_by_class on nodes (resource_class, id) where resource_class is not null;
create index nodes_by_group on nodes (conductor_group, id);
create index nodes_by_parent on nodes (parent_node, id) where parent_node is not null;
create index nodes_by_updated on nodes (updated_at, id);
create index nodes_held on nodes (reservation) where reservation is not null;

-- A lease is a stretch of time in which one project is a node's lessee.
create table leases (
  id         uuid primary key default gen_random_uuid(),
  node_uuid  uuid not null references nodes (uuid) on delete cascade,
  project    text not null,
  started_at timestamptz not null default now(),
  ended_at   timestamptz
);
create index leases_by_node on leases (node_uuid, started_at);

-- Every change of a node's lessee ends its lease and begins another, whoever writes it.
create function follow_lease() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.lessee is not distinct from old.lessee then
    return new;
  end if;
  if tg_op = 'UPDATE' and old.lease_id is not null then
    update leases set ended_at = now() where id = old.lease_id;
  end if;
  new.lease_id := null;
  return new;
end $$;
create function begin_lease() returns trigger language plpgsql as $$
declare lease uuid;
begin
  if new.lessee is not null and new.lease_id is null then
    insert into leases (node_uuid, project) values (new.uuid, new.lessee) returning id into lease;
    update nodes set lease_id = lease where uuid = new.uuid;
  end if;
  return null;
end $$;
create trigger nodes_lease_ends before insert or update of lessee on nodes for each row execute function follow_lease();
create trigger nodes_lease_begins after insert or update of lessee on nodes for each row execute function begin_lease();

create table ports (
  id                              bigint generated always as identity primary key,
  uuid                            uuid not null unique default gen_random_uuid(),
  node_uuid                       uuid not null references nodes (uuid) on delete cascade,
  address                         text not null unique,
  name                            text unique,
  extra                           jsonb not null default '{}',
  internal_info                   jsonb not null default '{}',
  local_link_connection           jsonb not null default '{}',
  pxe_enabled                     boolean not null default true,
  portgroup_uuid                  uuid,
  physical_network                text,
  is_smartnic                     boolean not null default false,
  description                     text,
  vendor                          text,
  category                        text,
  available_for_dynamic_portgroup boolean not null default true,
  created_at                      timestamptz not null default now(),
  updated_at                      timestamptz
);
create index ports_by_node on ports (node_uuid, id);

create table runbooks (
  id              bigint generated always as identity primary key,
  uuid            uuid not null unique default gen_random_uuid(),
  name            text not null unique,
  steps           jsonb not null,                       -- ordered as they run; read only where steps are wanted
  disable_ramdisk boolean not null default false,
  extra           jsonb not null default '{}',
  public          boolean not null default false,
  owner           text,
  description     text,
  traits          text[] not null default '{}',
  created_at      timestamptz not null default now(),
  updated_at      timestamptz,
  constraint public_has_no_owner check (not public or owner is null)
);
create index runbooks_by_owner on runbooks (owner, id) where owner is not null;
create index runbooks_public on runbooks (id) where public;

-- Secrets lie here alone, encrypted; documents hold {"$secret": id}.
create table secrets (
  id         uuid primary key,
  holder     text not null,                              -- 'node', 'runbook' or 'run'
  holder_id  uuid not null,
  path       text not null,                              -- where in the holder it belongs
  key_id     text not null,
  nonce      bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default now()
);
create index secrets_by_holder on secrets (holder, holder_id);

create table runs (
  id                     uuid primary key,
  node_uuid              uuid not null,                  -- no foreign key: a run outlives its node
  node_name              text,
  fence                  bigint not null,
  story                  text not null,
  verb                   text not null,
  state                  text not null default 'accepted',
  runbook_uuid           uuid,
  runbook_name           text,
  input                  jsonb not null,                 -- what the workflow is started with, frozen
  owner                  text,                           -- owner, lessee and lease as they were at acceptance
  lessee                 text,
  lease_id               uuid,
  requester              jsonb not null,
  rule_set               text not null,
  batch                  uuid,
  workflow_id            text not null,
  workflow_run_id        text,
  provision_state_before text,
  target                 text,
  cursor                 int not null default 0,         -- the step it is in
  seq                    bigint not null default 0,      -- counter of the workflow; an older projection finds no row
  waiting_for            text,
  last_error             text,
  attempts_to_start      int not null default 0,
  created_at             timestamptz not null default now(),
  started_at             timestamptz,
  finished_at            timestamptz,
  updated_at             timestamptz not null default now()
);
create index runs_by_node on runs (node_uuid, created_at desc, id);
create index runs_by_lease on runs (lease_id, created_at desc) where lease_id is not null;
create index runs_accepted on runs (created_at) where state = 'accepted';
create index runs_open on runs (updated_at, id) where finished_at is null;
create index runs_by_batch on runs (batch, id) where batch is not null;

create table run_steps (
  run_id      uuid not null references runs (id) on delete cascade,
  index       int not null,
  interface   text not null,
  step        text not null,
  args        jsonb not null default '{}',
  state       text not null default 'pending',
  act         text,                                      -- the act it is in
  acts_done   int not null default 0,
  attempt     int not null default 0,                    -- of the act it is in
  attempts    int not null default 0,                    -- of the step: 1, and one more for every repeat of one of its acts
  note        text,
  last_error  text,
  started_at  timestamptz,
  finished_at timestamptz,
  primary key (run_id, index)
);

-- Written before a command that must not be sent twice; the next attempt reads it first.
create table intents (
  run_id  uuid not null references runs (id) on delete cascade,
  index   int not null,
  act     text not null,
  detail  jsonb not null default '{}',
  sent_at timestamptz not null default now(),
  primary key (run_id, index, act)
);

-- Messages to a run that the engine has not taken yet; the relay sends what stands here.
create table run_messages (
  id         uuid primary key default gen_random_uuid(),
  run_id     uuid not null references runs (id) on delete cascade,
  kind       text not null,
  payload    jsonb not null default '{}',
  created_at timestamptz not null default now(),
  sent_at    timestamptz
);
create index run_messages_unsent on run_messages (created_at) where sent_at is null;

-- One append-only table from which history, streams and webhooks are read.
create table events (
  seq        bigint generated always as identity primary key,
  at         timestamptz not null default now(),
  kind       text not null,
  node_uuid  uuid,
  run_id     uuid,
  project    text,                                       -- the node's owner at that time
  lessee     text,
  data       jsonb not null default '{}'
);
create index events_by_node on events (node_uuid, seq);
create index events_by_run on events (run_id, seq);
create index events_by_project on events (project, seq) where project is not null;

create table audit (
  seq        bigint generated always as identity primary key,
  at         timestamptz not null default now(),
  requester  jsonb not null,                             -- user, project or system scope, strategy, request id
  action     text not null,                              -- such as 'node.update'
  rule       text,
  rule_set   text,
  resource   text not null,
  resource_id text not null,
  run_id     uuid,
  data       jsonb not null default '{}'                 -- what was changed, secrets masked
);
create index audit_by_resource on audit (resource, resource_id, seq);
create index audit_at on audit (at);

-- Workers say here that they live; drivers, conductors and "nobody can do this now" are read from it.
create table workers (
  hostname        text primary key,
  conductor_group text not null default '',
  drivers         text[] not null default '{}',
  role            text not null,                         -- 'control' or 'bmc'
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now()
);

-- One call at a time per BMC, across workers.
create table bmc_leases (
  lane       text primary key,
  holder     uuid not null,
  expires_at timestamptz not null
);

-- Append-only means it, for everybody but the owner of the schema.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger events_append_only before update or delete on events for each statement execute function refuse_change();
create trigger audit_append_only before update or delete on audit for each statement execute function refuse_change();
