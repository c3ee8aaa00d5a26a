-- A project's quota of open runs is counted by the project whose caller asked for them.
create index runs_open_by_requester on runs ((requester->>'project_id')) where finished_at is null;
