-- Runs of all nodes, ended ones too, newest first: whole, by how they ended, by verb and by runbook.
create index runs_by_age on runs (created_at desc, id);
create index runs_ended_by_state on runs (state, created_at desc, id) where finished_at is not null;
create index runs_by_verb on runs (verb, created_at desc, id);
create index runs_by_runbook on runs (runbook_name, created_at desc, id) where runbook_name is not null;
create index runs_by_runbook_uuid on runs (runbook_uuid, created_at desc, id) where runbook_uuid is not null;
