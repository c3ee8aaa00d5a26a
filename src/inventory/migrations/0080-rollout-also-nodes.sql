-- The other nodes that the plan's steps run on, so that a run on further ones is passed over. Null: planned before this was recorded.
alter table rollout_targets add column also_nodes uuid[];
