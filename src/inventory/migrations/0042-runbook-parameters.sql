-- What a runbook leaves open: parameters with the form of their values and a default. They decide what runs, so that a change of
-- them is a revision. A process of an older release leaves them as they are.
alter table runbooks add column parameters jsonb not null default '[]';
alter table runbook_revisions add column parameters jsonb not null default '[]';
-- What a run was given, secret values masked; null where its runbook has no parameters.
alter table runs add column parameters jsonb;

create or replace function write_runbook_revision() returns trigger language plpgsql as $$
begin
  insert into runbook_revisions (runbook_uuid, revision, digest, name, owner, public, traits, disable_ramdisk, parameters, author)
  values (new.uuid, new.revision,
    encode(sha256(convert_to((jsonb_build_object('name', new.name, 'owner', new.owner, 'public', new.public, 'traits', new.traits,
      'disable_ramdisk', new.disable_ramdisk, 'steps', new.steps)
      -- Where there are none, the digest is what it was before there could be any.
      || case when new.parameters = '[]' then '{}' else jsonb_build_object('parameters', new.parameters) end)::text, 'UTF8')), 'hex'),
    new.name, new.owner, new.public, new.traits, new.disable_ramdisk, new.parameters, nullif(current_setting('temper.author', true), '')::jsonb);
  insert into runbook_steps (runbook_uuid, revision, position, interface, step, args, "order", settings)
  select new.uuid, new.revision, place - 1, one ->> 'interface', one ->> 'step', coalesce(one -> 'args', '{}'),
    coalesce((one ->> 'order')::int, 0), one -> 'temper'
  from jsonb_array_elements(new.steps) with ordinality as listed (one, place);
  return null;
end $$;

drop trigger runbook_changed on runbooks;
create trigger runbook_changed before update on runbooks for each row
  when ((old.name, old.owner, old.public, old.traits, old.disable_ramdisk, old.steps, old.parameters)
    is distinct from (new.name, new.owner, new.public, new.traits, new.disable_ramdisk, new.steps, new.parameters))
  execute function number_runbook_revision();
