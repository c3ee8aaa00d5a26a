-- What each act ended with, by its name, so that an older state of the workflow which asks for it once more gets the same answer.
alter table run_steps add column outcomes jsonb not null default '{}';

-- The mark that store and engine both carry; a control worker moves it on. Which store is older shows in the count.
create table store_mark (
  single    boolean primary key default true check (single),
  system_id text,                                          -- of the cluster, as the mark was moved last; null before the first time
  timeline  int,
  count     bigint not null default 0,
  mark      uuid,                                          -- written before the engine gets it
  seen      uuid                                           -- the last that the engine was seen to have
);
insert into store_mark default values;

-- While a row stands, no command leaves for a BMC, no run is ended or restarted by comparison, and no change is accepted.
create table recovery (
  single boolean primary key default true check (single),
  since  timestamptz not null default now(),
  side   text not null check (side in ('store', 'engine', 'unknown')),  -- which is older
  reason text not null
);

grant select on store_mark, recovery to temper_api, temper_control, temper_bmc;
grant update (system_id, timeline, count, mark, seen) on store_mark to temper_control, temper_api;
grant insert on recovery to temper_control;
grant delete on recovery to temper_api;
