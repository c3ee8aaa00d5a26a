-- Ironic's notifications: the place of the process that sends them in the feed. No row: none has ever run.

create table notification_place (
  id        int primary key default 1 check (id = 1),
  tx        xid8 not null,                               -- as in event_cursor
  seq       bigint not null,
  looked_at timestamptz not null default now()           -- when the process looked last, also while RabbitMQ was away
);

-- Rows as they were deleted, for notifications that are still to be sent. Secrets are references, whose secrets are gone.
create table notification_remains (
  tx     xid8 not null default pg_current_xact_id(),
  source text not null,                                  -- the row's table
  uuid   uuid not null,
  record jsonb not null,
  primary key (uuid, tx, source)
);
create index notification_remains_in_order on notification_remains (tx);

-- With the rights of the owner, because workers delete rows too. An installation without the process keeps nothing, and one that gave
-- it up stops after a month.
create function keep_remains() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from public.notification_place where looked_at > now() - interval '1 month') then
    insert into public.notification_remains (source, uuid, record) values (tg_table_name, old.uuid, to_jsonb(old))
    on conflict do nothing;
  end if;
  return null;
end $$;
revoke execute on function keep_remains() from public;

create trigger nodes_keep_remains after delete on nodes for each row execute function keep_remains();
create trigger ports_keep_remains after delete on ports for each row execute function keep_remains();
create trigger portgroups_keep_remains after delete on portgroups for each row execute function keep_remains();
create trigger chassis_keep_remains after delete on chassis for each row execute function keep_remains();
create trigger allocations_keep_remains after delete on allocations for each row execute function keep_remains();
create trigger volume_connectors_keep_remains after delete on volume_connectors for each row execute function keep_remains();
create trigger volume_targets_keep_remains after delete on volume_targets for each row execute function keep_remains();
create trigger deploy_templates_keep_remains after delete on deploy_templates for each row execute function keep_remains();

-- Its process reads what it tells of and writes its own place. It reads no secret, and changes nothing of a node.
grant usage on schema public to temper_notifications;
grant select on migrations, events, nodes, ports, portgroups, chassis, allocations, volume_connectors, volume_targets, deploy_templates
  to temper_notifications;
grant select, insert, update on notification_place to temper_notifications;
grant select, delete on notification_remains to temper_notifications;
-- For `temper doctor`, which is run with the settings of one of them.
grant select on notification_place to temper_api, temper_control;
