-- What a look at a rollout of many targets asks, found by index: those that wait for a time, and those begun a moment ago.
create index rollout_targets_later on rollout_targets (rollout, not_before) where not_before is not null and state in ('pending', 'failed');
create index rollout_targets_begun on rollout_targets (rollout, admitted_at) where admitted_at is not null and power_cycles > 0;

-- These rows change with each target that is begun or ends, and no index of theirs does: the new version stays on their page.
alter table rollout_counters set (fillfactor = 50);
alter table rollout_wakes set (fillfactor = 50);

-- Control workers look for what is due in tables that fit into memory, as the API does.
do $$ begin
  alter role temper_control set random_page_cost = 1.1;
exception when insufficient_privilege or internal_error then
  raise notice 'random_page_cost of temper_control is left as it is';
end $$;
