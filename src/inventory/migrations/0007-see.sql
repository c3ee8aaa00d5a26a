-- What lets people see a run while it runs: a gap-free order of events, announcements, and since when something is awaited.

-- Sequence numbers are drawn before their transactions commit, so a reader that remembers the highest number would miss
-- a lower one that commits later. (tx, seq) below the oldest transaction under way never gets a new row.
-- Without a default at first: rows that are there need no new value, and the table is not rewritten.
alter table events add column tx xid8;
alter table events alter column tx set default pg_current_xact_id();
create index events_in_order on events (tx, seq);

-- Runs that somebody watches. Announcing takes a lock that all commits of the server share, so only these are announced.
create table run_watches (
  run_id  uuid not null,
  watcher uuid not null,                                 -- an API process
  until   timestamptz not null,                          -- renewed while it lasts
  primary key (run_id, watcher)
);

create function announce_event() returns trigger language plpgsql as $$
begin
  if exists (select 1 from run_watches where run_id = new.run_id and until > now()) then
    perform pg_notify('temper_events', new.run_id::text);
  end if;
  return null;
end $$;
create trigger events_announced after insert on events for each row when (new.run_id is not null) execute function announce_event();

alter table runs add column waiting_since timestamptz;
create function note_waiting() returns trigger language plpgsql as $$
begin
  new.waiting_since := case when new.waiting_for is not null then now() end;
  return new;
end $$;
create trigger runs_waiting before update of waiting_for on runs for each row
  when (new.waiting_for is distinct from old.waiting_for) execute function note_waiting();

-- Of which the last few of one step are looked at, to say how long it usually takes.
create index run_steps_done on run_steps (interface, step, finished_at desc) where state = 'done';

grant select, insert, update, delete on run_watches to temper_api;
grant select on run_watches to temper_control, temper_bmc;
