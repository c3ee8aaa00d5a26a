-- How many bytes a revision holds, for the quota of its project: no process may delete a revision, and its runbook may be gone.
alter table runbook_revisions add column bytes int not null default 0;

update runbook_revisions r set bytes = octet_length(r.parameters::text) + coalesce((
  select sum(octet_length(s.args::text) + coalesce(octet_length(s.settings::text), 0)) from runbook_steps s
  where s.runbook_uuid = r.runbook_uuid and s.revision = r.revision), 0);

create index runbook_revisions_of_owner on runbook_revisions (owner) include (bytes);

-- As before, with the bytes.
create or replace function write_runbook_revision() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into runbook_revisions (runbook_uuid, revision, digest, name, owner, public, traits, disable_ramdisk, parameters, author, bytes)
  values (new.uuid, new.revision,
    encode(sha256(convert_to((jsonb_build_object('name', new.name, 'owner', new.owner, 'public', new.public, 'traits', new.traits,
      'disable_ramdisk', new.disable_ramdisk, 'steps', new.steps)
      -- Where there are none, the digest is what it was before there could be any.
      || case when new.parameters = '[]' then '{}' else jsonb_build_object('parameters', new.parameters) end)::text, 'UTF8')), 'hex'),
    new.name, new.owner, new.public, new.traits, new.disable_ramdisk, new.parameters, nullif(current_setting('temper.author', true), '')::jsonb,
    octet_length(new.steps::text) + octet_length(new.parameters::text));
  insert into runbook_steps (runbook_uuid, revision, position, interface, step, args, "order", settings)
  select new.uuid, new.revision, place - 1, one ->> 'interface', one ->> 'step', coalesce(one -> 'args', '{}'),
    coalesce((one ->> 'order')::int, 0), one -> 'temper'
  from jsonb_array_elements(new.steps) with ordinality as listed (one, place);
  return null;
end $$;
