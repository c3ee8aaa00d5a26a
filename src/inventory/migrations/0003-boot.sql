-- Ramdisks, images, and what boots: URLs for one boot each, machines that nobody enrolled yet, readers of serial lines.

-- Ramdisks that the boot service serves.
create table ramdisks (
  uuid            uuid primary key default gen_random_uuid(),
  name            text not null unique,
  arch            text not null,
  args            text not null,                         -- kernel arguments of every boot from it
  kernel_sha256   text,
  initrd_sha256   text,
  iso_sha256      text not null,                         -- the name of its image in the data folder of the boot service
  iso_bytes       bigint not null,
  arguments_at    bigint not null,                       -- where a boot's kernel arguments are laid over the image
  arguments_bytes int not null,
  files_at        bigint not null,                       -- and its small files
  files_bytes     int not null,
  created_at      timestamptz not null default now()
);

-- One URL for each node: made before its image is inserted, worth nothing once the run has lost the node or the node its power.
create table boot_capabilities (
  node_uuid       uuid primary key references nodes (uuid) on delete cascade,
  run_id          uuid not null,
  fence           bigint not null,
  act             text not null,                         -- which act of the run made it; a repeat of that act finds it here
  ramdisk_uuid    uuid not null references ramdisks (uuid) on delete cascade,
  arguments       text not null,                         -- kernel arguments of this boot, without the token
  url_hash        text not null unique,                  -- SHA-256 of the URL's secret, hexadecimal
  url_secret      uuid not null,                         -- that secret, in secrets: only BMC workers may read it
  token_hash      text not null,                         -- of the ramdisk's own token, which is derived from it
  token_secret    uuid not null,
  inspection_hash text not null,                         -- of what an inspection from this boot bears
  created_at      timestamptz not null default now(),
  -- Where a boot's ramdisk sends what it finds, without the secret that it bears with it: that is put in while its image is sent.
  inspection_url  text,
  network         boolean not null default false,
  -- The URL's secret itself: from the act that makes it until the machine has asked. Only give_network_boot reads it.
  network_secret  text,
  asked_by        text,                                  -- address of the machine that was given it
  -- The network of a ramdisk without DHCP, as its node had it when its boot was made: a repeat of a request gets the same bytes.
  network_data    jsonb
);
create index boot_capabilities_by_ramdisk on boot_capabilities (ramdisk_uuid);

-- A boot of the ramdisk that a run waits for: made when the run's power-on act has ended, gone when the node loses power. Without it no
-- ramdisk is answered, so that a token is given to nothing that asks before the machine has been started.
create table ramdisk_boots (
  node_uuid       uuid primary key references nodes (uuid) on delete cascade,
  run_id          uuid not null,                         -- the run that booted it; of another one it is worth nothing
  booted_at       timestamptz not null default now(),
  address         text,                                  -- of the first contact, as the listener sees it; null until then
  conflict        text,                                  -- the other address from which somebody spoke for the same node
  noticed         text,                                  -- what the run was at when it learned of that, e.g. '3.power_off'
  -- Whether the ramdisk that is expected has its token already, and what an inspection from it bears.
  inspection_hash text
);
create index ramdisk_boots_by_inspection on ramdisk_boots (inspection_hash);

-- The ramdisk that runs on a node now: made when it looks its node up, gone when the node loses power. Its heartbeats are written here
-- and never into the node's row, which stands for what was accepted of it.
create table agents (
  node_uuid         uuid primary key references nodes (uuid) on delete cascade,
  token_hash        text not null,                       -- SHA-256 of the token, hexadecimal; what a heartbeat is compared with
  token_secret      uuid not null,                       -- the token itself, in secrets: only BMC workers may read it
  url               text,
  version           text,
  verify_ca         text,                                -- PEM of the certificate it shows
  first_seen_at     timestamptz not null default now(),
  last_heartbeat_at timestamptz,
  status            text,                                -- 'start', 'end' or 'error', of installers that report no commands
  status_message    text,
  silent_since      timestamptz                          -- it has answered no request since then; null while it answers
);

-- Images that the boot service fetches once and sends to ramdisks.
create table images (
  uuid        uuid primary key default gen_random_uuid(),
  name        text not null unique,
  url         text,                                      -- where it is fetched; null: an operator puts it into the folder
  sha256      text not null,                             -- the name of its file in the data folder of the boot service
  bytes       bigint not null,
  disk_format text not null,
  kind        text not null,
  created_at  timestamptz not null default now()
);

-- One URL for each attempt that may send one: what an attempt has sent before goes on being read while the next one looks.
create table image_capabilities (
  url_hash   text primary key,                           -- SHA-256 of the URL's secret, hexadecimal
  node_uuid  uuid not null references nodes (uuid) on delete cascade,
  run_id     uuid not null,
  fence      bigint not null,
  image_uuid uuid not null references images (uuid) on delete cascade,
  created_at timestamptz not null default now()
);
create index image_capabilities_by_node on image_capabilities (node_uuid);
create index image_capabilities_by_image on image_capabilities (image_uuid);

-- Machines that no node stands for and whose ramdisk sent what it found: kept until an operator enrols, refuses or removes them.
create table discovered_machines (
  uuid          uuid primary key default gen_random_uuid(),
  key           text not null unique,                    -- SHA-256 of its MAC addresses, sorted: the same machine again
  state         text not null default 'waiting' check (state in ('waiting', 'refused')),
  macs          text[] not null,
  boot_mac      text,                                    -- the card that it booted from, as far as it says
  arch          text,
  bmc_address   text,                                    -- claimed by the machine, as everything here
  vendor        text,
  product       text,
  serial        text,
  sender        text not null,                           -- address of the last report
  inventory     jsonb not null,
  revision      text not null,                           -- digest of all that is claimed: an operator enrols what it has seen
  reports       int not null default 1,
  reason        text,                                    -- of a refusal
  first_seen_at timestamptz not null default now(),
  last_seen_at  timestamptz not null default now()
);
create index discovered_machines_by_mac on discovered_machines using gin (macs);
create index discovered_machines_by_sender on discovered_machines (sender);
create index discovered_machines_in_order on discovered_machines (first_seen_at, uuid);

-- Tickets for a node's serial line: made by the API, used once at the BMC worker that reads the line.
create table console_tickets (
  id          uuid primary key default gen_random_uuid(),
  ticket_hash text not null unique,                      -- SHA-256; the ticket itself is kept nowhere
  node_uuid   uuid not null references nodes (uuid) on delete cascade,
  owner       text,                                      -- the node's when the ticket was made: another one ends the reading
  lessee      text,
  requester   jsonb not null,
  use_before  timestamptz not null,
  ends_at     timestamptz not null,                      -- of a reading, however long its reader stays
  used_at     timestamptz,
  seen_at     timestamptz,                               -- the worker that reads says so every few seconds
  closed_at   timestamptz,
  lease_id    uuid                                       -- the node's when the ticket was made
);
-- One reader a node, whichever worker it is at.
create unique index console_tickets_open on console_tickets (node_uuid) where used_at is not null and closed_at is null;
create index console_tickets_by_node on console_tickets (node_uuid);

-- What a machine with this MAC address boots now. The secret is given to the first that asks once the node has been powered on;
-- after that to none. A second address that asks in the same boot makes the run fail, as a second ramdisk does: it cannot be
-- known which of the two is the node's own.
-- answer: 'none', 'early' (not powered on yet), 'architecture' (the ramdisk is of another), 'given', 'again' (asked before, from
-- this address), 'contested' (asked before, from another), 'taken' (which is on record already).
create function give_network_boot(mac text, peer text, machine text, says text)
  returns table (answer text, node_uuid uuid, run_id uuid, arch text, secret text)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
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

-- Whether a MAC address is that of no node, neither by a port nor by a card of its inventory, and no operator has refused its
-- machine. Where several machines claim the address, one that still waits for an operator may report itself again.
create function is_undiscovered(mac text) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return not exists (select from public.ports p where p.address = mac)
    and not exists (
      select from public.node_details d
      where lower(jsonb_path_query_array(d.inventory, '$.interfaces[*].mac_address')::text)::jsonb @> to_jsonb(array[mac]))
    and coalesce((select bool_or(m.state = 'waiting') from public.discovered_machines m where m.macs @> array[mac]), true);
end $$;
