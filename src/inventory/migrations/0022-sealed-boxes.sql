-- Secrets are sealed to public keys of the workers, each bound to the BMC it was given for; no process writes more than it must.

alter table secrets add column bound text;               -- the BMC it was given for; part of what is authenticated
alter table secrets add column boxes jsonb;              -- the wrapped key, once for every recipient; null: sealed with a shared key
create index secrets_by_key on secrets (key_id, id);

-- No request changes whose a secret is; sealing again is for those who can open.
revoke update (holder, holder_id) on secrets from temper_api;
grant select (bound) on secrets to temper_api, temper_control;
grant update (path, key_id, bound, boxes, nonce, ciphertext) on secrets to temper_bmc;
-- Which conductor group a secret's holder belongs to.
grant select on volume_targets to temper_bmc;

-- Which columns workers write of nodes and runs. A column that comes later is granted by the migration that adds it.
do $$
declare
  -- Who owns a node, which worker pool serves it, which BMC it has, and what protects it: decided by callers, under policy.
  of_nodes constant text[] := '{id,uuid,name,driver,driver_info,owner,conductor_group,chassis_uuid,parent_node,
    protected,protected_reason,created_at,retired,retired_reason}';
  -- Workers with BMCs take no part in leases either; control ends those that began with a deployment.
  of_leases constant text[] := '{lessee,lease_id,allocation_uuid,instance_uuid}';
  -- Who asked for a run, for what, on whose behalf.
  of_runs constant text[] := '{id,node_uuid,node_name,fence,story,verb,runbook_uuid,runbook_name,owner,lessee,lease_id,requester,
    rule_set,batch,workflow_id,created_at}';
  granted record;
begin
  for granted in
    select 'temper_control' as role, 'nodes' as relation, of_nodes as kept
    union all select 'temper_bmc', 'nodes', of_nodes || of_leases
    union all select 'temper_control', 'runs', of_runs
    union all select 'temper_bmc', 'runs', of_runs || '{input}'::text[]
  loop
    execute format('revoke update on %I from %I', granted.relation, granted.role);
    execute (
      select format('grant update (%s) on %I to %I', string_agg(quote_ident(attname), ', ' order by attnum), granted.relation, granted.role)
      from pg_attribute
      where attrelid = granted.relation::regclass and attnum > 0 and not attisdropped and attname <> all (granted.kept));
  end loop;
end $$;
