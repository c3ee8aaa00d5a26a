-- Images that the boot service fetches once and sends to ramdisks, and the URLs under which a run's node may read one.

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

grant select, insert, delete on images to temper_api;
grant select on images to temper_control, temper_bmc, temper_boot;
grant select (node_uuid, run_id, fence, image_uuid) on image_capabilities to temper_api;
grant select, insert, delete on image_capabilities to temper_bmc;
grant select on image_capabilities to temper_boot;
