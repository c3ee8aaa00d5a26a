-- The audit trail, by month: what was refused stands beside what was done, and old months go as a whole.

alter table audit rename to audit_before;
drop trigger audit_append_only on audit_before;
alter index audit_pkey rename to audit_before_pkey;
alter index audit_by_resource rename to audit_before_by_resource;
alter index audit_at rename to audit_before_at;

create sequence audit_seq;                               -- an identity column of a partitioned table needs PostgreSQL 17

create table audit (
  seq         bigint not null default nextval('audit_seq'),
  at          timestamptz not null default now(),
  requester   jsonb not null,                            -- user, project or system scope, strategy, request id
  origin      jsonb not null default '{}',               -- address of the connection; what proxies say of theirs
  action      text not null,                             -- such as 'node.update'; of what did not happen, method and path
  verdict     text not null default 'granted',           -- 'granted', 'refused' by a rule, 'failed' for another reason
  rule        text,                                      -- that admitted or refused it
  rule_set    text,
  code        text,                                      -- of the error, where it was not granted
  resource    text not null,
  resource_id text not null,
  node_uuid   uuid,
  project     text,                                      -- that owned the node at that time
  run_id      uuid,
  times       int not null default 1,                    -- more than one: the same refusal again and again
  data        jsonb not null default '{}',               -- what was changed, secrets masked
  request_id  text generated always as (requester ->> 'request_id') stored,
  asked_by    text generated always as (requester ->> 'project_id') stored,
  primary key (seq, at),
  constraint audit_verdicts check (verdict in ('granted', 'refused', 'failed'))
) partition by range (at);
create index audit_by_resource on audit (resource, resource_id, seq);
create index audit_at on audit using brin (at);
create index audit_by_node on audit (node_uuid, seq) where node_uuid is not null;
create index audit_by_project on audit (project, seq) where project is not null;
create index audit_by_asker on audit (asked_by, seq) where asked_by is not null;
create index audit_by_run on audit (run_id, seq) where run_id is not null;
create index audit_by_request on audit (request_id);

-- The month (UTC) that a moment lies in.
create function audit_month(moment timestamptz) returns timestamp language sql immutable as
  $$ select date_trunc('month', moment at time zone 'UTC') $$;

-- Makes the partition of a month where it is missing.
create function audit_make_month(month timestamp) returns void language plpgsql as $$
declare
  part text := 'audit_' || to_char(month, 'YYYY_MM');
begin
  if to_regclass(format('public.%I', part)) is not null then return; end if;
  execute format('create table public.%I partition of public.audit for values from (%L) to (%L)', part,
    month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
  execute format('create trigger audit_append_only before update or delete or truncate on public.%I
    for each statement execute function public.refuse_change()', part);
end $$;

-- Makes the months to come, half a year of them, and drops those that lie further back than `keep`; 0 keeps all.
-- For a role that may do neither by itself. It gives way to whoever uses the table, and is called again.
create function audit_keep(keep int) returns int language plpgsql security definer
  set search_path = pg_catalog, public set lock_timeout = '2s' as $$
declare
  this_month timestamp := public.audit_month(now());
  part record;
  dropped int := 0;
begin
  for ahead in 0..6 loop
    perform public.audit_make_month(this_month + ahead * interval '1 month');
  end loop;
  if keep < 1 then return 0; end if;
  for part in
    select child.relname as name from pg_inherits
      join pg_class child on child.oid = inhrelid
    where inhparent = 'public.audit'::regclass and child.relname ~ '^audit_[0-9]{4}_[0-9]{2}$'
      and to_date(substr(child.relname, 7), 'YYYY_MM') < this_month - keep * interval '1 month'
  loop
    execute format('drop table public.%I', part.name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
revoke execute on function audit_make_month(timestamp), audit_keep(int) from public;
grant execute on function audit_keep(int) to temper_control;

do $$
declare
  month timestamp;
begin
  for month in select distinct audit_month(at) from audit_before loop
    perform audit_make_month(month);
  end loop;
  perform audit_keep(0);
end $$;

-- Who owned the node at that time is not known of older rows.
insert into audit (seq, at, requester, action, rule, rule_set, resource, resource_id, node_uuid, run_id, data)
  select seq, at, requester, action, rule, rule_set, resource, resource_id,
    case when resource = 'node' and resource_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then resource_id::uuid end, run_id, data
  from audit_before order by seq;
select setval('audit_seq', coalesce(max(seq), 0) + 1, false) from audit_before;
drop table audit_before;
alter sequence audit_seq owned by audit.seq;

create trigger audit_append_only before update or delete or truncate on audit
  for each statement execute function refuse_change();

grant select, insert on audit to temper_api, temper_control;
grant insert on audit to temper_bmc;
grant usage on sequence audit_seq to temper_api, temper_control, temper_bmc;
