-- The ramdisk that runs on a node now: made when it looks its node up, gone when the node loses power. Its heartbeats are
-- written here and never into the node's row, which stands for what was accepted of it.

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
  status_message    text
);

grant select, insert, update, delete on agents to temper_api;
grant select, update, delete on agents to temper_bmc;
grant select, delete on agents to temper_control;
