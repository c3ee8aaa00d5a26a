-- What a lessee writes about a node belongs to its lease: it is stamped as it is written, and ends with the lease, in the transaction
-- that ends it. A transaction that writes for a lessee says so first (temper.lease, inventory/lease-writes.ts).

-- Of what a lessee wrote over what others had written: per column or, in documents of a node, per key of the first level, {"was": the
-- former value}; {} for a key that was not there. No process writes it but by these triggers.
alter table nodes add column of_lease jsonb not null default '{}';
do $$
declare relation text;
begin
  foreach relation in array '{ports,portgroups,volume_connectors,volume_targets,node_vifs}'::text[] loop
    -- The lease under which the row was made, where a lessee made it.
    execute format('alter table %I add column lease_id uuid, add column of_lease jsonb not null default ''{}''', relation);
  end loop;
end $$;

/* What has keys, and an empty document for what has none. */
create function keyed(value jsonb) returns jsonb language sql immutable as $$
  select case jsonb_typeof(value) when 'object' then value else '{}' end
$$;

/* Stamps after a write. Under a lease, what differs is stamped with its first former value; a write of another caller takes the stamp off. */
create function stamped(stamps jsonb, before jsonb, after jsonb, plain text[], documents text[], leased boolean)
returns jsonb language plpgsql immutable as $$
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
    for key in select jsonb_object_keys(keyed(before -> field)) union select jsonb_object_keys(keyed(after -> field)) loop
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

/* The columns of a row as they were before the lessee wrote them. */
create function unstamped(stamps jsonb, present jsonb, documents text[]) returns jsonb language plpgsql immutable as $$
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
    document := keyed(present -> field);
    for key, stamp in select * from jsonb_each(stamps -> field) loop
      document := case when stamp ? 'was' then document || jsonb_build_object(key, stamp -> 'was') else document - key end;
    end loop;
    restored := restored || jsonb_build_object(field, document);
  end loop;
  return restored;
end $$;

-- Columns of rows beside a node that are restored. Not among them: addresses, names and places, which are unique; another row may have them.
create function leased_columns() returns text[] language sql immutable as $$
  select '{extra,properties,description,local_link_connection,physical_network,pxe_enabled,is_smartnic,vendor,category,
    available_for_dynamic_portgroup,standalone_ports_supported,mode,volume_type,volume_id}'::text[]
$$;

-- With the rights of the schema's owner: control workers end leases, and may not delete what hangs on a node.
create function follow_lease_writes() returns trigger language plpgsql security definer set search_path = pg_catalog, public as $$
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
  new.of_lease := stamped(old.of_lease, to_jsonb(old), to_jsonb(new), plain, documents, leased);
  if new.lessee is not distinct from old.lessee then
    return new;
  end if;
  if new.provision_state <> all (without_instance) then
    new.of_lease := new.of_lease - of_instance;
  end if;
  if new.of_lease ? 'instance_uuid' then -- unique: a former value may be another node's by now
    new.of_lease := jsonb_set(new.of_lease, '{instance_uuid,was}', 'null');
  end if;
  new := jsonb_populate_record(new, unstamped(new.of_lease, to_jsonb(new), documents));
  new.of_lease := '{}';
  perform end_rows_of_lease(new.uuid);
  delete from secrets s
  where s.holder = 'node' and s.holder_id = new.uuid and strpos(new::text, s.id::text) = 0
    and not exists (select 1 from runs where finished_at is null and strpos(input::text, s.id::text) > 0);
  return new;
end $$;

/* Removes the rows of a node's lease, restores those that a lessee changed, and drops the secrets of both. */
create function end_rows_of_lease(node uuid) returns void language plpgsql security definer set search_path = pg_catalog, public as $$
declare
  relation text;
  targets constant uuid[] := array(select uuid from volume_targets where node_uuid = node);
begin
  update ports set portgroup_uuid = null
  where node_uuid = node and portgroup_uuid in (select uuid from portgroups where lease_id is not null and node_uuid = node);
  foreach relation in array '{node_vifs,ports,portgroups,volume_connectors,volume_targets}'::text[] loop
    execute format('delete from %I where node_uuid = $1 and lease_id is not null', relation) using node;
    continue when relation = 'node_vifs';
    execute format($q$
      update %1$I set of_lease = '{}', (%2$s) = (
        select %2$s from jsonb_populate_record(%1$I, unstamped(%1$I.of_lease, to_jsonb(%1$I), '{}')))
      where node_uuid = $1 and of_lease <> '{}'$q$, relation, (
        select string_agg(quote_ident(attname), ', ') from pg_attribute
        where attrelid = relation::regclass and attnum > 0 and not attisdropped and attname = any (leased_columns()))) using node;
  end loop;
  delete from secrets s
  where s.holder = 'volume_target' and s.holder_id = any (targets)
    and not exists (select 1 from runs where finished_at is null and strpos(input::text, s.id::text) > 0)
    and not exists (select 1 from volume_targets t where t.uuid = s.holder_id and strpos(t::text, s.id::text) > 0);
end $$;
revoke execute on function follow_lease_writes(), end_rows_of_lease(uuid) from public;

create function follow_row_lease() returns trigger language plpgsql as $$
declare lease constant text := coalesce(current_setting('temper.lease', true), '');
begin
  if tg_op = 'INSERT' then
    new.lease_id := lease::uuid;
  elsif old.lease_id is null then
    new.of_lease := stamped(old.of_lease, to_jsonb(old), to_jsonb(new), leased_columns(), '{}', lease <> '');
  end if;
  return new;
end $$;

create trigger nodes_lease_writes before update on nodes for each row
  when (new.lessee is distinct from old.lessee or old.of_lease <> '{}'
    or (old.lease_id is not null and current_setting('temper.lease', true) = old.lease_id::text))
  execute function follow_lease_writes();
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
