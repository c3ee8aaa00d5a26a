-- An operator's lock-outs on nodes: while one is active, nothing is written to the node's BMC.

create table freezes (
  id         uuid primary key default gen_random_uuid(),
  node_uuid  uuid not null references nodes (uuid) on delete cascade,
  reason     text not null,
  requester  jsonb not null,                             -- who froze it
  created_at timestamptz not null default now(),
  until      timestamptz,                                -- inactive by itself from then on; null lasts until it is ended
  ended_at   timestamptz,
  ended_by   jsonb                                       -- who ended it
);
create index freezes_active on freezes (node_uuid) where ended_at is null;
create index freezes_by_node on freezes (node_uuid, created_at desc, id);
create index freezes_by_age on freezes (created_at desc, id);

grant select, insert, update on freezes to temper_api;
grant select on freezes to temper_control, temper_bmc;
