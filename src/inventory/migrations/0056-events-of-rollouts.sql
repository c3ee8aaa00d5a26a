-- The events of a rollout: each move of a target that is worked on leaves one, and a caller's act names its rollout.
create function record_rollout_target() returns trigger language plpgsql as $$
begin
  insert into events (kind, node_uuid, project, lessee, rollout_id, data)
  select 'rollout.target.' || new.state, new.node_uuid, coalesce(new.owner, r.project), new.lessee, new.rollout,
    jsonb_build_object('rollout', new.rollout, 'run', new.run_id, 'code', new.code, 'reason', new.reason)
  from rollouts r where r.id = new.rollout;
  return null;
end $$;
-- A target that is asked for, answered for or passed over has an event already, by what decided that.
create trigger rollout_targets_recorded after update of state on rollout_targets for each row
  when (new.state is distinct from old.state and new.state in ('admitted', 'soaking', 'done', 'failed', 'parked', 'aborted'))
  execute function record_rollout_target();

-- Newest first, for those who see rollouts and hardly any node.
create index events_of_rollouts on events (seq) where rollout_id is not null;
