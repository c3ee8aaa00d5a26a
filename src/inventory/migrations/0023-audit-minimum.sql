-- How long the audit trail is kept at least stands in the database, where only its owner changes it.

create table audit_minimum (
  single boolean primary key default true check (single),
  months int not null check (months >= 0)                -- whole months beside the present one; 0 keeps all for ever
);
insert into audit_minimum (months) values (24);
grant select on audit_minimum to temper_api, temper_control;

-- As before, but that what the owner of the database wants kept is kept, whatever the role asks for.
create or replace function audit_keep(keep int) returns int language plpgsql security definer
  set search_path = pg_catalog, public set lock_timeout = '2s' as $$
declare
  this_month timestamp := public.audit_month(now());
  least_kept int := (select months from public.audit_minimum);
  part record;
  dropped int := 0;
begin
  for ahead in 0..6 loop
    perform public.audit_make_month(this_month + ahead * interval '1 month');
  end loop;
  if keep < 1 or coalesce(least_kept, 0) < 1 then return 0; end if;
  for part in
    select child.relname as name from pg_inherits
      join pg_class child on child.oid = inhrelid
    where inhparent = 'public.audit'::regclass and child.relname ~ '^audit_[0-9]{4}_[0-9]{2}$'
      and to_date(substr(child.relname, 7), 'YYYY_MM') < this_month - greatest(keep, least_kept) * interval '1 month'
  loop
    execute format('drop table public.%I', part.name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
