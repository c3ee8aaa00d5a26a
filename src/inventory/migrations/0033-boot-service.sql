-- Ramdisks that the boot service serves, and the URLs under which a run's node may read one.

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
  created_at      timestamptz not null default now()
);
create index boot_capabilities_by_ramdisk on boot_capabilities (ramdisk_uuid);

-- Whether the ramdisk that is expected has its token already, and what an inspection from it bears.
alter table ramdisk_boots add column inspection_hash text;

grant select, insert, delete on ramdisks to temper_api;
grant select on ramdisks to temper_bmc;
grant select (node_uuid, run_id, ramdisk_uuid) on boot_capabilities to temper_api;
grant select (url_secret, token_secret) on boot_capabilities to temper_api, temper_control;
grant select, insert, update, delete on boot_capabilities to temper_bmc;
-- A ramdisk's token is made by the worker that boots it.
grant insert on agents to temper_bmc;
grant insert (id, holder, holder_id, path, key_id, bound, boxes, nonce, ciphertext) on secrets to temper_bmc;

-- The boot service looks one URL up, and sees whether its run still has the node. It writes nothing.
grant usage on schema public to temper_boot;
grant select on ramdisks to temper_boot;
grant select (node_uuid, run_id, fence, ramdisk_uuid, arguments, url_hash, created_at) on boot_capabilities to temper_boot;
grant select (uuid, reservation, fence) on nodes to temper_boot;
