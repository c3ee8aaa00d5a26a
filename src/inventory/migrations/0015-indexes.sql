-- Indexes for lists: an order ends with the row's id, so that a page begins where the last one ended; nulls lie in them too.

-- For every node, because they are sort keys as well as filters.
drop index nodes_by_owner, nodes_by_lessee, nodes_by_class, nodes_by_shard;
create index nodes_by_owner on nodes (owner, id);
create index nodes_by_lessee on nodes (lessee, id);
create index nodes_by_class on nodes (resource_class, id);
create index nodes_by_shard on nodes (shard, id);
create index nodes_by_name on nodes (name, id);
create index nodes_by_driver on nodes (driver, id);
create index nodes_by_instance on nodes (instance_uuid, id);
create index nodes_by_power on nodes (power_state, id);
create index nodes_by_age on nodes (created_at, id);
create index nodes_by_last_move on nodes (provision_updated_at, id);

-- For the few that a filter asks for.
create index nodes_in_maintenance on nodes (id) where maintenance;
create index nodes_retired on nodes (id) where retired;
create index nodes_by_fault on nodes (fault, id) where fault is not null;
create index nodes_by_instance_name on nodes (instance_name, id) where instance_name is not null;

create index ports_by_name on ports (name, id);
create index ports_by_address on ports (address, id);
create index ports_by_age on ports (created_at, id);
create index ports_by_updated on ports (updated_at, id);

create index allocations_by_state on allocations (state, id);
create index allocations_by_class on allocations (resource_class, id);

-- What goes on now, newest first.
create index runs_open_by_age on runs (created_at desc, id) where finished_at is null;
create index freezes_open_by_age on freezes (created_at desc, id) where ended_at is null;
create index audit_not_granted on audit (verdict, seq) where verdict <> 'granted';

-- A fleet fits into memory, and no disk of today pays four times for reading out of order: without this, the store reads
-- whole tables where an index would do. Where the role is somebody else's to change, or another database's migration is
-- changing it at this moment, it stays as it is.
do $$ begin
  alter role temper_api set random_page_cost = 1.1;
exception when insufficient_privilege or internal_error then
  raise notice 'random_page_cost of temper_api is left as it is';
end $$;
