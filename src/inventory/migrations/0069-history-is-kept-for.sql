-- The record of what happened (events, then the ended runs that no event names any longer) goes in batches when it is old.

-- A run takes its messages with it; without this each would be looked for in all there are.
create index run_messages_by_run on run_messages (run_id);

-- These tables grow at one end and shrink at the other: a fifth of them is too much to wait for.
alter table events set (autovacuum_vacuum_scale_factor = 0.02);
alter table runs set (autovacuum_vacuum_scale_factor = 0.02);
alter table run_steps set (autovacuum_vacuum_scale_factor = 0.02);

-- What is younger than this stays, however short a time is asked for: the engine keeps ended workflows for a month, and
-- a restored one is compared with the runs of that time. Null keeps all.
create function history_before(keep int) returns timestamptz language sql stable
  set search_path = pg_catalog, public as $$
  select case when keep >= 1 then
    (date_trunc('month', now() at time zone 'UTC') - greatest(keep, 2) * interval '1 month') at time zone 'UTC' end
$$;

-- Deletes among the next `most` events after `past` those that are old, and says behind which the next batch begins; null
-- when no older ones follow. Stays: what a run or rollout under way has left, and what webhooks have not read yet.
create function forget_events(keep int, past bigint, most int, out forgotten int, out next bigint) language plpgsql
  security definer set search_path = pg_catalog, public set lock_timeout = '2s' as $$
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
  security definer set search_path = pg_catalog, public set lock_timeout = '2s' as $$
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

revoke execute on function history_before(int), forget_events(int, bigint, int),
  forget_runs(int, timestamptz, uuid, int) from public;
grant execute on function forget_events(int, bigint, int), forget_runs(int, timestamptz, uuid, int) to temper_control;

-- Append-only for the owner too, but for the function above; and no longer to be emptied as a whole.
drop trigger events_append_only on events;
create trigger events_append_only before update or truncate on events for each statement execute function refuse_change();
create trigger events_kept before delete on events for each statement
  when (current_setting('temper.forgetting', true) is distinct from 'on') execute function refuse_change();
