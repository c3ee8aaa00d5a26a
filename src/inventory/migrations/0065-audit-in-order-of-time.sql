-- Pages of the audit trail go by time and then by number, so that a page asks the newest month first, and an older one only
-- while it is not full. Months that are over get their indexes one by one: that keeps no request waiting, for nothing is
-- written there any more. What is written meanwhile waits for those of the present month alone.

do $$
declare
  part record;
  keys text;
begin
  for part in
    select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = 'audit'::regclass and child.relname ~ '^audit_[0-9]{4}_[0-9]{2}$'
      and to_date(substr(child.relname, 7), 'YYYY_MM') < audit_month(now())
  loop
    foreach keys in array array[
      '(at, seq)',
      '(node_uuid, at, seq) where node_uuid is not null',
      '(project, at, seq) where project is not null',
      '(asked_by, at, seq) where asked_by is not null',
      '(run_id, at, seq) where run_id is not null',
      '(request_id, at, seq)',
      '(verdict, at, seq) where verdict <> ''granted'''
    ] loop
      execute format('create index on %I %s', part.name, keys);
    end loop;
  end loop;
end $$;

-- These take up the indexes that are there.
create index audit_in_order on audit (at, seq);
create index audit_of_node on audit (node_uuid, at, seq) where node_uuid is not null;
create index audit_of_project on audit (project, at, seq) where project is not null;
create index audit_of_asker on audit (asked_by, at, seq) where asked_by is not null;
create index audit_of_run on audit (run_id, at, seq) where run_id is not null;
create index audit_of_request on audit (request_id, at, seq);
create index audit_of_others on audit (verdict, at, seq) where verdict <> 'granted';

drop index audit_at, audit_by_node, audit_by_project, audit_by_asker, audit_by_run, audit_by_request, audit_not_granted;
