-- What stands beside nodes and ports on the wire. Column names are the wire's; constraints are named after the wire's
-- collections, from which a refusal of a duplicate reads the field.

create table chassis (
  id          bigint generated always as identity primary key,
  uuid        uuid not null unique default gen_random_uuid(),
  description text,
  extra       jsonb not null default '{}',
  created_at  timestamptz not null default now(),
  updated_at  timestamptz
);
alter table nodes add constraint nodes_chassis_uuid_fkey foreign key (chassis_uuid) references chassis (uuid);
create index nodes_by_chassis on nodes (chassis_uuid, id) where chassis_uuid is not null;
create index nodes_by_shard on nodes (shard, id) where shard is not null;

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
  unique (uuid, node_uuid)
);
create index portgroups_by_node on portgroups (node_uuid, id);
-- Members are of the same node. Deferred, because a node takes its ports and its portgroups with it in one statement.
alter table ports add constraint ports_portgroup_uuid_fkey foreign key (portgroup_uuid, node_uuid)
  references portgroups (uuid, node_uuid) deferrable initially deferred;
create index ports_by_portgroup on ports (portgroup_uuid, id) where portgroup_uuid is not null;

create table volume_connectors (
  id           bigint generated always as identity primary key,
  uuid         uuid not null default gen_random_uuid(),
  node_uuid    uuid not null references nodes (uuid) on delete cascade,
  type         text not null,
  connector_id text not null,
  extra        jsonb not null default '{}',
  created_at   timestamptz not null default now(),
  updated_at   timestamptz,
  constraint connectors_uuid_key unique (uuid),
  constraint connectors_connector_id_key unique (type, connector_id)
);
create index volume_connectors_by_node on volume_connectors (node_uuid, id);

create table volume_targets (
  id          bigint generated always as identity primary key,
  uuid        uuid not null default gen_random_uuid(),
  node_uuid   uuid not null references nodes (uuid) on delete cascade,
  volume_type text not null,
  volume_id   text not null,
  boot_index  int not null,
  properties  jsonb not null default '{}',               -- secrets are references
  extra       jsonb not null default '{}',
  created_at  timestamptz not null default now(),
  updated_at  timestamptz,
  constraint targets_uuid_key unique (uuid),
  constraint targets_boot_index_key unique (node_uuid, boot_index)
);
create index volume_targets_by_node on volume_targets (node_uuid, id);

create table deploy_templates (
  id         bigint generated always as identity primary key,
  uuid       uuid not null unique default gen_random_uuid(),
  name       text not null unique,                       -- a trait
  steps      jsonb not null,
  extra      jsonb not null default '{}',
  vouched    boolean not null default false,             -- its steps were written with system scope
  created_at timestamptz not null default now(),
  updated_at timestamptz
);

create table inspection_rules (
  id          bigint generated always as identity primary key,
  uuid        uuid not null unique default gen_random_uuid(),
  description text,
  phase       text not null default 'main',
  priority    int not null default 0,
  sensitive   boolean not null default false,
  conditions  jsonb not null default '[]',
  actions     jsonb not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz
);

-- The networks that a node's instance was attached to, by the names that whoever made them gave.
create table node_vifs (
  id             bigint generated always as identity primary key,
  node_uuid      uuid not null references nodes (uuid) on delete cascade,
  vif            text not null,
  port_uuid      uuid unique references ports (uuid) on delete set null,
  portgroup_uuid uuid unique references portgroups (uuid) on delete set null,
  created_at     timestamptz not null default now(),
  unique (node_uuid, vif)
);

grant select, insert, update, delete on
  chassis, portgroups, volume_connectors, volume_targets, deploy_templates, inspection_rules, node_vifs to temper_api;
-- The sweep of secrets asks whether their holders are still there, and a tear-down ends what its instance was attached to.
grant select on volume_targets, deploy_templates, inspection_rules to temper_control;
grant select, delete on node_vifs to temper_control, temper_bmc;

-- Whatever ends a tear-down, the instance is gone, and with it what it was attached to.
create function forget_vifs() returns trigger language plpgsql as $$
begin
  delete from node_vifs where node_uuid = new.uuid;
  return null;
end $$;
create trigger nodes_forget_vifs after update of provision_state on nodes for each row
  when (old.provision_state = 'deleting' and new.provision_state <> 'deleting') execute function forget_vifs();
