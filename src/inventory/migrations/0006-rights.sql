-- What each process may do. The roles themselves are made by the migrate command, because they are shared by all databases of a server.
-- Functions that run with the rights of the owner are for the role that needs them, and triggers need no right.

grant usage on schema public to temper_api, temper_control, temper_bmc, temper_boot;
grant usage on sequence audit_seq to temper_api, temper_control, temper_bmc;
revoke execute on function follow_lease_writes(), end_rows_of_lease(uuid), note_work(), audit_make_month(timestamp), audit_keep(int),
  history_before(int), forget_events(int, bigint, int), forget_runs(int, timestamptz, uuid, int),
  give_network_boot(text, text, text, text), is_undiscovered(text) from public;

-- The API. It writes secrets and never reads them, and changes neither whose a secret is nor what a revision of a runbook holds: only the
-- withdrawal is added. It deletes waves, targets and counters when it makes a plan again.
grant select, insert, update, delete on chassis, nodes, portgroups, ports, volume_connectors, volume_targets, node_vifs,
  node_details, allocations, runbooks, deploy_templates, inspection_rules, agents, discovered_machines,
  rollout_waves, rollout_targets, rollout_counters, disruption_budgets, webhooks, idempotency to temper_api;
grant select, insert, update on leases, freezes, runbook_traits, runs, run_steps, run_messages, rollouts, rollout_votes,
  rollout_answers, rollout_wakes, imports to temper_api;
grant select, insert, delete on ramdisks, images, console_tickets, project_windows to temper_api;
grant select, insert on runbook_revisions, runbook_steps, events, webhook_deliveries, audit, policy_texts to temper_api;
grant select, update on ramdisk_boots to temper_api;
grant select, delete on recovery to temper_api;
grant insert, delete on secrets, webhook_secrets to temper_api;
grant select on migrations, bmc_health, power_sync, power_looks, workers, intents, audit_minimum, store_mark to temper_api;
grant select (id, holder, holder_id, path, key_id, created_at, bound) on secrets to temper_api;
grant update (withdrawn_at, withdrawn_by, withdrawn_reason) on runbook_revisions to temper_api;
grant select (node_uuid, run_id, ramdisk_uuid, url_secret, token_secret) on boot_capabilities to temper_api;
grant select (node_uuid, run_id, fence, image_uuid) on image_capabilities to temper_api;
grant select (webhook_uuid, id, key_id) on webhook_secrets to temper_api;
grant update (system_id, timeline, count, mark, seen) on store_mark to temper_api;

-- Control workers. They change no column that says who owns a node, which workers serve it, which BMC it has or what protects it, nor for
-- whom a run is: callers decide that, under policy. They end leases, start a run whose workflow Temporal lost under a higher fence, and
-- begin targets of rollouts only by a rule set that an API process has loaded. A row lock needs the right to change one column.
grant select, insert, update, delete on workers, run_steps, webhook_deliveries to temper_control;
grant select, insert, update on leases, node_details, run_messages, rollouts, rollout_waves, rollout_targets, rollout_counters,
  rollout_votes, rollout_answers, rollout_wakes to temper_control;
grant select, update, delete on allocations to temper_control;
grant select, insert on ports, runs, events, audit, recovery to temper_control;
grant select, update on ramdisk_boots, event_cursor to temper_control;
grant select, delete on node_vifs, intents, agents, idempotency to temper_control;
grant select on migrations, nodes, volume_targets, freezes, bmc_health, power_sync, power_looks, runbooks, runbook_revisions,
  runbook_steps, deploy_templates, inspection_rules, ramdisks, images, disruption_budgets, project_windows, webhooks,
  webhook_secrets, audit_minimum, policy_texts, store_mark to temper_control;
grant delete on secrets to temper_control;
grant update (driver_internal_info, properties, extra, instance_uuid, instance_info, instance_name, allocation_uuid, power_state,
  target_power_state, provision_state, target_provision_state, provision_updated_at, maintenance, maintenance_reason, fault,
  last_error, reservation, fence, console_enabled, inspection_started_at, inspection_finished_at, clean_step, deploy_step,
  service_step, raid_config, target_raid_config, bios_interface, boot_interface, console_interface, deploy_interface,
  firmware_interface, inspect_interface, management_interface, network_interface, power_interface, raid_interface,
  rescue_interface, storage_interface, vendor_interface, resource_class, traits, automated_clean, lessee, lease_id, description,
  network_data, boot_mode, secure_boot, shard, disable_power_off, health, updated_at) on nodes to temper_control;
grant update (extra, local_link_connection, pxe_enabled, physical_network, description, vendor, category, updated_at) on ports to
  temper_control;
grant select (id, holder, holder_id, path, key_id, created_at, bound), insert (id, holder, holder_id, path, key_id, nonce,
  ciphertext, bound, boxes) on secrets to temper_control;
grant update (fence, state, input, workflow_run_id, provision_state_before, target, cursor, seq, waiting_for, last_error,
  attempts_to_start, started_at, finished_at, updated_at, waiting_since, awaits, error_code, limit_class, resumes, resume_from, act_token,
  act_id, act_nth, act_attempt, act_at, act_cut, abort_by, abort_at, waits_on, plan, ending, restart_at, turn_at) on runs to
  temper_control;
grant select (url_secret, token_secret) on boot_capabilities to temper_control;
grant update (updated_at) on disruption_budgets to temper_control;
grant update (system_id, timeline, count, mark, seen) on store_mark to temper_control;
grant execute on function audit_keep(int), forget_events(int, bigint, int), forget_runs(int, timestamptz, uuid, int)
  to temper_control;

-- BMC workers. They alone read secrets. Of nodes and runs they write what control workers write, without leases and the inputs of runs.
-- They accept a run where a recorded power state is re-imposed, and make the token of a ramdisk that they boot.
grant select, insert, update, delete on bmc_leases, bmc_health, workers, boot_capabilities, ramdisk_boots, agents to temper_bmc;
grant select, insert, update on node_details, power_sync, power_looks, run_steps, intents to temper_bmc;
grant select, insert, delete on image_capabilities to temper_bmc;
grant select, insert on ports, runs, events to temper_bmc;
grant select, update on console_tickets to temper_bmc;
grant select, delete on node_vifs to temper_bmc;
grant select on migrations, nodes, volume_targets, allocations, freezes, secrets, inspection_rules, ramdisks, images,
  store_mark, recovery to temper_bmc;
grant insert on audit to temper_bmc;
grant update (driver_internal_info, properties, extra, instance_info, instance_name, power_state, target_power_state,
  provision_state, target_provision_state, provision_updated_at, maintenance, maintenance_reason, fault, last_error, reservation,
  fence, console_enabled, inspection_started_at, inspection_finished_at, clean_step, deploy_step, service_step, raid_config,
  target_raid_config, bios_interface, boot_interface, console_interface, deploy_interface, firmware_interface, inspect_interface,
  management_interface, network_interface, power_interface, raid_interface, rescue_interface, storage_interface, vendor_interface,
  resource_class, traits, automated_clean, description, network_data, boot_mode, secure_boot, shard, disable_power_off, health,
  updated_at) on nodes to temper_bmc;
grant update (extra, local_link_connection, pxe_enabled, physical_network, description, vendor, category, updated_at) on ports to
  temper_bmc;
grant insert (id, holder, holder_id, path, key_id, nonce, ciphertext, bound, boxes), update (path, key_id, nonce, ciphertext,
  bound, boxes) on secrets to temper_bmc;
grant update (state, workflow_run_id, provision_state_before, target, cursor, seq, waiting_for, last_error, attempts_to_start,
  started_at, finished_at, updated_at, waiting_since, awaits, error_code, limit_class, resumes, resume_from, act_token, act_id, act_nth,
  act_attempt, act_at, act_cut, abort_by, abort_at, waits_on, plan, ending, restart_at) on runs to temper_bmc;

-- The boot service. It looks one URL up, sees whether its run still has the node, and reads which machines DHCP answers: those with a port
-- that boots. It writes nothing but by give_network_boot.
grant select on migrations, ramdisks, images, image_capabilities to temper_boot;
grant select (uuid, driver, reservation, fence, boot_interface, secure_boot) on nodes to temper_boot;
grant select (node_uuid, address, pxe_enabled) on ports to temper_boot;
grant select (node_uuid, run_id, fence, ramdisk_uuid, arguments, url_hash, created_at, inspection_url, network, network_data) on
  boot_capabilities to temper_boot;
grant execute on function give_network_boot(text, text, text, text), is_undiscovered(text) to temper_boot;

-- A fleet fits into memory, and no disk of today pays four times for reading out of order: without this, PostgreSQL reads whole tables
-- where an index would do. Where the role is somebody else's to change, or another database's migration is changing it at this moment,
-- it stays as it is.
do $$ begin
  alter role temper_api set random_page_cost = 1.1;
  alter role temper_control set random_page_cost = 1.1;
exception when insufficient_privilege or internal_error then
  raise notice 'random_page_cost of temper_api and temper_control is left as it is';
end $$;
