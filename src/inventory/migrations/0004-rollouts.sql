-- Rollouts: one runbook or verb on many nodes, in waves, under counters that no crash and no second coordinator can overshoot.
create table rollouts (
  id               uuid primary key default gen_random_uuid(),
  name             text,
  project          text,                                 -- whose it is; null: the system's
  state            text not null default 'planned' check (state in
    ('planned', 'awaiting_approval', 'scheduled', 'running', 'paused', 'succeeded', 'stopped', 'aborted', 'expired')),
  code             text,                                 -- why it is paused, or ended as it did
  reason           text,
  verb             text not null,
  runbook_uuid     uuid,
  runbook_name     text,
  runbook_revision int,
  spec             jsonb not null,                       -- as it was asked for: selection, waves, limits
  summary          jsonb not null,                       -- what the plan says of all its nodes together
  plan_hash        text not null,                        -- SHA-256, hexadecimal
  plan_number      int not null default 1,               -- one more with every new plan
  seed             text not null,
  requester        jsonb not null,
  granted          jsonb,                                -- the caller by whose rights targets are admitted; null before the start
  granted_at       timestamptz,                          -- the last act of a person who presented a credential
  rule_set         text not null,
  wave             int not null default 0,
  refused_in_row   int not null default 0,
  ending           text check (ending in ('finish', 'abort')),
  reverts          uuid references rollouts (id),
  created_at       timestamptz not null default now(),
  submitted_at     timestamptz,
  started_at       timestamptz,
  finished_at      timestamptz,
  advanced_at        timestamptz,
  updated_at       timestamptz not null default now(),
  -- How many users must approve a plan, by the setting of the API process that made it or that took the request to start it. A control
  -- worker that begins it by itself counts by this and by no setting of its own. Null wants the most there is.
  approvers        smallint check (approvers between 1 and 2),
  -- What the guard has answered last, as gates of waves keep theirs; null: not asked yet.
  guard            jsonb,
  start_at         timestamptz                           -- begun by itself then; null: by a person
);
create index rollouts_by_time on rollouts (created_at desc, id);
create index rollouts_search_name on rollouts (lower(name) text_pattern_ops) where name is not null;
create index rollouts_by_project on rollouts (project, created_at desc, id);
create index rollouts_open on rollouts (advanced_at) where state in ('running', 'paused', 'aborted');
create index rollouts_scheduled on rollouts (start_at) where state = 'scheduled' and start_at is not null;
create index rollouts_undecided on rollouts (updated_at) where state in ('planned', 'awaiting_approval', 'scheduled');
-- How many rollouts of a project have not ended, for its quotas.
create index rollouts_unended on rollouts (project, state)
  where state in ('planned', 'awaiting_approval', 'scheduled', 'running', 'paused');

create table rollout_waves (
  rollout   uuid not null references rollouts (id) on delete cascade,
  wave      int not null,
  size      int not null check (size > 0),
  advance   text not null check (advance in ('manual', 'auto')),
  soak_ms   bigint not null default 0,
  opened_at timestamptz,
  closed_at timestamptz,
  gate      jsonb,                                       -- what gates have answered at its end
  primary key (rollout, wave)
);

-- The node's owner, lessee and lease are those of the plan: under others it is not admitted.
create table rollout_targets (
  rollout        uuid not null references rollouts (id) on delete cascade,
  position       int not null,
  node_uuid      uuid not null,
  node_name      text,
  owner          text,
  lessee         text,
  lease_id       uuid,
  wave           int,                                    -- null: refused by the plan
  counters       int[] not null default '{}',            -- those of rollout_counters that it is counted in
  state          text not null default 'pending' check (state in
    ('pending', 'asked', 'admitted', 'soaking', 'done', 'failed', 'parked', 'aborted', 'skipped', 'refused')),
  code           text,
  rule           text,
  reason         text,
  power_cycles   int not null default 0,
  erases         boolean not null default false,
  expected_ms    bigint,
  not_before     timestamptz,                            -- a tenant's answer, or a window
  run_id         uuid,
  abort_asked    boolean not null default false,         -- by the rollout itself
  admitted_at    timestamptz,
  soak_until     timestamptz,
  ended_at       timestamptz,
  asked_at       timestamptz,                            -- a tenant, for its node
  retry_asked_at timestamptz,                            -- a failed target counts as failed until it is begun again
  -- The admission before the last one. A node that is tried again has switched its power twice, and both count within their minute.
  begun_before   timestamptz,
  p95_ms         bigint,                                 -- how long it takes at most, as far as the past says
  forced_at      timestamptz,                            -- a rule passed over a tenant's silence
  also_nodes     uuid[],                                 -- the other nodes that the plan's steps run on; a run on further ones is passed over
  primary key (rollout, position),
  unique (rollout, node_uuid)
);
create index rollout_targets_by_state on rollout_targets (rollout, state, wave, position);
create index rollout_targets_by_node on rollout_targets (node_uuid);
create unique index rollout_targets_by_run on rollout_targets (run_id) where run_id is not null;
-- Who is missing of a project's nodes, for its disruption budgets.
create index rollout_targets_missing on rollout_targets (node_uuid) where state in ('admitted', 'soaking', 'failed', 'parked');
create index rollout_targets_asked on rollout_targets (rollout, not_before) where state = 'asked';
-- Looks at a rollout of many targets find those that wait for a time, and those that were begun a moment ago.
create index rollout_targets_later on rollout_targets (rollout, not_before)
  where not_before is not null and state in ('pending', 'failed');
create index rollout_targets_begun on rollout_targets (rollout, admitted_at) where admitted_at is not null and power_cycles > 0;

-- `budget` bounds the harm that is done or may still come; `most` bounds what is under way at once. Null is no bound. These rows change
-- with each target that is begun or ends, and no index of theirs does: the fill factor keeps the new version on their page.
create table rollout_counters (
  rollout    uuid not null references rollouts (id) on delete cascade,
  number     int not null,                               -- they are locked in this order
  scope      text not null,                              -- 'total', 'wave', or what domains are formed by
  value      text not null,
  budget     int check (budget > 0),
  most       int check (most > 0),
  in_flight  int not null default 0 check (in_flight >= 0),
  failed     int not null default 0 check (failed >= 0),
  parked     int not null default 0 check (parked >= 0),
  done       int not null default 0 check (done >= 0),
  per_minute int check (per_minute > 0),                 -- power starts in a minute; null: any number
  primary key (rollout, number),
  unique (rollout, scope, value),
  constraint harm_within_budget check (failed + parked + in_flight <= budget)
) with (fillfactor = 50);

-- A vote is for one plan of a rollout and for no other.
create table rollout_votes (
  id         uuid primary key default gen_random_uuid(),
  rollout    uuid not null references rollouts (id) on delete cascade,
  plan_hash  text not null,
  user_id    text not null,
  vote       text not null check (vote in ('approve', 'reject')),
  caller     jsonb not null,                             -- whose rights are asked again at the start
  requester  jsonb not null,
  rule_set   text not null,
  reason     text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique (rollout, plan_hash, user_id)
);

-- What tenants answered for their nodes.
create table rollout_answers (
  id         uuid primary key default gen_random_uuid(),
  rollout    uuid not null,
  position   int not null,
  answer     text not null check (answer in ('now', 'at', 'in', 'refuse')),
  at         timestamptz,
  window_id  uuid,
  requester  jsonb not null,
  reason     text,
  created_at timestamptz not null default now(),
  foreign key (rollout, position) references rollout_targets on delete cascade
);
create index rollout_answers_by_target on rollout_answers (rollout, position, created_at desc);

-- Something has happened that the rollout's workflow has not been woken for yet. Apart from its rollout, which admissions hold. Filled
-- as rollout_counters are.
create table rollout_wakes (
  rollout uuid primary key references rollouts (id) on delete cascade,
  wanted  bigint not null default 1,
  sent    bigint not null default 0,
  sent_at timestamptz
) with (fillfactor = 50);
create index rollout_wakes_unsent on rollout_wakes (sent_at nulls first) where wanted > sent;

-- How many of its nodes a project lets be missing at once. Every rollout of every project asks.
create table disruption_budgets (
  id              bigint generated always as identity primary key, -- admissions lock budgets in this order
  uuid            uuid not null unique default gen_random_uuid(),
  project         text not null,                         -- owner or lessee of the nodes that it speaks of
  query           jsonb not null default '{}',           -- which of them; {} is all of them
  max_unavailable text,                                  -- '3', or '10%' of the nodes
  min_available   text,
  description     text,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz,
  check (num_nonnulls(max_unavailable, min_available) = 1)
);
create index disruption_budgets_by_project on disruption_budgets (project, id);

-- Weekly hours in which a project lets rollouts of others work on its nodes, by a zone's own clock.
create table project_windows (
  id         bigint generated always as identity primary key,
  uuid       uuid not null unique default gen_random_uuid(),
  project    text not null,
  name       text not null,
  days       text[] not null check (cardinality(days) > 0),
  "from"     text not null,                              -- 22:00, the clock of the zone
  minutes    int not null check (minutes > 0),           -- elapsed, also over a change of clocks
  zone       text not null,
  created_at timestamptz not null default now(),
  constraint project_windows_name unique (project, name)
);

create function wake_rollout(which uuid) returns void language sql
  set search_path = pg_catalog, public, pg_temp as $$
  insert into rollout_wakes (rollout) values (which)
  on conflict (rollout) do update set wanted = rollout_wakes.wanted + 1;
$$;

-- Which count of its counters a target of this state stands in.
create function rollout_count(state text) returns text immutable language sql
  set search_path = pg_catalog, public, pg_temp as $$
  select case state when 'admitted' then 'in_flight' when 'soaking' then 'in_flight'
    when 'failed' then 'failed' when 'parked' then 'parked' when 'done' then 'done' end;
$$;

-- Moves a target that has been admitted, and its counters with it. No move of these adds to harm and what may still be harmed together.
create function move_rollout_target(which uuid, place int, wanted text, why_code text, why text) returns boolean language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  target rollout_targets;
  before text;
  after text := rollout_count(wanted);
begin
  select * into target from rollout_targets where rollout = which and position = place for no key update;
  if not found or target.state = wanted then
    return false;
  end if;
  before := rollout_count(target.state);
  perform 1 from rollout_counters where rollout = which and number = any (target.counters) order by number for no key update;
  update rollout_counters set
    in_flight = in_flight + (after is not distinct from 'in_flight')::int - (before is not distinct from 'in_flight')::int,
    failed = failed + (after is not distinct from 'failed')::int - (before is not distinct from 'failed')::int,
    parked = parked + (after is not distinct from 'parked')::int - (before is not distinct from 'parked')::int,
    done = done + (after is not distinct from 'done')::int - (before is not distinct from 'done')::int
  where rollout = which and number = any (target.counters) and after is distinct from before;
  update rollout_targets set state = wanted, code = why_code, reason = why,
    soak_until = case when wanted = 'soaking' then now() + (select soak_ms from rollout_waves w where w.rollout = which and w.wave = target.wave) * interval '1 millisecond' end,
    ended_at = case when wanted in ('done', 'failed', 'aborted', 'skipped', 'refused') then now() end
  where rollout = which and position = place;
  perform wake_rollout(which);
  return true;
end $$;

-- The end of a run moves its target in the run's own transaction, whichever process ends it. A target that was passed over meanwhile
-- stays so, and no soak begins on a node of others.
create function follow_rollout_run() returns trigger language plpgsql
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

-- A node that changes hands leaves the rollouts that work on it, in the same transaction. A soak ends: it would watch the node of
-- others, and spend their disruption budgets. Rollouts of the system and of the node's owner, who see the run and may end it, follow it
-- further. Rollouts of other projects pass the node over: it counts there no more, and they do not show how the run ends.
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

create trigger runs_move_rollout_target after update of state, finished_at on runs for each row
  when (new.batch is not null and (old.state, old.finished_at) is distinct from (new.state, new.finished_at)
    and (new.finished_at is not null or 'parked' in (old.state, new.state)))
  execute function follow_rollout_run();
create trigger nodes_leave_rollouts after update on nodes for each row
  when ((old.owner, old.lessee, old.lease_id) is distinct from (new.owner, new.lessee, new.lease_id))
  execute function hand_over_rollout_targets();
