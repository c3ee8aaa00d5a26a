-- What the whole life of a node needs of its runs: what they wait for, what limits them, what they repeat.

alter table runs add column awaits text;                 -- 'heartbeat' or 'inspection': what the ramdisk is to send
alter table runs add column limit_class text;            -- runs of one class that work at once are limited
alter table runs add column resumes uuid;                -- the failed run whose steps it takes up
alter table runs add column resume_from int;
alter table run_steps add column system boolean not null default false;
alter table run_steps add column abortable boolean not null default false;

-- Whose turn it is, in the order of acceptance.
create index runs_limited on runs (limit_class, created_at, id) where finished_at is null and limit_class is not null;

grant insert, delete on run_steps to temper_control;
grant select, insert on ports to temper_control, temper_bmc;
grant delete on intents to temper_control;
grant select on intents to temper_control;
