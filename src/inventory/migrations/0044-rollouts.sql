-- Rollouts: one runbook or verb on many nodes, in waves, under counters that no crash and no second coordinator can overshoot.
create table rollouts (
  id               uuid primary key default gen_random_uuid(),
  name             text,
  project          text,                                  -- whose it is; null: the system's
  state            text not null default 'planned' check (state in
    ('planned', 'awaiting_approval', 'scheduled', 'running', 'paused', 'succeeded', 'stopped', 'aborted', 'expired')),
  code             text,                                  -- why it is paused, or ended as it did
  reason           text,
  verb             text not null,
  runbook_uuid     uuid,
  runbook_name     text,
  runbook_revision int,
  spec             jsonb not null,                        -- as it was asked for: selection, waves, limits
  summary          jsonb not null,                        -- what the plan says of all its nodes together
  plan_hash        text not null,                         -- SHA-256, hexadecimal
  plan_number      int not null default 1,                -- one more with every new plan
  seed             text not null,
  requester        jsonb not null,
  granted          jsonb,                                 -- the caller by whose rights targets are admitted; null before the start
  granted_at       timestamptz,                           -- the last act of a person who presented a credential
  rule_set         text not null,
  wave             int not null default 0,
  refused_in_row   int not null default 0,
  ending           text check (ending in ('finish', 'abort')),
  reverts          uuid references rollouts (id),
  created_at       timestamptz not null default now(),
  submitted_at     timestamptz,
  started_at       timestamptz,
  finished_at      timestamptz,
  tended_at        timestamptz,
  updated_at       timestamptz not null default now()
);
create index rollouts_by_time on rollouts (created_at desc, id);
create index rollouts_by_project on rollouts (project, created_at desc, id);
create index rollouts_open on rollouts (tended_at) where state in ('running', 'paused', 'aborted');

create table rollout_waves (
  rollout   uuid not null references rollouts (id) on delete cascade,
  wave      int not null,
  size      int not null check (size > 0),
  advance   text not null check (advance in ('manual', 'auto')),
  soak_ms   bigint not null default 0,
  opened_at timestamptz,
  closed_at timestamptz,
  gate      jsonb,                                         -- what gates have answered at its end
  primary key (rollout, wave)
);

-- The node's owner, lessee and lease are those of the plan: under others it is not admitted.
create table rollout_targets (
  rollout      uuid not null references rollouts (id) on delete cascade,
  position     int not null,
  node_uuid    uuid not null,
  node_name    text,
  owner        text,
  lessee       text,
  lease_id     uuid,
  wave         int,                                        -- null: refused by the plan
  counters     int[] not null default '{}',                -- those of rollout_counters that it is counted in
  state        text not null default 'pending' check (state in
    ('pending', 'asked', 'admitted', 'soaking', 'done', 'failed', 'parked', 'aborted', 'skipped', 'refused')),
  code         text,
  rule         text,
  reason       text,
  power_cycles int not null default 0,
  erases       boolean not null default false,
  expected_ms  bigint,
  not_before   timestamptz,                                -- a tenant's answer, or a window
  run_id       uuid,
  abort_asked  boolean not null default false,             -- by the rollout itself
  admitted_at  timestamptz,
  soak_until   timestamptz,
  ended_at     timestamptz,
  primary key (rollout, position),
  unique (rollout, node_uuid)
);
create index rollout_targets_by_state on rollout_targets (rollout, state, wave, position);
create index rollout_targets_by_node on rollout_targets (node_uuid);
create unique index rollout_targets_by_run on rollout_targets (run_id) where run_id is not null;

-- `budget` bounds the harm that is done or may still come; `most` bounds what is under way at once. Null is no bound.
create table rollout_counters (
  rollout   uuid not null references rollouts (id) on delete cascade,
  number    int not null,                                  -- they are locked in this order
  scope     text not null,                                 -- 'total', 'wave', or what domains are formed by
  value     text not null,
  budget    int check (budget > 0),
  most      int check (most > 0),
  in_flight int not null default 0 check (in_flight >= 0),
  failed    int not null default 0 check (failed >= 0),
  parked    int not null default 0 check (parked >= 0),
  done      int not null default 0 check (done >= 0),
  primary key (rollout, number),
  unique (rollout, scope, value),
  constraint harm_within_budget check (failed + parked + in_flight <= budget)
);

-- A vote is for one plan of a rollout and for no other.
create table rollout_votes (
  id         uuid primary key default gen_random_uuid(),
  rollout    uuid not null references rollouts (id) on delete cascade,
  plan_hash  text not null,
  user_id    text not null,
  vote       text not null check (vote in ('approve', 'reject')),
  caller     jsonb not null,                               -- whose rights are asked again at the start
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

-- Something has happened that the rollout's workflow has not been woken for yet. Apart from its rollout, which admissions hold.
create table rollout_wakes (
  rollout uuid primary key references rollouts (id) on delete cascade,
  wanted  bigint not null default 1,
  sent    bigint not null default 0,
  sent_at timestamptz
);
create index rollout_wakes_unsent on rollout_wakes (sent_at nulls first) where wanted > sent;

alter table events add column rollout_id uuid;
create index events_by_rollout on events (rollout_id, seq) where rollout_id is not null;

create function wake_rollout(which uuid) returns void language sql as $$
  insert into rollout_wakes (rollout) values (which)
  on conflict (rollout) do update set wanted = rollout_wakes.wanted + 1;
$$;

-- Which count of its counters a target of this state stands in.
create function rollout_count(state text) returns text immutable language sql as $$
  select case state when 'admitted' then 'in_flight' when 'soaking' then 'in_flight'
    when 'failed' then 'failed' when 'parked' then 'parked' when 'done' then 'done' end;
$$;

-- Moves a target that has been admitted, and its counters with it. No move of these adds to harm and what may still be harmed together.
create function move_rollout_target(which uuid, place int, wanted text, why_code text, why text) returns boolean language plpgsql as $$
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

-- The end of a run moves its target in the run's own transaction, whichever process and release ends it.
create function follow_rollout_run() returns trigger language plpgsql as $$
declare
  target record;
  wanted text;
begin
  select t.position, t.state, t.abort_asked, w.soak_ms into target
    from rollout_targets t join rollout_waves w using (rollout, wave) where t.rollout = new.batch and t.run_id = new.id;
  if not found then
    return null;
  end if;
  wanted := case
    when new.finished_at is null then case when new.state = 'parked' then 'parked' else 'admitted' end
    when new.state = 'succeeded' then case when target.soak_ms > 0 then 'soaking' else 'done' end
    when new.state = 'aborted' and target.abort_asked and not exists (
      select from nodes where uuid = new.node_uuid and (provision_state like '% failed' or provision_state = 'error')) then 'aborted'
    else 'failed' end;
  perform move_rollout_target(new.batch, target.position, wanted,
    case when wanted in ('failed', 'parked', 'aborted') then 'run_' || new.state end, new.last_error);
  return null;
end $$;
create trigger runs_move_rollout_target after update of state, finished_at on runs for each row
  when (new.batch is not null and (old.state, old.finished_at) is distinct from (new.state, new.finished_at)
    and (new.finished_at is not null or 'parked' in (old.state, new.state)))
  execute function follow_rollout_run();

grant select, insert, update on rollouts, rollout_waves, rollout_targets, rollout_counters, rollout_votes, rollout_answers, rollout_wakes
  to temper_api, temper_control;
grant delete on rollout_waves, rollout_targets, rollout_counters to temper_api; -- a plan that is made anew
grant insert (id, holder, holder_id, path, key_id, bound, boxes, nonce, ciphertext) on secrets to temper_control;
-- What admission reads of runbooks and ramdisks.
grant select on runbook_revisions, runbook_steps, ramdisks to temper_control;
