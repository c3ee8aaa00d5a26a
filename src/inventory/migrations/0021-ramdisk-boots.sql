-- A boot of the ramdisk that a run waits for: made when the run's power-on act has ended, gone when the node loses power.
-- Without it no ramdisk is answered, so that a token is given to nothing that asks before the machine has been started.
-- A token that travels with the boot image will be kept in this row, and lookup will then hand out none.

create table ramdisk_boots (
  node_uuid uuid primary key references nodes (uuid) on delete cascade,
  run_id    uuid not null,                               -- the run that booted it; of another one it is worth nothing
  booted_at timestamptz not null default now(),
  address   text,                                        -- of the first contact, as the listener sees it; null until then
  conflict  text,                                        -- the other address from which somebody spoke for the same node
  noticed   text                                         -- what the run was at when it learned of that, e.g. '3.power_off'
);

-- Runs that wait for their ramdisk while this migration is made have powered their nodes on.
insert into ramdisk_boots (node_uuid, run_id)
select n.uuid, r.id from runs r join nodes n on n.reservation = r.id
where r.finished_at is null and (r.awaits is not null or exists (select 1 from agents a where a.node_uuid = n.uuid));

grant select, update on ramdisk_boots to temper_api;
grant select, insert, update, delete on ramdisk_boots to temper_bmc;
grant select, update on ramdisk_boots to temper_control;
