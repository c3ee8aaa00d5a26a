-- A start at a time; how long a target takes at most, as far as the past says; power that is switched on by turns; a tenant's silence
-- that a rule passes over.
alter table rollouts add column start_at timestamptz;             -- begun by itself then; null: by a person
create index rollouts_scheduled on rollouts (start_at) where state = 'scheduled' and start_at is not null;
create index rollouts_undecided on rollouts (updated_at) where state in ('planned', 'awaiting_approval', 'scheduled');
alter table rollout_targets add column p95_ms bigint, add column forced_at timestamptz;
alter table rollout_counters add column per_minute int check (per_minute > 0); -- power starts in a minute; null: any number
