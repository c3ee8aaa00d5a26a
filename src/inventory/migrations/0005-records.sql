-- What happened and who did it: events, webhooks, the audit trail; and what processes note of the installation as a whole.

-- One append-only table from which history, streams and webhooks are read.
create table events (
  seq        bigint generated always as identity primary key,
  at         timestamptz not null default now(),
  kind       text not null,
  node_uuid  uuid,
  run_id     uuid,
  project    text,                                       -- the node's owner at that time
  lessee     text,
  data       jsonb not null default '{}',
  -- Sequence numbers are drawn before their transactions commit, so a reader that remembers the highest number would miss
  -- a lower one that commits later. (tx, seq) below the oldest transaction under way never gets a new row.
  tx         xid8 default pg_current_xact_id(),
  rollout_id uuid
) with (autovacuum_vacuum_scale_factor = 0.02);
create index events_by_node on events (node_uuid, seq);
create index events_by_run on events (run_id, seq);
create index events_by_project on events (project, seq) where project is not null;
create index events_in_order on events (tx, seq);
create index events_by_rollout on events (rollout_id, seq) where rollout_id is not null;
-- Newest first, for those who see rollouts and hardly any node.
create index events_of_rollouts on events (seq) where rollout_id is not null;
-- What a client of a stream has missed of its own nodes and rollouts, in the order of the feed: read without the events of others.
create index events_of_node_in_order on events (node_uuid, tx, seq);
create index events_of_rollout_in_order on events (rollout_id, tx, seq) where rollout_id is not null;

-- How far the events have been read. One row; who holds its lock is the one who reads.
create table event_cursor (
  id  int primary key default 1 check (id = 1),
  tx  xid8 not null,
  seq bigint not null
);
insert into event_cursor (tx, seq) values (pg_current_xact_id(), 0);

-- Whom to tell of events; below, what was told and how it went.
create table webhooks (
  id          bigint generated always as identity primary key,
  uuid        uuid not null unique default gen_random_uuid(),
  url         text not null,
  kinds       text[] not null,                           -- 'run.failed', 'run.*' or '*'
  enabled     boolean not null default true,
  description text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz
);

-- Apart from all other secrets: the control workers read these and no others.
create table webhook_secrets (
  webhook_uuid uuid primary key references webhooks (uuid) on delete cascade,
  id           uuid not null,
  key_id       text not null,
  nonce        bytea not null,
  ciphertext   bytea not null
);

create table webhook_deliveries (
  id           bigint generated always as identity primary key,
  uuid         uuid not null unique default gen_random_uuid(),
  webhook_uuid uuid not null references webhooks (uuid) on delete cascade,
  event_seq    bigint not null,
  kind         text not null,
  state        text not null default 'pending',          -- 'pending', 'delivered', 'failed'
  attempts     int not null default 0,
  status       int,                                      -- of the last answer
  error        text,
  next_at      timestamptz not null default now(),
  created_at   timestamptz not null default now(),
  finished_at  timestamptz,
  unique (webhook_uuid, event_seq)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_uuid, next_at) where state = 'pending';
create index webhook_deliveries_old on webhook_deliveries (created_at);

create sequence audit_seq; -- an identity column of a partitioned table needs PostgreSQL 17
-- The audit trail, by month: what was refused stands beside what was done, and old months go as a whole.
create table audit (
  seq         bigint not null default nextval('audit_seq'),
  at          timestamptz not null default now(),
  requester   jsonb not null,                            -- user, project or system scope, strategy, request id
  origin      jsonb not null default '{}',               -- address of the connection; what proxies say of theirs
  action      text not null,                             -- such as 'node.update'; of what did not happen, method and path
  verdict     text not null default 'granted',           -- 'granted', 'refused' by a rule, 'failed' for another reason
  rule        text,                                      -- that admitted or refused it
  rule_set    text,
  code        text,                                      -- of the error, where it was not granted
  resource    text not null,
  resource_id text not null,
  node_uuid   uuid,
  project     text,                                      -- that owned the node at that time
  run_id      uuid,
  times       int not null default 1,                    -- more than one: the same refusal again and again
  data        jsonb not null default '{}',               -- what was changed, secrets masked
  request_id  text generated always as (requester ->> 'request_id') stored,
  asked_by    text generated always as (requester ->> 'project_id') stored,
  primary key (seq, at),
  constraint audit_verdicts check (verdict in ('granted', 'refused', 'failed'))
) partition by range (at);
alter sequence audit_seq owned by audit.seq;
create index audit_by_resource on audit (resource, resource_id, seq);
-- Pages go by time and then by number, so that a page reads the newest month first, and an older one only while it is not full.
create index audit_in_order on audit (at, seq);
create index audit_of_node on audit (node_uuid, at, seq) where node_uuid is not null;
create index audit_of_project on audit (project, at, seq) where project is not null;
create index audit_of_asker on audit (asked_by, at, seq) where asked_by is not null;
create index audit_of_run on audit (run_id, at, seq) where run_id is not null;
create index audit_of_request on audit (request_id, at, seq);
create index audit_of_others on audit (verdict, at, seq) where verdict <> 'granted';

-- How long the audit trail is kept at least, in the database, where only its owner changes it.
create table audit_minimum (
  single boolean primary key default true check (single),
  months int not null check (months >= 0)                -- whole months beside the present one; 0 keeps all for ever
);
insert into audit_minimum (months) values (24);

-- The texts of policy files that were in force, so that the hash in an audit row or a run leads to what it decided by.
create table policy_texts (
  digest   text primary key,                             -- SHA-256 of set, mode, and the files' paths and texts
  rule_set text not null,                                -- hash of the compiled rules, as audit rows and runs have it
  set_name text not null,
  mode     text not null,
  files    jsonb not null,                               -- [{path, text, sha256, rules}], in the order in which they count
  first_at timestamptz not null default now()
);
create index policy_texts_by_rule_set on policy_texts (rule_set text_pattern_ops);
create index policy_texts_first_at on policy_texts (first_at);

-- Requests under an Idempotency-Key: whether their work is written down, and the answer they got.
create table idempotency (
  request_id  text primary key,                          -- of the request that does the work, as its audit rows have it
  caller      bytea not null,                            -- digest of who asks: user, scope, strategy
  key         text not null,
  asked       bytea not null,                            -- keyed digest of what was asked, and with which roles
  begun_at    timestamptz not null default now(),
  lives_until timestamptz not null,                      -- put off by the process that serves it, while that lives
  expires_at  timestamptz not null,
  superseded  boolean not null default false,            -- given up with nothing written down: another request does the work
  changed_at  timestamptz,                               -- its work is written down; in the transaction of the work
  action      text,                                      -- of the first audit row, as are the next three
  resource    text,
  resource_id text,
  run_id      uuid,
  answered_at timestamptz,
  status      int,
  headers     jsonb,
  body        text,                                      -- as it was sent: secrets are masked in it
  constraint superseded_did_nothing check (not superseded or changed_at is null),
  constraint answered_has_status check ((answered_at is null) = (status is null))
);
create unique index idempotency_by_key on idempotency (caller, key) where not superseded;
create index idempotency_by_expiry on idempotency (expires_at);

-- The mark that store and engine both carry; a control worker moves it on. Which store is older shows in the count.
create table store_mark (
  single    boolean primary key default true check (single),
  system_id text,                                        -- of the cluster, as the mark was moved last; null before the first time
  timeline  int,
  count     bigint not null default 0,
  mark      uuid,                                        -- written before the engine gets it
  seen      uuid                                         -- the last that the engine was seen to have
);
insert into store_mark default values;

-- While a row stands, no command leaves for a BMC, no run is ended or restarted by comparison, and no change is accepted.
create table recovery (
  single boolean primary key default true check (single),
  since  timestamptz not null default now(),
  side   text not null check (side in ('store', 'engine', 'unknown')), -- which is older
  reason text not null
);

-- What was imported, as it was then at its source and in Temper: a repeat takes what changed at the source alone.
create table imports (
  kind          text not null,
  uuid          uuid not null,
  source_digest text not null,                           -- SHA-256 of the source's values, secrets left out
  taken_digest  text not null,                           -- of the columns that were written
  imported_at   timestamptz not null default now(),
  primary key (kind, uuid)
);

-- Append-only, for every role but the owner of the schema.
create function refuse_change() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;

create function tell_allocation_end() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into events (kind, node_uuid, project, data)
  values ('allocation.deleted', old.node_uuid, old.owner, jsonb_build_object('allocation_uuid', old.uuid, 'name', old.name));
  return null;
end $$;

-- The events of a rollout: each move of a target that is worked on leaves one, and a caller's act names its rollout.
create function record_rollout_target() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into events (kind, node_uuid, project, lessee, rollout_id, data)
  select 'rollout.target.' || new.state, new.node_uuid, coalesce(new.owner, r.project), new.lessee, new.rollout,
    jsonb_build_object('rollout', new.rollout, 'run', new.run_id, 'code', new.code, 'reason', new.reason)
  from rollouts r where r.id = new.rollout;
  return null;
end $$;

-- The month (UTC) that a moment lies in.
create function audit_month(moment timestamptz) returns timestamp language sql immutable set search_path = pg_catalog, public, pg_temp as
  $$ select date_trunc('month', moment at time zone 'UTC') $$;

-- Makes the partition of a month where it is missing.
create function audit_make_month(month timestamp) returns void language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  part text := 'audit_' || to_char(month, 'YYYY_MM');
begin
  if to_regclass(format('public.%I', part)) is not null then return; end if;
  execute format('create table public.%I partition of public.audit for values from (%L) to (%L)', part,
    month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
  execute format('create trigger audit_append_only before update or delete or truncate on public.%I
    for each statement execute function public.refuse_change()', part);
end $$;

-- Makes the months to come, half a year of them, and drops those that lie further back than `keep` and the owner's minimum; 0 keeps all.
-- For a role that may do neither by itself. It gives way to whoever uses the table, and is called again.
create function audit_keep(keep int) returns int language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp set lock_timeout = '2s' as $$
declare
  this_month timestamp := public.audit_month(now());
  least_kept int := (select months from public.audit_minimum);
  part record;
  dropped int := 0;
begin
  for ahead in 0..6 loop
    perform public.audit_make_month(this_month + ahead * interval '1 month');
  end loop;
  if keep < 1 or coalesce(least_kept, 0) < 1 then return 0; end if;
  for part in
    select child.relname as name from pg_inherits
      join pg_class child on child.oid = inhrelid
    where inhparent = 'public.audit'::regclass and child.relname ~ '^audit_[0-9]{4}_[0-9]{2}$'
      and to_date(substr(child.relname, 7), 'YYYY_MM') < this_month - greatest(keep, least_kept) * interval '1 month'
  loop
    execute format('drop table public.%I', part.name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;

-- Every change writes its audit row in its own transaction: there it is noted that the work of a request is done, and there a
-- request that was given up meanwhile is stopped. Whoever gives it up waits for that row, so one of the two is too late.
create function note_work() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  given_up boolean;
begin
  update public.idempotency
    set changed_at = case when not superseded then now() end,
        action = new.action, resource = new.resource, resource_id = new.resource_id, run_id = new.run_id
    where request_id = new.request_id and changed_at is null
    returning superseded into given_up;
  if given_up then
    raise exception 'request % was given up, another one does its work', new.request_id using errcode = 'TM001';
  end if;
  return null;
end $$;

-- What is younger than this stays, however short a time is asked for: the engine keeps ended workflows for a month, and
-- a restored one is compared with the runs of that time. Null keeps all.
create function history_before(keep int) returns timestamptz language sql stable
  set search_path = pg_catalog, public, pg_temp as $$
  select case when keep >= 1 then
    (date_trunc('month', now() at time zone 'UTC') - greatest(keep, 2) * interval '1 month') at time zone 'UTC' end
$$;

-- Deletes among the next `most` events after `past` those that are old, and says behind which the next batch begins; null
-- when no older ones follow. Stays: what a run or rollout under way has left, and what webhooks have not read yet.
create function forget_events(keep int, past bigint, most int, out forgotten int, out next bigint) language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '2s' as $$
declare
  before timestamptz := public.history_before(keep);
  numbers bigint[];
begin
  forgotten := 0;
  if before is null or coalesce((select at >= before from public.events where seq > past order by seq limit 1), true) then
    return;
  end if;
  select array_agg(seq) into numbers
    from (select seq from public.events where seq > past order by seq limit most) batch;
  -- As a clause of the function it would be a superuser's to write, and the owner of the database need not be one.
  perform set_config('temper.forgetting', 'on', true);
  delete from public.events e where e.seq = any (numbers) and e.at < before
    and (coalesce(e.tx, '0'), e.seq) <= (select c.tx, c.seq from public.event_cursor c)
    and not exists (select from public.runs r where r.id = e.run_id and r.finished_at is null)
    and not exists (select from public.rollouts o where o.id = e.rollout_id and o.finished_at is null);
  get diagnostics forgotten = row_count;
  perform set_config('temper.forgetting', 'off', true);
  next := numbers[array_length(numbers, 1)];
end $$;

-- The same of runs, which take their steps, intents and messages with them, by the time they were accepted and their number.
-- Stays: what is not over or was lately, holds its node, belongs to a rollout under way, or is named by an event.
create function forget_runs(keep int, past_at timestamptz, past_id uuid, most int,
  out forgotten int, out next_at timestamptz, out next_id uuid) language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '2s' as $$
declare
  before timestamptz := public.history_before(keep);
  ids uuid[];
  last record;
begin
  forgotten := 0;
  if before is null then return; end if;
  select array_agg(id order by created_at, id desc) into ids from (
    select id, created_at from public.runs
    where created_at < before and created_at >= past_at and (created_at > past_at or id < past_id)
    order by created_at, id desc limit most
  ) batch;
  if ids is null then return; end if;
  select created_at, id into last from public.runs where id = ids[array_length(ids, 1)];
  delete from public.runs r where r.id = any (ids) and r.finished_at < before
    and not exists (select from public.nodes n where n.reservation = r.id)
    and not exists (select from public.events e where e.run_id = r.id)
    and not exists (select from public.rollout_targets t join public.rollouts o on o.id = t.rollout
      where t.run_id = r.id and o.finished_at is null);
  get diagnostics forgotten = row_count;
  next_at := last.created_at;
  next_id := last.id;
end $$;

-- Events are append-only for the owner too, except for forget_events.
create trigger events_append_only before update or truncate on events for each statement execute function refuse_change();
create trigger events_kept before delete on events for each statement
  when (current_setting('temper.forgetting', true) is distinct from 'on') execute function refuse_change();
create trigger audit_append_only before update or delete or truncate on audit
  for each statement execute function refuse_change();
create trigger allocations_end after delete on allocations for each row execute function tell_allocation_end();
create trigger audit_notes_work after insert on audit for each row
  when (new.verdict = 'granted') execute function note_work();
create trigger policy_texts_append_only before update or delete or truncate on policy_texts
  for each statement execute function refuse_change();
-- A target that is asked for, answered for or passed over has an event already, by what decided that.
create trigger rollout_targets_recorded after update of state on rollout_targets for each row
  when (new.state is distinct from old.state and new.state in ('admitted', 'soaking', 'done', 'failed', 'parked', 'aborted'))
  execute function record_rollout_target();
