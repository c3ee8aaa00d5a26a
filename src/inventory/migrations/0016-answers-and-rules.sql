-- What an act answers to somebody who waits for it: an order for a node's BMC that makes something has to say what it made.

alter table run_steps add column answer jsonb;           -- small, without secrets; null where nobody is told anything

-- Inspection rules run where findings are taken in: by the control worker after a ramdisk, by the BMC worker after a BMC.
grant select on inspection_rules to temper_bmc;
grant update (extra, local_link_connection, physical_network, pxe_enabled, description, vendor, category, updated_at)
  on ports to temper_control, temper_bmc;
