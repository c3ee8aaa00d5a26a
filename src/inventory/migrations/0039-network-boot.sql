-- Boots from the network: a machine asks for its script by a MAC address, and is given it once for each boot.

alter table boot_capabilities add column network boolean not null default false;
-- The URL's secret itself: from the act that makes it until the machine has asked. Only give_network_boot reads it.
alter table boot_capabilities add column network_secret text;
alter table boot_capabilities add column asked_by text;  -- address of the machine that was given it

grant select (network) on boot_capabilities to temper_boot;

-- What a machine with this MAC address boots now. The secret is given to the first that asks once the node has been powered on;
-- after that to none. A second address that asks in the same boot makes the run fail, as a second ramdisk does: it cannot be
-- known which of the two is the node's own.
-- answer: 'none', 'early' (not powered on yet), 'architecture' (the ramdisk is of another), 'given', 'again' (asked before, from
-- this address), 'contested' (asked before, from another), 'taken' (which is on record already).
create function give_network_boot(mac text, peer text, machine text, says text)
  returns table (answer text, node_uuid uuid, run_id uuid, arch text, secret text)
  language plpgsql security definer set search_path = pg_catalog, public as $$
declare
  boot record;
  noted int;
begin
  select b.node_uuid, b.run_id, b.network_secret, b.asked_by, r.arch, e.node_uuid is not null as expected into boot
    from public.ports p
      join public.boot_capabilities b on b.node_uuid = p.node_uuid and b.network
      join public.nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id and n.fence = b.fence
      join public.ramdisks r on r.uuid = b.ramdisk_uuid
      left join public.ramdisk_boots e
        on e.node_uuid = b.node_uuid and e.run_id = b.run_id and e.inspection_hash = b.inspection_hash
    where p.address = mac and p.pxe_enabled
    for update of b;
  if not found then
    return query select 'none', null::uuid, null::uuid, null::text, null::text;
    return;
  end if;
  if not boot.expected then
    return query select 'early', boot.node_uuid, boot.run_id, boot.arch, null::text;
    return;
  end if;
  if boot.network_secret is null then
    if boot.asked_by = peer then
      return query select 'again', boot.node_uuid, boot.run_id, boot.arch, null::text;
      return;
    end if;
    with contested as (
      update public.ramdisk_boots e set conflict = peer
      where e.node_uuid = boot.node_uuid and e.run_id = boot.run_id and e.conflict is null returning e.node_uuid
    ), kept as (
      update public.nodes n set maintenance = true, fault = 'ramdisk conflict', updated_at = now(),
        maintenance_reason = case when n.maintenance then n.maintenance_reason else says end
      from contested where n.uuid = contested.node_uuid returning n.uuid, n.owner, n.lessee
    )
    insert into public.events (kind, node_uuid, run_id, project, lessee, data)
      select 'node.ramdisk_conflict', kept.uuid, boot.run_id, kept.owner, kept.lessee, jsonb_build_object('reason', says)
      from kept;
    get diagnostics noted = row_count;
    return query select case when noted > 0 then 'contested' else 'taken' end, boot.node_uuid, boot.run_id, boot.arch, null::text;
    return;
  end if;
  if machine is not null and machine <> boot.arch then
    return query select 'architecture', boot.node_uuid, boot.run_id, boot.arch, null::text;
    return;
  end if;
  update public.boot_capabilities b set network_secret = null, asked_by = peer where b.node_uuid = boot.node_uuid;
  return query select 'given', boot.node_uuid, boot.run_id, boot.arch, boot.network_secret;
end $$;
revoke all on function give_network_boot(text, text, text, text) from public;
grant execute on function give_network_boot(text, text, text, text) to temper_boot;

-- Whose machines DHCP answers: those with a port that boots.
grant select (node_uuid, address, pxe_enabled) on ports to temper_boot;
grant select (secure_boot, driver, boot_interface) on nodes to temper_boot;
