-- Nodes, what belongs to them and who leases them. Column names are the wire's. Constraints are named after the wire's collections,
-- from which a refusal of a duplicate reads the field.

create extension if not exists pgcrypto;

create table chassis (
  id             bigint generated always as identity primary key,
  uuid           uuid not null unique default gen_random_uuid(),
  description    text,
  extra          jsonb not null default '{}',
  created_at     timestamptz not null default now(),
  updated_at     timestamptz,
  document_bytes integer not null generated always as (
    coalesce(octet_length(extra::text), 0)
  ) stored
);
create index chassis_long on chassis (id) where document_bytes > 32768;

create table nodes (
  id                     bigint generated always as identity primary key,
  uuid                   uuid not null unique default gen_random_uuid(),
  name                   text unique,
  driver                 text not null,
  driver_info            jsonb not null default '{}',
  driver_internal_info   jsonb not null default '{}',
  properties             jsonb not null default '{}',
  extra                  jsonb not null default '{}',
  instance_uuid          uuid unique,
  instance_info          jsonb not null default '{}',
  instance_name          text,
  chassis_uuid           uuid references chassis (uuid),
  allocation_uuid        uuid,
  power_state            text,
  target_power_state     text,
  provision_state        text not null default 'enroll',
  target_provision_state text,
  provision_updated_at   timestamptz,
  maintenance            boolean not null default false,
  maintenance_reason     text,
  maintenance_since      timestamptz,                    -- a trigger alone writes it, as the next
  fault                  text,
  fault_since            timestamptz,
  last_error             text,
  reservation            uuid,                           -- the run that holds the node
  fence                  bigint not null default 0,      -- grows with every lock; an older run's writes find no row
  console_enabled        boolean not null default false,
  inspection_started_at  timestamptz,
  inspection_finished_at timestamptz,
  clean_step             jsonb,
  deploy_step            jsonb,
  service_step           jsonb,
  raid_config            jsonb,
  target_raid_config     jsonb,
  bios_interface         text,
  boot_interface         text,
  console_interface      text,
  deploy_interface       text,
  firmware_interface     text,
  inspect_interface      text,
  management_interface   text,
  network_interface      text,
  power_interface        text,
  raid_interface         text,
  rescue_interface       text,
  storage_interface      text,
  vendor_interface       text,
  resource_class         text,
  traits                 text[] not null default '{}',
  conductor_group        text not null default '',
  automated_clean        boolean,
  protected              boolean not null default false,
  protected_reason       text,
  owner                  text,
  lessee                 text,
  lease_id               uuid,                           -- the present lease; a project may lease a node twice
  description            text,
  retired                boolean not null default false,
  retired_reason         text,
  network_data           jsonb not null default '{}',
  boot_mode              text,
  secure_boot            boolean,
  shard                  text,
  parent_node            uuid,
  disable_power_off      boolean not null default false,
  health                 text,
  created_at             timestamptz not null default now(),
  updated_at             timestamptz,
  -- The values that a lessee wrote over: {"was": the former value} per column or, in documents, per key of the first level, and {} for
  -- a key that was not there. Triggers alone write it.
  of_lease               jsonb not null default '{}',
  -- The length of the row's documents, so that a page of long rows can end before they are written. The few long rows have an index.
  document_bytes         integer not null generated always as (
    coalesce(octet_length(driver_info::text), 0) +
    coalesce(octet_length(driver_internal_info::text), 0) +
    coalesce(octet_length(properties::text), 0) +
    coalesce(octet_length(extra::text), 0) +
    coalesce(octet_length(instance_info::text), 0) +
    coalesce(octet_length(clean_step::text), 0) +
    coalesce(octet_length(deploy_step::text), 0) +
    coalesce(octet_length(service_step::text), 0) +
    coalesce(octet_length(raid_config::text), 0) +
    coalesce(octet_length(target_raid_config::text), 0) +
    coalesce(octet_length(network_data::text), 0)
  ) stored,
  -- Where the node stands and what feeds it. Cut, so that a long text fits into the index of counts.
  rack                   text generated always as (left(properties ->> 'rack', 64)) stored,
  power_feed             text generated always as (left(properties ->> 'power_feed', 64)) stored
);
-- Lists are paged by id within a filter. An order ends with the row's id, so that a page begins where the last one ended.
create index nodes_by_state on nodes (provision_state, id);
create index nodes_by_group on nodes (conductor_group, id);
create index nodes_by_parent on nodes (parent_node, id) where parent_node is not null;
create index nodes_by_updated on nodes (updated_at, id);
create index nodes_held on nodes (reservation) where reservation is not null;
create index nodes_by_chassis on nodes (chassis_uuid, id) where chassis_uuid is not null;
-- The nodes that may be given, in an order that knows no favourites.
create index nodes_free on nodes (resource_class, uuid)
  where provision_state = 'available' and instance_uuid is null and not maintenance;
create index nodes_by_owner on nodes (owner, id);
create index nodes_by_lessee on nodes (lessee, id);
create index nodes_by_class on nodes (resource_class, id);
create index nodes_by_shard on nodes (shard, id);
create index nodes_by_name on nodes (name, id);
create index nodes_by_driver on nodes (driver, id);
create index nodes_by_instance on nodes (instance_uuid, id);
create index nodes_by_power on nodes (power_state, id);
create index nodes_by_age on nodes (created_at, id);
create index nodes_by_last_move on nodes (provision_updated_at, id);
-- Whole, because a plan for any value of the filter uses no partial index.
create index nodes_in_maintenance on nodes (maintenance, maintenance_since, id);
-- For the few that a filter asks for.
create index nodes_retired on nodes (id) where retired;
create index nodes_by_fault on nodes (fault, fault_since, id) where fault is not null;
create index nodes_faulty on nodes (fault_since, id) where fault is not null;
create index nodes_by_instance_name on nodes (instance_name, id) where instance_name is not null;
-- All that nodes are counted by, so that a count reads no row.
create index nodes_counted on nodes
  (provision_state, power_state, fault, maintenance, resource_class, driver, conductor_group, owner, lessee, rack, power_feed);
-- For searches by the beginning of a text, in any case; the orders of languages find no beginnings.
create index nodes_search_name on nodes (lower(name) text_pattern_ops) where name is not null;
create index nodes_search_rack on nodes (lower(rack) text_pattern_ops) where rack is not null;
create index nodes_search_serial on nodes (lower(left(properties ->> 'serial_number', 64)) text_pattern_ops)
  where properties ->> 'serial_number' is not null;
create index nodes_long on nodes (id) where document_bytes > 32768;

-- A lease is a stretch of time in which one project is a node's lessee.
create table leases (
  id             uuid primary key default gen_random_uuid(),
  node_uuid      uuid not null,                          -- no foreign key: a lease outlives its node, because it is counted
  project        text not null,
  started_at     timestamptz not null default now(),
  ended_at       timestamptz,
  node_name      text,                                   -- this and the next: as the node was when the lease began
  resource_class text
);
create index leases_by_node on leases (node_uuid, started_at);
-- For what was leased within a time.
create index leases_by_end on leases ((coalesce(ended_at, 'infinity')), started_at);
create index leases_by_project on leases (project, (coalesce(ended_at, 'infinity')), started_at);

create table portgroups (
  id                         bigint generated always as identity primary key,
  uuid                       uuid not null unique default gen_random_uuid(),
  node_uuid                  uuid not null references nodes (uuid) on delete cascade,
  name                       text unique,
  address                    text unique,
  extra                      jsonb not null default '{}',
  internal_info              jsonb not null default '{}',
  standalone_ports_supported boolean not null default true,
  mode                       text not null default 'active-backup',
  properties                 jsonb not null default '{}',
  physical_network           text,
  category                   text,
  dynamic_portgroup          boolean not null default false,
  created_at                 timestamptz not null default now(),
  updated_at                 timestamptz,
  lease_id                   uuid,                       -- under which the row was made, where a lessee made it
  of_lease                   jsonb not null default '{}', -- as in nodes
  document_bytes             integer not null generated always as (
    coalesce(octet_length(extra::text), 0) +
    coalesce(octet_length(internal_info::text), 0) +
    coalesce(octet_length(properties::text), 0)
  ) stored,
  unique (uuid, node_uuid)
);
create index portgroups_by_node on portgroups (node_uuid, id);
create index portgroups_long on portgroups (id) where document_bytes > 32768;

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
  updated_at                      timestamptz,
  lease_id                        uuid,                  -- under which the row was made, where a lessee made it
  of_lease                        jsonb not null default '{}', -- as in nodes
  document_bytes                  integer not null generated always as (
    coalesce(octet_length(extra::text), 0) +
    coalesce(octet_length(internal_info::text), 0) +
    coalesce(octet_length(local_link_connection::text), 0)
  ) stored,
  -- Members are of the same node. Deferred, because a node takes its ports and its portgroups with it in one statement.
  constraint ports_portgroup_uuid_fkey foreign key (portgroup_uuid, node_uuid)
    references portgroups (uuid, node_uuid) deferrable initially deferred
);
create index ports_by_node on ports (node_uuid, id);
create index ports_by_portgroup on ports (portgroup_uuid, id) where portgroup_uuid is not null;
create index ports_by_name on ports (name, id);
create index ports_by_address on ports (address, id);
create index ports_search_address on ports (address text_pattern_ops);
create index ports_by_age on ports (created_at, id);
create index ports_by_updated on ports (updated_at, id);
create index ports_long on ports (id) where document_bytes > 32768;

create table volume_connectors (
  id             bigint generated always as identity primary key,
  uuid           uuid not null default gen_random_uuid(),
  node_uuid      uuid not null references nodes (uuid) on delete cascade,
  type           text not null,
  connector_id   text not null,
  extra          jsonb not null default '{}',
  created_at     timestamptz not null default now(),
  updated_at     timestamptz,
  lease_id       uuid,                                   -- under which the row was made, where a lessee made it
  of_lease       jsonb not null default '{}',            -- as in nodes
  document_bytes integer not null generated always as (
    coalesce(octet_length(extra::text), 0)
  ) stored,
  constraint connectors_uuid_key unique (uuid),
  constraint connectors_connector_id_key unique (type, connector_id)
);
create index volume_connectors_by_node on volume_connectors (node_uuid, id);
create index volume_connectors_long on volume_connectors (id) where document_bytes > 32768;

create table volume_targets (
  id             bigint generated always as identity primary key,
  uuid           uuid not null default gen_random_uuid(),
  node_uuid      uuid not null references nodes (uuid) on delete cascade,
  volume_type    text not null,
  volume_id      text not null,
  boot_index     int not null,
  properties     jsonb not null default '{}',            -- secrets are references
  extra          jsonb not null default '{}',
  created_at     timestamptz not null default now(),
  updated_at     timestamptz,
  lease_id       uuid,                                   -- under which the row was made, where a lessee made it
  of_lease       jsonb not null default '{}',            -- as in nodes
  document_bytes integer not null generated always as (
    coalesce(octet_length(properties::text), 0) +
    coalesce(octet_length(extra::text), 0)
  ) stored,
  constraint targets_uuid_key unique (uuid),
  constraint targets_boot_index_key unique (node_uuid, boot_index)
);
create index volume_targets_by_node on volume_targets (node_uuid, id);
create index volume_targets_long on volume_targets (id) where document_bytes > 32768;

-- The networks that a node's instance was attached to, by the names that whoever made them gave.
create table node_vifs (
  id             bigint generated always as identity primary key,
  node_uuid      uuid not null references nodes (uuid) on delete cascade,
  vif            text not null,
  port_uuid      uuid unique references ports (uuid) on delete set null,
  portgroup_uuid uuid unique references portgroups (uuid) on delete set null,
  created_at     timestamptz not null default now(),
  lease_id       uuid,                                   -- under which the row was made, where a lessee made it
  of_lease       jsonb not null default '{}',            -- as in nodes
  unique (node_uuid, vif)
);

-- What was last seen inside a node: BIOS settings, firmware, and the findings of an inspection. Beside the node and not in it: looks
-- write it while nobody holds the node.
create table node_details (
  node_uuid    uuid primary key references nodes (uuid) on delete cascade,
  bios         jsonb,                                    -- list of {name, value, ..., created_at, updated_at}
  bios_at      timestamptz,
  firmware     jsonb,                                    -- list of {component, current_version, ..., created_at, updated_at}
  firmware_at  timestamptz,
  inventory    jsonb,
  plugin_data  jsonb,                                    -- what a ramdisk sent beside its inventory
  inventory_at timestamptz,
  reported     jsonb                                     -- steps that ramdisks on it said they have, each as it was told last
);
-- Cards of nodes that have no port: firmware may try to boot from each of them.
create index node_details_by_card on node_details
  using gin ((lower(jsonb_path_query_array(inventory, '$.interfaces[*].mac_address')::text)::jsonb) jsonb_path_ops);

-- Requests for a node of some kind, and the node that each was given.
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
  document_bytes  integer not null generated always as (
    coalesce(octet_length(extra::text), 0)
  ) stored,
  constraint active_has_node check ((state = 'active') = (node_uuid is not null))
);
create index allocations_waiting on allocations (id) where state = 'allocating';
create index allocations_by_owner on allocations (owner, id) where owner is not null;
create index allocations_by_state on allocations (state, id);
create index allocations_by_class on allocations (resource_class, id);
create index allocations_long on allocations (id) where document_bytes > 32768;

-- An operator's lock-outs on nodes: while one is active, nothing is written to the node's BMC.
create table freezes (
  id         uuid primary key default gen_random_uuid(),
  node_uuid  uuid not null references nodes (uuid) on delete cascade,
  reason     text not null,
  requester  jsonb not null,                             -- who froze it
  created_at timestamptz not null default now(),
  until      timestamptz,                                -- inactive by itself from then on; null lasts until it is ended
  ended_at   timestamptz,
  ended_by   jsonb                                       -- who ended it
);
create index freezes_active on freezes (node_uuid) where ended_at is null;
create index freezes_by_node on freezes (node_uuid, created_at desc, id);
create index freezes_by_age on freezes (created_at desc, id);
create index freezes_open_by_age on freezes (created_at desc, id) where ended_at is null;

-- Secrets lie here alone, sealed to public keys of the workers; documents hold {"$secret": id}.
create table secrets (
  id         uuid primary key,
  holder     text not null,                              -- 'node', 'run', 'agent' or a resource such as 'runbook'
  holder_id  uuid not null,
  path       text not null,                              -- where in the holder it belongs
  key_id     text not null,
  nonce      bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default now(),
  bound      text,                                       -- the BMC it was given for; part of what is authenticated
  boxes      jsonb not null                              -- the wrapped key, once for every recipient
);
create index secrets_by_holder on secrets (holder, holder_id);
create index secrets_by_key on secrets (key_id, id);

-- One call at a time per BMC, across workers. A look at power gives its lease back by a date of old, so that the next one writes the
-- same row within its page: an insert and a delete each time would write the index. Rows of BMCs that are gone are swept.
create table bmc_leases (
  lane       text primary key,
  holder     uuid not null,
  expires_at timestamptz not null
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.5);

-- How often in a row a BMC did not answer, and until when it is therefore left alone; no row: it answers.
create table bmc_health (
  lane       text primary key,
  failures   int not null,
  open_until timestamptz,                                -- nobody calls the BMC before; null: too few failures yet
  last_error text not null,
  updated_at timestamptz not null default now()
);

-- Nodes whose looks at power leave something to keep: failures in a row, or a reason.
create table power_sync (
  node_uuid uuid primary key references nodes (uuid) on delete cascade,
  failures  int not null default 0,                      -- in a row
  reason    text                                         -- the maintenance reason that power sync gave the node itself
);

-- When each node's power was looked at last. A node has a fixed slot of the interval, by its uuid, so a look writes no indexed
-- column; the table is not in the log, for after a crash of PostgreSQL an empty one only means: each node in its next slot.
create unlogged table power_looks (
  node_uuid uuid primary key references nodes (uuid) on delete cascade,
  slot      smallint not null generated always as ((uuid_hash(node_uuid) & 1023)::smallint) stored,
  looked_at timestamptz                                  -- when a worker took the node for its last look
) with (
  -- Two versions of each row fit into its page, so that updates stay there and leave no index entry.
  fillfactor = 45, autovacuum_vacuum_scale_factor = 0.5, autovacuum_analyze_scale_factor = 1
);
create index power_looks_by_slot on power_looks (slot);

-- Workers say here that they live; drivers, conductors and "nobody can do this now" are read from it.
create table workers (
  hostname        text primary key,
  conductor_group text not null default '',
  drivers         text[] not null default '{}',
  role            text not null,                         -- 'control' or 'bmc'
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  -- Where the readers of serial lines reach a worker; null where it reads none.
  console_url     text
);

-- Leases.
--
-- PostgreSQL searches pg_temp first for tables and types unless a search_path names it. A caller of a security definer function could
-- so put its own type or table in front of the owner's, and run its own code with the rights of the owner. So every function of this
-- schema has a search_path that ends in pg_temp. Triggers are meant, too: those of a table that a foreign key changes run with the
-- rights of that table's owner.

-- Every change of a node's lessee ends its lease and begins another, whoever writes it.
create function follow_lease() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
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

create function begin_lease() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare lease uuid;
begin
  if new.lessee is not null and new.lease_id is null then
    insert into leases (node_uuid, project, node_name, resource_class)
    values (new.uuid, new.lessee, new.name, new.resource_class) returning id into lease;
    update nodes set lease_id = lease where uuid = new.uuid;
  end if;
  return null;
end $$;

create function end_lease() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  update leases set ended_at = now() where id = old.lease_id and ended_at is null;
  return null;
end $$;

-- What a lessee writes about a node belongs to its lease: it is stamped as it is written, and ends with the lease, in the transaction
-- that ends it. A transaction that writes for a lessee says so first (temper.lease, inventory/nodes/lease-writes.ts).

-- What has keys, and an empty document for what has none.
create function keyed(value jsonb) returns jsonb language sql immutable
  set search_path = pg_catalog, public, pg_temp as $$
  select case jsonb_typeof(value) when 'object' then value else '{}' end
$$;

-- Stamps after a write. Under a lease, what differs is stamped with its first former value; a write of another caller takes the stamp off.
create function stamped(stamps jsonb, before jsonb, after jsonb, plain text[], documents text[], leased boolean)
returns jsonb language plpgsql immutable
  set search_path = pg_catalog, public, pg_temp as $$
declare
  field text;
  key text;
  ours jsonb;
begin
  foreach field in array plain loop
    if before -> field is distinct from after -> field then
      stamps := case
        when not leased then stamps - field
        when stamps ? field then stamps
        else stamps || jsonb_build_object(field, jsonb_build_object('was', before -> field)) end;
    end if;
  end loop;
  foreach field in array documents loop
    continue when before -> field is not distinct from after -> field;
    ours := coalesce(stamps -> field, '{}');
    for key in
      select jsonb_object_keys(public.keyed(before -> field))
      union select jsonb_object_keys(public.keyed(after -> field))
    loop
      continue when before -> field -> key is not distinct from after -> field -> key;
      ours := case
        when not leased then ours - key
        when ours ? key then ours
        when before -> field ? key then ours || jsonb_build_object(key, jsonb_build_object('was', before -> field -> key))
        else ours || jsonb_build_object(key, '{}'::jsonb) end;
    end loop;
    stamps := case when ours = '{}' then stamps - field else stamps || jsonb_build_object(field, ours) end;
  end loop;
  return stamps;
end $$;

-- The columns of a row as they were before the lessee wrote them.
create function unstamped(stamps jsonb, present jsonb, documents text[]) returns jsonb language plpgsql immutable
  set search_path = pg_catalog, public, pg_temp as $$
declare
  restored jsonb := '{}';
  field text;
  key text;
  stamp jsonb;
  document jsonb;
begin
  for field in select jsonb_object_keys(stamps) loop
    if field <> all (documents) then
      restored := restored || jsonb_build_object(field, stamps -> field -> 'was');
      continue;
    end if;
    document := public.keyed(present -> field);
    for key, stamp in select * from jsonb_each(stamps -> field) loop
      document := case when stamp ? 'was' then document || jsonb_build_object(key, stamp -> 'was') else document - key end;
    end loop;
    restored := restored || jsonb_build_object(field, document);
  end loop;
  return restored;
end $$;

-- Columns of rows beside a node that are restored. Not among them: addresses, names and places, which are unique, so that another row
-- may have them.
create function leased_columns() returns text[] language sql immutable
  set search_path = pg_catalog, public, pg_temp as $$
  select '{extra,properties,description,local_link_connection,physical_network,pxe_enabled,is_smartnic,vendor,category,
    available_for_dynamic_portgroup,standalone_ports_supported,mode,volume_type,volume_id}'::text[]
$$;

-- Removes the rows of a node's lease, restores those that a lessee changed, and drops the secrets of both.
create function end_rows_of_lease(node uuid) returns void language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  relation text;
  targets constant uuid[] := array(select uuid from public.volume_targets where node_uuid = node);
begin
  update public.ports set portgroup_uuid = null
  where node_uuid = node
    and portgroup_uuid in (select uuid from public.portgroups where lease_id is not null and node_uuid = node);
  foreach relation in array '{node_vifs,ports,portgroups,volume_connectors,volume_targets}'::text[] loop
    execute format('delete from public.%I where node_uuid = $1 and lease_id is not null', relation) using node;
    continue when relation = 'node_vifs';
    execute format($q$
      update public.%1$I r set of_lease = '{}', (%2$s) = (
        select %2$s from jsonb_populate_record(r, public.unstamped(r.of_lease, to_jsonb(r), '{}')))
      where node_uuid = $1 and of_lease <> '{}'$q$, relation, (
        select string_agg(quote_ident(attname), ', ') from pg_attribute
        where attrelid = format('public.%I', relation)::regclass and attnum > 0 and not attisdropped
          and attname = any (public.leased_columns()))) using node;
  end loop;
  delete from public.secrets s
  where s.holder = 'volume_target' and s.holder_id = any (targets)
    and not exists (select 1 from public.runs where finished_at is null and strpos(input::text, s.id::text) > 0)
    and not exists (select 1 from public.volume_targets t where t.uuid = s.holder_id and strpos(t::text, s.id::text) > 0);
end $$;

-- With the rights of the schema's owner: control workers end leases, and may not delete what hangs on a node. An allocation of the
-- lessee's project ends with its lease: its project would read the node's state in refusals, and take the node's instance from the
-- next tenant when it deletes the allocation. That of a project which owns the node stays.
create function follow_lease_writes() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  -- Not among them: what equipment is (driver, driver_info, interfaces), who serves it, its unique names, and maintenance itself.
  plain constant text[] := '{description,resource_class,traits,maintenance_reason,automated_clean,protected,protected_reason,
    retired,retired_reason,disable_power_off,target_raid_config,instance_name,instance_uuid}';
  documents constant text[] := '{extra,properties,network_data,instance_info}';
  of_instance constant text[] := '{instance_info,instance_name,instance_uuid}';
  -- In these nothing is deployed; in all others what is said of the instance goes with it, at its tear-down.
  without_instance constant text[] := '{enroll,verifying,manageable,available,cleaning,"clean wait","clean failed",
    inspecting,"inspect wait","inspect failed"}';
  -- Null where no transaction of this connection has written for a lessee yet.
  leased constant boolean := old.lease_id is not null and coalesce(current_setting('temper.lease', true), '') = old.lease_id::text;
begin
  new.of_lease := public.stamped(old.of_lease, to_jsonb(old), to_jsonb(new), plain, documents, leased);
  if new.lessee is not distinct from old.lessee then
    return new;
  end if;
  if new.provision_state <> all (without_instance) then
    new.of_lease := new.of_lease - of_instance;
  end if;
  if new.of_lease ? 'instance_uuid' then -- unique: a former value may be another node's by now
    new.of_lease := jsonb_set(new.of_lease, '{instance_uuid,was}', 'null');
  end if;
  new := jsonb_populate_record(new, public.unstamped(new.of_lease, to_jsonb(new), documents));
  new.of_lease := '{}';
  delete from public.allocations a
  where a.node_uuid = new.uuid and a.uuid = new.allocation_uuid and a.owner = old.lessee and a.owner is distinct from new.owner;
  if found then
    -- What it brought goes with it, as at its release.
    if new.provision_state = any (without_instance) and new.instance_uuid = new.allocation_uuid then
      new.instance_uuid := null;
      new.instance_info := new.instance_info - 'traits';
    end if;
    new.allocation_uuid := null;
  end if;
  perform public.end_rows_of_lease(new.uuid);
  delete from public.secrets s
  where s.holder = 'node' and s.holder_id = new.uuid and strpos(new::text, s.id::text) = 0
    and not exists (select 1 from public.runs where finished_at is null and strpos(input::text, s.id::text) > 0);
  return new;
end $$;

create function follow_row_lease() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare lease constant text := coalesce(current_setting('temper.lease', true), '');
begin
  if tg_op = 'INSERT' then
    new.lease_id := lease::uuid;
  elsif old.lease_id is null then
    new.of_lease := stamped(old.of_lease, to_jsonb(old), to_jsonb(new), leased_columns(), '{}', lease <> '');
  end if;
  return new;
end $$;

-- Since when a node has its present fault, and is in maintenance. Its name comes last, because triggers run in the order of their names.
create function note_trouble() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  was_faulty constant text := case when tg_op = 'UPDATE' then old.fault end;
  was_in_maintenance constant boolean := tg_op = 'UPDATE' and old.maintenance;
begin
  new.fault_since := case
    when new.fault is null then null
    when new.fault = was_faulty then old.fault_since
    else now() end;
  new.maintenance_since := case
    when not new.maintenance then null
    when was_in_maintenance then old.maintenance_since
    else now() end;
  return new;
end $$;

-- Whatever ends a tear-down, the instance is gone, and with it what it was attached to.
create function forget_vifs() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from node_vifs where node_uuid = new.uuid;
  return null;
end $$;

-- An allocation lasts as long as its node names it, whoever takes that away: a release, a patch, an undeployment.
create function end_allocation() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from allocations where uuid = old.allocation_uuid and node_uuid = old.uuid;
  return null;
end $$;

create trigger nodes_lease_ends before insert or update of lessee on nodes for each row execute function follow_lease();
create trigger nodes_lease_begins after insert or update of lessee on nodes for each row execute function begin_lease();
create trigger nodes_lease_deleted after delete on nodes for each row when (old.lease_id is not null) execute function end_lease();
create trigger nodes_forget_vifs after update of provision_state on nodes for each row
  when (old.provision_state = 'deleting' and new.provision_state <> 'deleting') execute function forget_vifs();
create trigger nodes_allocation_ends after update of allocation_uuid on nodes for each row
  when (old.allocation_uuid is not null and new.allocation_uuid is distinct from old.allocation_uuid)
  execute function end_allocation();
create trigger nodes_lease_writes before update on nodes for each row
  when (new.lessee is distinct from old.lessee or old.of_lease <> '{}'
    or (old.lease_id is not null and current_setting('temper.lease', true) = old.lease_id::text))
  execute function follow_lease_writes();
create trigger nodes_trouble_begins before insert on nodes for each row
  when (new.fault is not null or new.maintenance or new.fault_since is not null or new.maintenance_since is not null)
  execute function note_trouble();
create trigger nodes_trouble_changes before update on nodes for each row
  when (new.fault is distinct from old.fault or new.maintenance is distinct from old.maintenance
    or new.fault_since is distinct from old.fault_since or new.maintenance_since is distinct from old.maintenance_since)
  execute function note_trouble();
do $$
declare relation text;
begin
  foreach relation in array '{ports,portgroups,volume_connectors,volume_targets,node_vifs}'::text[] loop
    execute format($q$create trigger %1$s_of_lease before insert on %1$I for each row
      when (coalesce(current_setting('temper.lease', true), '') <> '') execute function follow_row_lease()$q$, relation);
    execute format($q$create trigger %1$s_lease_writes before update on %1$I for each row
      when (new.of_lease = old.of_lease and (old.of_lease <> '{}' or coalesce(current_setting('temper.lease', true), '') <> ''))
      execute function follow_row_lease()$q$, relation);
  end loop;
end $$;
