-- Requests for a node of some kind, and which node each was given.

create table allocations (
  id              bigint generated always as identity primary key,
  uuid            uuid not null unique default gen_random_uuid(),
  name            text unique,
  resource_class  text,
  traits          text[] not null default '{}',
  candidate_nodes uuid[] not null default '{}',          -- none: any node
  state           text not null default 'allocating',    -- 'allocating', 'active', 'error'
  node_uuid       uuid unique references nodes (uuid) on delete cascade,
  last_error      text,
  owner           text,                                  -- only nodes that this project owns or leases are given
  extra           jsonb not null default '{}',
  tries           int not null default 0,                -- passes that found suitable nodes in other hands only
  due_at          timestamptz not null default now(),    -- no pass takes it before
  created_at      timestamptz not null default now(),
  updated_at      timestamptz,
  constraint active_has_node check ((state = 'active') = (node_uuid is not null))
);
create index allocations_waiting on allocations (id) where state = 'allocating';
create index allocations_by_owner on allocations (owner, id) where owner is not null;

-- The nodes that may be given, in an order that knows no favourites.
create index nodes_free on nodes (resource_class, uuid)
  where provision_state = 'available' and instance_uuid is null and not maintenance;

-- An allocation lasts as long as its node names it, whoever takes that away: a release, a patch, an undeployment.
create function end_allocation() returns trigger language plpgsql as $$
begin
  delete from allocations where uuid = old.allocation_uuid and node_uuid = old.uuid;
  return null;
end $$;
create trigger nodes_allocation_ends after update of allocation_uuid on nodes for each row
  when (old.allocation_uuid is not null and new.allocation_uuid is distinct from old.allocation_uuid)
  execute function end_allocation();

create function tell_allocation_end() returns trigger language plpgsql as $$
begin
  insert into events (kind, node_uuid, project, data)
  values ('allocation.deleted', old.node_uuid, old.owner, jsonb_build_object('allocation_uuid', old.uuid, 'name', old.name));
  return null;
end $$;
create trigger allocations_end after delete on allocations for each row execute function tell_allocation_end();

grant select, insert, update, delete on allocations to temper_api;
grant select, update, delete on allocations to temper_control;
grant select on allocations to temper_bmc;
