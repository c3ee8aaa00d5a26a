-- What is done to nodes: runbooks, templates and rules, and runs with their steps.

create table runbooks (
  id              bigint generated always as identity primary key,
  uuid            uuid not null unique default gen_random_uuid(),
  name            text not null unique,
  steps           jsonb not null,                        -- ordered as they run; read only where steps are wanted
  disable_ramdisk boolean not null default false,
  extra           jsonb not null default '{}',
  public          boolean not null default false,
  owner           text,
  description     text,
  traits          text[] not null default '{}',
  created_at      timestamptz not null default now(),
  updated_at      timestamptz,
  revision        int not null default 1,
  -- What a runbook leaves open: parameters with the form of their values and a default. They decide what runs, so a change of them
  -- is a revision.
  parameters      jsonb not null default '[]',
  document_bytes  integer not null generated always as (
    coalesce(octet_length(steps::text), 0) +
    coalesce(octet_length(extra::text), 0)
  ) stored,
  constraint public_has_no_owner check (not public or owner is null)
);
create index runbooks_by_owner on runbooks (owner, id) where owner is not null;
create index runbooks_search_name on runbooks (lower(name) text_pattern_ops);
create index runbooks_public on runbooks (id) where public;
create index runbooks_long on runbooks (id) where document_bytes > 32768;

-- Whose a trait on runbooks is: the project's that put it there first, or the system's (null). A runbook's name counts as one
-- of its traits. The row outlives its runbooks; it binds while a runbook bears the trait or a node has it.
create table runbook_traits (
  trait text primary key,
  owner text
);

-- Every state that a runbook was in: what may run by it, who made it so, and whether it was withdrawn since. A trigger
-- writes them.
create table runbook_revisions (
  runbook_uuid     uuid not null,                        -- no foreign key: a revision outlives its runbook
  revision         int not null,
  digest           text not null,                        -- SHA-256 of all that a revision holds
  name             text not null,
  owner            text,
  public           boolean not null,
  traits           text[] not null,
  disable_ramdisk  boolean not null,
  author           jsonb,                                -- null: no caller's transaction wrote it
  created_at       timestamptz not null default now(),
  withdrawn_at     timestamptz,
  withdrawn_by     jsonb,
  withdrawn_reason text,
  parameters       jsonb not null default '[]',
  -- How many bytes a revision holds, for the quota of its project: no process may delete a revision, and its runbook may be gone.
  bytes            int not null default 0,
  primary key (runbook_uuid, revision)
);
create index runbook_revisions_of_owner on runbook_revisions (owner) include (bytes);

create table runbook_steps (
  runbook_uuid uuid not null,
  revision     int not null,
  position     int not null,                             -- as they stand in the runbook; they run by "order"
  interface    text not null,
  step         text not null,
  args         jsonb not null,                           -- secrets are references
  "order"      int not null,
  settings     jsonb,                                    -- the step's `temper`
  primary key (runbook_uuid, revision, position),
  foreign key (runbook_uuid, revision) references runbook_revisions
);

create table deploy_templates (
  id             bigint generated always as identity primary key,
  uuid           uuid not null unique default gen_random_uuid(),
  name           text not null unique,                   -- a trait
  steps          jsonb not null,
  extra          jsonb not null default '{}',
  vouched        boolean not null default false,         -- its steps were written with system scope
  created_at     timestamptz not null default now(),
  updated_at     timestamptz,
  document_bytes integer not null generated always as (
    coalesce(octet_length(steps::text), 0) +
    coalesce(octet_length(extra::text), 0)
  ) stored
);
create index deploy_templates_long on deploy_templates (id) where document_bytes > 32768;

create table inspection_rules (
  id             bigint generated always as identity primary key,
  uuid           uuid not null unique default gen_random_uuid(),
  description    text,
  phase          text not null default 'main',
  priority       int not null default 0,
  sensitive      boolean not null default false,
  conditions     jsonb not null default '[]',
  actions        jsonb not null,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz,
  document_bytes integer not null generated always as (
    coalesce(octet_length(conditions::text), 0) +
    coalesce(octet_length(actions::text), 0)
  ) stored
);
create index inspection_rules_long on inspection_rules (id) where document_bytes > 32768;

-- Old rows of runs, steps and events are deleted in batches. These tables grow at one end and shrink at the other: a fifth of them,
-- which is PostgreSQL's default, is too much to wait for.
create table runs (
  id                     uuid primary key,
  node_uuid              uuid not null,                  -- no foreign key: a run outlives its node
  node_name              text,
  fence                  bigint not null,
  kind                   text not null,
  verb                   text not null,
  state                  text not null default 'accepted',
  runbook_uuid           uuid,
  runbook_name           text,
  input                  jsonb not null,                 -- what the workflow is started with, frozen
  owner                  text,                           -- owner, lessee and lease as they were at acceptance
  lessee                 text,
  lease_id               uuid,
  requester              jsonb not null,
  rule_set               text not null,
  batch                  uuid,
  workflow_id            text not null,
  workflow_run_id        text,
  provision_state_before text,
  target                 text,
  cursor                 int not null default 0,         -- the step it is in
  seq                    bigint not null default 0,      -- counter of the workflow; an older projection finds no row
  waiting_for            text,
  last_error             text,
  error_code             text,                           -- of the last failed attempt of the step that it ended in
  attempts_to_start      int not null default 0,
  created_at             timestamptz not null default now(),
  started_at             timestamptz,
  finished_at            timestamptz,
  updated_at             timestamptz not null default now(),
  waiting_since          timestamptz,
  awaits                 text,                           -- 'heartbeat' or 'inspection': what the ramdisk is to send
  limit_class            text,                           -- runs of one class that work at once are limited
  resumes                uuid,                           -- the failed run whose steps it takes up
  resume_from            int,
  act_token              uuid,                           -- of the attempt that began last; all that it writes names it
  act_id                 text,                           -- the engine's name of the act, one for all its attempts
  act_nth                int not null default 0,         -- which act of its execution it is, counted from 1
  act_attempt            int not null default 0,
  act_at                 timestamptz,                    -- when the engine asked for the attempt, by the engine's clock
  act_cut                int not null default 0,         -- acts of its execution up to this one were cut short by an abort
  -- An abort that waits for a command to end is shown.
  abort_by               text,
  abort_at               timestamptz,
  -- What a waiting run waits on, where that decides something: a frozen run gives its turn to the next.
  waits_on               text,
  plan                   jsonb,                          -- its steps as they are, once the ramdisk's own have joined them
  ending                 jsonb,                          -- how it ends, once it tidies up: outcome, error, cursor
  restart_at             timestamptz,                    -- its workflow is to be started again; null once that has claimed it
  -- Turns are given, one by one: a run that has one says so, and gives it back while it waits for time to pass.
  turn_at                timestamptz,
  runbook_revision       int,
  -- What a run was given, secret values masked; null where its runbook has no parameters.
  parameters             jsonb
) with (autovacuum_vacuum_scale_factor = 0.02);
create index runs_by_node on runs (node_uuid, created_at desc, id);
create index runs_by_lease on runs (lease_id, created_at desc) where lease_id is not null;
create index runs_accepted on runs (created_at) where state = 'accepted';
create index runs_open on runs (updated_at, id) where finished_at is null;
create index runs_by_batch on runs (batch, id) where batch is not null;
-- Whose turn it is, in the order of acceptance.
create index runs_limited on runs (limit_class, created_at, id) where finished_at is null and limit_class is not null;
-- What goes on now, newest first.
create index runs_open_by_age on runs (created_at desc, id) where finished_at is null;
create index runs_restart on runs (restart_at) where restart_at is not null;
-- Runs of all nodes, ended ones too, newest first: whole, by how they ended, by verb and by runbook.
create index runs_by_age on runs (created_at desc, id);
create index runs_ended_by_state on runs (state, created_at desc, id) where finished_at is not null;
-- All that ended runs are counted by, so that a report reads no row.
create index runs_reported on runs (finished_at, state, verb, runbook_name, error_code, started_at) where finished_at is not null;
create index runs_by_verb on runs (verb, created_at desc, id);
create index runs_by_runbook on runs (runbook_name, created_at desc, id) where runbook_name is not null;
create index runs_by_runbook_uuid on runs (runbook_uuid, created_at desc, id) where runbook_uuid is not null;
-- A project's quota of open runs is counted by the project whose caller asked for them.
create index runs_open_by_requester on runs ((requester->>'project_id')) where finished_at is null;
-- Runs at work in a class.
create index runs_with_turn on runs (limit_class) where finished_at is null and turn_at is not null;

create table run_steps (
  run_id      uuid not null references runs (id) on delete cascade,
  index       int not null,
  interface   text not null,
  step        text not null,
  args        jsonb not null default '{}',
  state       text not null default 'pending',
  act         text,                                      -- the act it is in
  acts_done   int not null default 0,
  attempt     int not null default 0,                    -- of the act it is in
  attempts    int not null default 0,                    -- of the step: 1, and one more for every repeat of one of its acts
  note        text,
  last_error  text,
  last_code   text,                                      -- of the error
  started_at  timestamptz,
  finished_at timestamptz,
  system      boolean not null default false,
  abortable   boolean not null default false,
  answer      jsonb,                                     -- small, without secrets; null where nobody is told anything
  acts_ended  text[] not null default '{}',              -- each act by name, once however often it was ended
  -- What each act ended with, by its name, so that an older state of the workflow which asks for it once more gets the same answer.
  outcomes    jsonb not null default '{}',
  primary key (run_id, index)
) with (autovacuum_vacuum_scale_factor = 0.02);
-- The last few of one step are looked at, to say how long it usually takes.
create index run_steps_done on run_steps (interface, step, finished_at desc) where state = 'done';

-- Written before a command that must not be sent twice; the next attempt reads it first.
create table intents (
  run_id  uuid not null references runs (id) on delete cascade,
  index   int not null,
  act     text not null,
  detail  jsonb not null default '{}',
  sent_at timestamptz not null default now(),
  primary key (run_id, index, act)
);

-- Messages to a run that the engine has not taken yet; the relay sends what stands here.
create table run_messages (
  id         uuid primary key default gen_random_uuid(),
  run_id     uuid not null references runs (id) on delete cascade,
  kind       text not null,
  payload    jsonb not null default '{}',
  created_at timestamptz not null default now(),
  sent_at    timestamptz
);
create index run_messages_unsent on run_messages (created_at) where sent_at is null;
-- A deleted run takes its messages with it; without this index each would be looked for among all of them.
create index run_messages_by_run on run_messages (run_id);

create function number_runbook_revision() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    new.revision := old.revision + 1;
  else
    -- A runbook may be made again under the UUID of one that was deleted.
    new.revision := coalesce((select max(revision) from runbook_revisions where runbook_uuid = new.uuid), 0) + 1;
  end if;
  return new;
end $$;

create function write_runbook_revision() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into runbook_revisions (runbook_uuid, revision, digest, name, owner, public, traits, disable_ramdisk, parameters, author, bytes)
  values (new.uuid, new.revision,
    encode(sha256(convert_to((jsonb_build_object('name', new.name, 'owner', new.owner, 'public', new.public, 'traits', new.traits,
      'disable_ramdisk', new.disable_ramdisk, 'steps', new.steps)
      -- Where there are none, the digest is what it was before there could be any.
      || case when new.parameters = '[]' then '{}' else jsonb_build_object('parameters', new.parameters) end)::text, 'UTF8')), 'hex'),
    new.name, new.owner, new.public, new.traits, new.disable_ramdisk, new.parameters, nullif(current_setting('temper.author', true), '')::jsonb,
    octet_length(new.steps::text) + octet_length(new.parameters::text));
  insert into runbook_steps (runbook_uuid, revision, position, interface, step, args, "order", settings)
  select new.uuid, new.revision, place - 1, one ->> 'interface', one ->> 'step', coalesce(one -> 'args', '{}'),
    coalesce((one ->> 'order')::int, 0), one -> 'temper'
  from jsonb_array_elements(new.steps) with ordinality as listed (one, place);
  return null;
end $$;

create function note_waiting() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  new.waiting_since := case when new.waiting_for is not null then now() end;
  return new;
end $$;

create trigger runs_waiting before update of waiting_for on runs for each row
  when (new.waiting_for is distinct from old.waiting_for) execute function note_waiting();
create trigger runbook_made before insert on runbooks for each row execute function number_runbook_revision();
create trigger runbook_changed before update on runbooks for each row
  when ((old.name, old.owner, old.public, old.traits, old.disable_ramdisk, old.steps, old.parameters)
    is distinct from (new.name, new.owner, new.public, new.traits, new.disable_ramdisk, new.steps, new.parameters))
  execute function number_runbook_revision();
create trigger runbook_made_revision after insert on runbooks for each row execute function write_runbook_revision();
create trigger runbook_changed_revision after update on runbooks for each row
  when (old.revision is distinct from new.revision)
  execute function write_runbook_revision();
