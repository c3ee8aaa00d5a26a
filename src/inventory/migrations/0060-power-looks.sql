-- When each node's power was looked at last. A node has a fixed slot of the interval, by its uuid, so a look writes no indexed
-- column; the table is not in the log, for after a crash of PostgreSQL an empty one only means: each node in its next slot.

create unlogged table power_looks (
  node_uuid uuid primary key references nodes (uuid) on delete cascade,
  slot      smallint not null generated always as ((uuid_hash(node_uuid) & 1023)::smallint) stored,
  looked_at timestamptz                                  -- when a worker took the node for its last look
) with (
  -- Two versions of each row fit into its page, so that updates stay there and leave no index entry.
  fillfactor = 45, autovacuum_vacuum_scale_factor = 0.5, autovacuum_analyze_scale_factor = 1
);
create index power_looks_by_slot on power_looks (slot);
grant select, insert, update on power_looks to temper_bmc;
grant select on power_looks to temper_api, temper_control;

-- From now on a row of power_sync stands for a node of which something is to be kept: failures in a row, or a reason. Its columns
-- due_at and looked_at are for workers of the release before, until they are replaced.
drop index power_sync_due;
alter table power_sync alter column due_at set default now();
