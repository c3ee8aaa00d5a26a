-- A node that changes hands leaves the rollouts that work on it, in the transaction in which it does: its former tenant ends no run of
-- it, watches it no more, and spends no disruption budget of the next tenant.

-- A soak ends: it would watch the node of others, and spend their disruption budgets. A run is followed further by rollouts of the
-- system and of the node's owner, who see it and may end it. Rollouts of other projects pass the node over: it counts there no more, and they do not show how the run ends.
create function hand_over_rollout_targets() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  target record;
  why constant text := 'The node has another owner, lessee or lease than when the plan was made.';
begin
  for target in
    select t.rollout, t.position, t.state, t.owner, t.lessee, r.project from public.rollout_targets t join public.rollouts r on r.id = t.rollout
    where t.node_uuid = new.uuid and t.state in ('admitted', 'parked', 'soaking')
      and (t.owner, t.lessee, t.lease_id) is distinct from (new.owner, new.lessee, new.lease_id)
    order by t.rollout for no key update of t
  loop
    if target.state = 'soaking' then
      perform public.move_rollout_target(target.rollout, target.position, 'done', 'changed_since_plan', why);
    elsif target.project <> coalesce(new.owner, '') then
      perform public.move_rollout_target(target.rollout, target.position, 'skipped', 'changed_since_plan', why);
      insert into public.events (kind, node_uuid, project, lessee, rollout_id, data)
      values ('rollout.target.skipped', new.uuid, coalesce(target.owner, target.project), target.lessee, target.rollout,
        jsonb_build_object('rollout', target.rollout, 'code', 'changed_since_plan', 'reason', why));
    end if;
  end loop;
  return null;
end $$;
create trigger nodes_leave_rollouts after update on nodes for each row
  when ((old.owner, old.lessee, old.lease_id) is distinct from (new.owner, new.lessee, new.lease_id))
  execute function hand_over_rollout_targets();

-- As before, but a target that was passed over meanwhile stays so, and no soak begins on a node of others.
create or replace function follow_rollout_run() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  target record;
  wanted text;
begin
  select t.position, t.state, t.abort_asked, w.soak_ms,
      exists (select from nodes n where n.uuid = t.node_uuid
        and (t.owner, t.lessee, t.lease_id) is not distinct from (n.owner, n.lessee, n.lease_id)) as same_hands
    into target
    from rollout_targets t join rollout_waves w using (rollout, wave) where t.rollout = new.batch and t.run_id = new.id
    for no key update of t;
  if not found or target.state = 'skipped' then
    return null;
  end if;
  wanted := case
    when new.finished_at is null then case when new.state = 'parked' then 'parked' else 'admitted' end
    when new.state = 'succeeded' then case when target.soak_ms > 0 and target.same_hands then 'soaking' else 'done' end
    when new.state = 'aborted' and target.abort_asked and not exists (
      select from nodes where uuid = new.node_uuid and (provision_state like '% failed' or provision_state = 'error')) then 'aborted'
    else 'failed' end;
  perform move_rollout_target(new.batch, target.position, wanted,
    case when wanted in ('failed', 'parked', 'aborted') then 'run_' || new.state end, new.last_error);
  return null;
end $$;

-- What changed hands before this.
do $$
declare
  target record;
begin
  for target in
    select t.rollout, t.position, t.state from rollout_targets t join rollouts r on r.id = t.rollout join nodes n on n.uuid = t.node_uuid
    where t.state in ('admitted', 'parked', 'soaking')
      and (t.owner, t.lessee, t.lease_id) is distinct from (n.owner, n.lessee, n.lease_id)
      and (t.state = 'soaking' or r.project <> coalesce(n.owner, ''))
    order by t.rollout, t.position
  loop
    perform move_rollout_target(target.rollout, target.position, case target.state when 'soaking' then 'done' else 'skipped' end,
      'changed_since_plan', 'The node has another owner, lessee or lease than when the plan was made.');
  end loop;
end $$;
