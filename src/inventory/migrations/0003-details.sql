-- What was last seen inside a node: BIOS settings, firmware, and what an inspection found. Beside the node and not in it:
-- looks write it while nobody holds the node.

create table node_details (
  node_uuid    uuid primary key references nodes (uuid) on delete cascade,
  bios         jsonb,                                    -- list of {name, value, ..., created_at, updated_at}
  bios_at      timestamptz,
  firmware     jsonb,                                    -- list of {component, current_version, ..., created_at, updated_at}
  firmware_at  timestamptz,
  inventory    jsonb,
  plugin_data  jsonb,                                    -- what a ramdisk sent beside its inventory
  inventory_at timestamptz,
  reported     jsonb                                     -- steps that ramdisks on it said they have, each as it was told last
);

grant select, insert, update, delete on node_details to temper_api;
grant select, insert, update on node_details to temper_control, temper_bmc;
