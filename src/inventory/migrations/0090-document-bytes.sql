-- The length of each row's documents, so that a page of long rows can end before they are written; and an index of the few long ones.
alter table nodes add column document_bytes integer not null generated always as (
  coalesce(octet_length(driver_info::text), 0) +
  coalesce(octet_length(driver_internal_info::text), 0) +
  coalesce(octet_length(properties::text), 0) +
  coalesce(octet_length(extra::text), 0) +
  coalesce(octet_length(instance_info::text), 0) +
  coalesce(octet_length(clean_step::text), 0) +
  coalesce(octet_length(deploy_step::text), 0) +
  coalesce(octet_length(service_step::text), 0) +
  coalesce(octet_length(raid_config::text), 0) +
  coalesce(octet_length(target_raid_config::text), 0) +
  coalesce(octet_length(network_data::text), 0)
) stored;
create index nodes_long on nodes (id) where document_bytes > 32768;
alter table ports add column document_bytes integer not null generated always as (
  coalesce(octet_length(extra::text), 0) +
  coalesce(octet_length(internal_info::text), 0) +
  coalesce(octet_length(local_link_connection::text), 0)
) stored;
create index ports_long on ports (id) where document_bytes > 32768;
alter table portgroups add column document_bytes integer not null generated always as (
  coalesce(octet_length(extra::text), 0) +
  coalesce(octet_length(internal_info::text), 0) +
  coalesce(octet_length(properties::text), 0)
) stored;
create index portgroups_long on portgroups (id) where document_bytes > 32768;
alter table volume_connectors add column document_bytes integer not null generated always as (
  coalesce(octet_length(extra::text), 0)
) stored;
create index volume_connectors_long on volume_connectors (id) where document_bytes > 32768;
alter table volume_targets add column document_bytes integer not null generated always as (
  coalesce(octet_length(properties::text), 0) +
  coalesce(octet_length(extra::text), 0)
) stored;
create index volume_targets_long on volume_targets (id) where document_bytes > 32768;
alter table chassis add column document_bytes integer not null generated always as (
  coalesce(octet_length(extra::text), 0)
) stored;
create index chassis_long on chassis (id) where document_bytes > 32768;
alter table deploy_templates add column document_bytes integer not null generated always as (
  coalesce(octet_length(steps::text), 0) +
  coalesce(octet_length(extra::text), 0)
) stored;
create index deploy_templates_long on deploy_templates (id) where document_bytes > 32768;
alter table runbooks add column document_bytes integer not null generated always as (
  coalesce(octet_length(steps::text), 0) +
  coalesce(octet_length(extra::text), 0)
) stored;
create index runbooks_long on runbooks (id) where document_bytes > 32768;
alter table inspection_rules add column document_bytes integer not null generated always as (
  coalesce(octet_length(conditions::text), 0) +
  coalesce(octet_length(actions::text), 0)
) stored;
create index inspection_rules_long on inspection_rules (id) where document_bytes > 32768;
alter table allocations add column document_bytes integer not null generated always as (
  coalesce(octet_length(extra::text), 0)
) stored;
create index allocations_long on allocations (id) where document_bytes > 32768;
