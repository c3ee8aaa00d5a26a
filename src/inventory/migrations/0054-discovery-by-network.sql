-- Machines that no node stands for are booted into the installation's ramdisk, where the boot service offers discovery.

-- Cards of nodes that have no port: firmware may try to boot from each of them.
create index node_details_by_card on node_details
  using gin ((lower(jsonb_path_query_array(inventory, '$.interfaces[*].mac_address')::text)::jsonb) jsonb_path_ops);

-- Whether a MAC address is that of no node, neither by a port nor by a card of its inventory, and no operator has refused its
-- machine. Where several machines claim the address, one that still waits for an operator may report itself again.
create function is_undiscovered(mac text) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, public as $$
begin
  return not exists (select from public.ports p where p.address = mac)
    and not exists (
      select from public.node_details d
      where lower(jsonb_path_query_array(d.inventory, '$.interfaces[*].mac_address')::text)::jsonb @> to_jsonb(array[mac]))
    and coalesce((select bool_or(m.state = 'waiting') from public.discovered_machines m where m.macs @> array[mac]), true);
end $$;
revoke all on function is_undiscovered(text) from public;
grant execute on function is_undiscovered(text) to temper_boot;
