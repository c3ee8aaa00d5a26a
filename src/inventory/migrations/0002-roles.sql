-- What each process may do. The API writes secrets and never reads them; only BMC workers read them.
-- The roles themselves are made by the migrate command, because they are shared by all databases of a server.

grant usage on schema public to temper_api, temper_control, temper_bmc;

grant select, insert, update, delete on nodes, ports, runbooks to temper_api;
grant select, insert, update on runs, run_steps, run_messages, leases to temper_api;
grant select, insert on events, audit to temper_api;
grant select on workers, intents to temper_api;
grant insert, delete on secrets to temper_api;
grant select (id, holder, holder_id, path, key_id, created_at) on secrets to temper_api;
grant update (holder, holder_id) on secrets to temper_api;

grant select, update on nodes to temper_control;
grant select on runbooks to temper_control;
grant select, insert, update on runs, run_steps, run_messages, workers, leases to temper_control;
grant select, insert on events, audit to temper_control;
grant delete on workers to temper_control;
grant select (id, holder, holder_id, path, key_id, created_at), delete on secrets to temper_control;

grant select, update on nodes to temper_bmc;
grant select, update on runs, run_steps to temper_bmc;
grant select, insert, update on intents, workers, bmc_leases to temper_bmc;
grant delete on bmc_leases, workers to temper_bmc;
grant select, insert on events to temper_bmc;
grant select on secrets to temper_bmc;
