-- Every state that a runbook was in: what may run by it, who made it so, and whether it was withdrawn since. The trigger writes
-- them, so that a process of an older release that changes a runbook leaves its revision as well.
create table runbook_revisions (
  runbook_uuid     uuid not null,                        -- no foreign key: a revision outlives its runbook
  revision         int not null,
  digest           text not null,                        -- SHA-256 of all that a revision holds
  name             text not null,
  owner            text,
  public           boolean not null,
  traits           text[] not null,
  disable_ramdisk  boolean not null,
  author           jsonb,                                -- null: made by a migration, or by a release that does not say
  created_at       timestamptz not null default now(),
  withdrawn_at     timestamptz,
  withdrawn_by     jsonb,
  withdrawn_reason text,
  primary key (runbook_uuid, revision)
);

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

alter table runbooks add column revision int not null default 1;
alter table runs add column runbook_revision int;

create function number_runbook_revision() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    new.revision := old.revision + 1;
  else
    -- A runbook may be made again under the UUID of one that was deleted.
    new.revision := coalesce((select max(revision) from runbook_revisions where runbook_uuid = new.uuid), 0) + 1;
  end if;
  return new;
end $$;

create function write_runbook_revision() returns trigger language plpgsql as $$
begin
  insert into runbook_revisions (runbook_uuid, revision, digest, name, owner, public, traits, disable_ramdisk, author)
  values (new.uuid, new.revision,
    encode(sha256(convert_to(jsonb_build_object('name', new.name, 'owner', new.owner, 'public', new.public, 'traits', new.traits,
      'disable_ramdisk', new.disable_ramdisk, 'steps', new.steps)::text, 'UTF8')), 'hex'),
    new.name, new.owner, new.public, new.traits, new.disable_ramdisk, nullif(current_setting('temper.author', true), '')::jsonb);
  insert into runbook_steps (runbook_uuid, revision, position, interface, step, args, "order", settings)
  select new.uuid, new.revision, place - 1, one ->> 'interface', one ->> 'step', coalesce(one -> 'args', '{}'),
    coalesce((one ->> 'order')::int, 0), one -> 'temper'
  from jsonb_array_elements(new.steps) with ordinality as listed (one, place);
  return null;
end $$;

create trigger runbook_made before insert on runbooks for each row execute function number_runbook_revision();
create trigger runbook_changed before update on runbooks for each row
  when ((old.name, old.owner, old.public, old.traits, old.disable_ramdisk, old.steps)
    is distinct from (new.name, new.owner, new.public, new.traits, new.disable_ramdisk, new.steps))
  execute function number_runbook_revision();
create trigger runbook_made_revision after insert on runbooks for each row execute function write_runbook_revision();
create trigger runbook_changed_revision after update on runbooks for each row
  when (old.revision is distinct from new.revision)
  execute function write_runbook_revision();

-- What there is already is revision 1.
insert into runbook_revisions (runbook_uuid, revision, digest, name, owner, public, traits, disable_ramdisk, created_at)
select uuid, 1,
  encode(sha256(convert_to(jsonb_build_object('name', name, 'owner', owner, 'public', public, 'traits', traits,
    'disable_ramdisk', disable_ramdisk, 'steps', steps)::text, 'UTF8')), 'hex'),
  name, owner, public, traits, disable_ramdisk, coalesce(updated_at, created_at)
from runbooks;
insert into runbook_steps (runbook_uuid, revision, position, interface, step, args, "order", settings)
select uuid, 1, place - 1, one ->> 'interface', one ->> 'step', coalesce(one -> 'args', '{}'), coalesce((one ->> 'order')::int, 0), one -> 'temper'
from runbooks cross join lateral jsonb_array_elements(steps) with ordinality as listed (one, place);

-- What was written stays as it was written: only the withdrawal is added.
grant select, insert on runbook_revisions, runbook_steps to temper_api;
grant update (withdrawn_at, withdrawn_by, withdrawn_reason) on runbook_revisions to temper_api;
