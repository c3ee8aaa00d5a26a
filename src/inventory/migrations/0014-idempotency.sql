-- What was asked under an Idempotency-Key: whether its work is written down, and what it was answered.

create table idempotency (
  request_id  text primary key,                          -- of the request that does the work, as its audit rows have it
  caller      bytea not null,                            -- digest of who asks: user, scope, strategy
  key         text not null,
  asked       bytea not null,                            -- keyed digest of what was asked, and with which roles
  begun_at    timestamptz not null default now(),
  lives_until timestamptz not null,                      -- put off by the process that serves it, while that lives
  expires_at  timestamptz not null,
  superseded  boolean not null default false,            -- given up with nothing written down: another request does the work
  changed_at  timestamptz,                               -- its work is written down; in the transaction of the work
  action      text,                                      -- of the first audit row, as are the next three
  resource    text,
  resource_id text,
  run_id      uuid,
  answered_at timestamptz,
  status      int,
  headers     jsonb,
  body        text,                                      -- as it was sent: secrets are masked in it
  constraint superseded_did_nothing check (not superseded or changed_at is null),
  constraint answered_has_status check ((answered_at is null) = (status is null))
);
create unique index idempotency_by_key on idempotency (caller, key) where not superseded;
create index idempotency_by_expiry on idempotency (expires_at);

-- Every change writes its audit row in its own transaction: there it is noted that the work of a request is done, and there a
-- request that was given up meanwhile is stopped. Whoever gives it up waits for that row, so one of the two is too late.
create function note_work() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public as $$
declare
  given_up boolean;
begin
  update public.idempotency
    set changed_at = case when not superseded then now() end,
        action = new.action, resource = new.resource, resource_id = new.resource_id, run_id = new.run_id
    where request_id = new.request_id and changed_at is null
    returning superseded into given_up;
  if given_up then
    raise exception 'request % was given up, another one does its work', new.request_id using errcode = 'TM001';
  end if;
  return null;
end $$;
revoke execute on function note_work() from public;

create trigger audit_notes_work after insert on audit for each row
  when (new.verdict = 'granted') execute function note_work();

grant select, insert, update, delete on idempotency to temper_api;
grant select, delete on idempotency to temper_control;
