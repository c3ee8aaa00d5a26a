-- Every function of this schema finds its tables, functions and types in the schema, whatever its caller has made.

-- As before, but every table and function is named with its schema.
create or replace function follow_lease_writes() returns trigger language plpgsql security definer
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
  perform public.end_rows_of_lease(new.uuid);
  delete from public.secrets s
  where s.holder = 'node' and s.holder_id = new.uuid and strpos(new::text, s.id::text) = 0
    and not exists (select 1 from public.runs where finished_at is null and strpos(input::text, s.id::text) > 0);
  return new;
end $$;

create or replace function end_rows_of_lease(node uuid) returns void language plpgsql security definer
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


create or replace function stamped(stamps jsonb, before jsonb, after jsonb, plain text[], documents text[], leased boolean)
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

create or replace function unstamped(stamps jsonb, present jsonb, documents text[]) returns jsonb language plpgsql immutable as $$
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

-- PostgreSQL searches pg_temp first for tables and types where a search_path does not name it. A caller of a security definer
-- function could so put its own type or table in front of the owner's, and run its own code with the rights of the owner.
-- Triggers are meant, too: those of a table that a foreign key changes run with the rights of that table's owner.
do $$
declare
  function regprocedure;
begin
  for function in
    select p.oid from pg_catalog.pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
      and not exists (select from pg_catalog.pg_depend d where d.objid = p.oid and d.deptype = 'e')
  loop
    execute format('alter function %s set search_path = pg_catalog, public, pg_temp', function);
  end loop;
end $$;
