-- Which card of a node an instance's network has. A port or portgroup shows it where clients of Ironic look.

-- With the rights of the schema's owner: workers end tear-downs and leases, and may not write what a port shows.
create function show_vif() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    update public.ports set internal_info = internal_info || jsonb_build_object('tenant_vif_port_id', new.vif)
    where uuid = new.port_uuid;
    update public.portgroups set internal_info = internal_info || jsonb_build_object('tenant_vif_port_id', new.vif)
    where uuid = new.portgroup_uuid;
  else
    update public.ports set internal_info = internal_info - 'tenant_vif_port_id' where uuid = old.port_uuid;
    update public.portgroups set internal_info = internal_info - 'tenant_vif_port_id' where uuid = old.portgroup_uuid;
  end if;
  return null;
end $$;
revoke execute on function show_vif() from public;
create trigger node_vifs_shown after insert or delete on node_vifs for each row execute function show_vif();

update ports p set internal_info = internal_info || jsonb_build_object('tenant_vif_port_id', v.vif)
from node_vifs v where v.port_uuid = p.uuid;
update portgroups p set internal_info = internal_info || jsonb_build_object('tenant_vif_port_id', v.vif)
from node_vifs v where v.portgroup_uuid = p.uuid;

-- The networks of a lessee's instance end with its lease, also those that a compute service attached for the lessee.
create function end_vifs_of_lease() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from public.node_vifs where node_uuid = new.uuid;
  return null;
end $$;
create trigger nodes_end_vifs_of_lease after update of lessee on nodes for each row
  when (old.lessee is not null and new.lessee is distinct from old.lessee) execute function end_vifs_of_lease();
