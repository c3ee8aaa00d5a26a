-- Turns are given, one by one: a run that has one says so, and gives it back while it waits for time to pass.
alter table runs add column turn_at timestamptz;
-- Runs at work when this is migrated have begun without being given one.
update runs set turn_at = coalesce(started_at, created_at)
where finished_at is null and limit_class is not null and state <> 'accepted' and coalesce(waiting_for, '') not like 'its turn: %';
create index runs_with_turn on runs (limit_class) where finished_at is null and turn_at is not null;
grant update (turn_at) on runs to temper_control;
