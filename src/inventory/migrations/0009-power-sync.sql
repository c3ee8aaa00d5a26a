-- When each node's power is looked at next, shared by all BMC workers of its group. Beside the nodes: a look that finds nothing
-- new must not write their rows.

create table power_sync (
  node_uuid uuid primary key references nodes (uuid) on delete cascade,
  due_at    timestamptz not null,                        -- whoever takes it moves it on, so that nobody else takes it too
  looked_at timestamptz,
  failures  int not null default 0,                      -- in a row
  reason    text                                         -- the maintenance reason that power sync gave the node itself
);
create index power_sync_due on power_sync (due_at);

grant select, insert, update on power_sync to temper_bmc;
grant select on power_sync to temper_api, temper_control;
-- Whoever looks after an installation may see how far its database is.
grant select on migrations to temper_api, temper_control, temper_bmc;
-- Where a recorded power state is re-imposed, a worker accepts an ordinary run for it.
grant insert on runs, run_steps, audit to temper_bmc;
