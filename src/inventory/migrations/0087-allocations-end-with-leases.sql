-- An allocation of the lessee's project ends with its lease: its project would read the node's state in refusals, and take the node's
-- instance from the next tenant when it deletes the allocation; the next tenant could not give the node to an allocation.

-- As before, but the allocation ends too. That of a project which owns the node stays.
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

-- Allocations whose lease had ended before this. The node's own trigger deletes each.
update nodes n set allocation_uuid = null,
  instance_uuid = case when n.provision_state in ('available', 'manageable') and n.instance_uuid = n.allocation_uuid then null else n.instance_uuid end
from allocations a
where a.uuid = n.allocation_uuid and a.node_uuid = n.uuid
  and a.owner is distinct from n.owner and a.owner is distinct from n.lessee
  and exists (select from leases l where l.node_uuid = n.uuid and l.project = a.owner and l.ended_at is not null);
