-- What a run needs to go on from its record when the engine has lost its workflow.

alter table runs add column plan jsonb;                 -- its steps as they are, once the ramdisk's own have joined them
alter table runs add column ending jsonb;               -- how it ends, once it tidies up: outcome, error, cursor
alter table runs add column restart_at timestamptz;     -- its workflow is to be started anew; null once that has claimed it
create index runs_restart on runs (restart_at) where restart_at is not null;

alter table run_steps add column acts_ended text[] not null default '{}'; -- each act by name, once however often it was ended
