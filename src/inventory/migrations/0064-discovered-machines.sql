-- Machines that no node stands for and whose ramdisk sent what it found: kept until an operator enrols, refuses or removes them.

create table discovered_machines (
  uuid          uuid primary key default gen_random_uuid(),
  key           text not null unique,                   -- SHA-256 of its MAC addresses, sorted: the same machine again
  state         text not null default 'waiting' check (state in ('waiting', 'refused')),
  macs          text[] not null,
  boot_mac      text,                                   -- the card that it booted from, as far as it says
  arch          text,
  bmc_address   text,                                   -- claimed by the machine, as everything here
  vendor        text,
  product       text,
  serial        text,
  sender        text not null,                          -- address of the last report
  inventory     jsonb not null,
  revision      text not null,                          -- digest of all that is claimed: an operator enrols what it has seen
  reports       int not null default 1,
  reason        text,                                   -- of a refusal
  first_seen_at timestamptz not null default now(),
  last_seen_at  timestamptz not null default now()
);
create index discovered_machines_by_mac on discovered_machines using gin (macs);
create index discovered_machines_by_sender on discovered_machines (sender);
create index discovered_machines_in_order on discovered_machines (first_seen_at, uuid);

grant select, insert, update, delete on discovered_machines to temper_api;
