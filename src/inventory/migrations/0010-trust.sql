-- The audit trail of one node for its tenants, the trail by person and act, and acknowledged faults.

-- Since when the node has its present owner and its present lessee. The clock is read after the row is locked, so that nothing that a
-- former tenant wrote is younger. Of nodes from before this migration the owner is known since the migration, and the lease says the rest.
alter table nodes
  add column owner_since  timestamptz not null default now(),
  add column lessee_since timestamptz;

create function follow_tenants() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    new.owner_since := now() - interval '1 microsecond'; -- its first owner reads the row of its creation
    new.lessee_since := case when new.lessee is not null then clock_timestamp() end;
    return new;
  end if;
  if new.owner is distinct from old.owner then
    new.owner_since := clock_timestamp();
  end if;
  if new.lessee is distinct from old.lessee then
    new.lessee_since := case when new.lessee is not null then clock_timestamp() end;
  end if;
  return new;
end $$;
create trigger nodes_tenants before insert or update of owner, lessee on nodes for each row execute function follow_tenants();

create index audit_of_action on audit (action, at, seq);
create index audit_of_user on audit ((requester ->> 'user_id'), at, seq);
create index audit_of_user_name on audit ((requester ->> 'user_name'), at, seq);

-- Somebody knows of a node's fault. It ends with that fault, and if the node changes hands.
create table fault_acknowledgements (
  node_uuid       uuid primary key references nodes (uuid) on delete cascade,
  fault_since     timestamptz not null,                  -- as nodes had it
  owner           text,                                  -- as nodes had it, as is the next
  lease_id        uuid,
  note            text not null,
  requester       jsonb not null,
  acknowledged_at timestamptz not null default now()
);
grant select, insert, update, delete on fault_acknowledgements to temper_api;
