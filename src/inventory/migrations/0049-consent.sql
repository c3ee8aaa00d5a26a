-- When a tenant was asked for its node, and when a person asked for a failed target to be tried again: it counts as failed until it is begun.
alter table rollout_targets add column asked_at timestamptz, add column retry_asked_at timestamptz;
-- Who is missing of a project's nodes, for its disruption budgets.
create index rollout_targets_missing on rollout_targets (node_uuid) where state in ('admitted', 'soaking', 'failed', 'parked');
create index rollout_targets_asked on rollout_targets (rollout, not_before) where state = 'asked';
