-- A look at power gives its BMC's lease back by a date of old, so that the next one writes the same row within its page: an insert
-- and a delete each time would write the index. Rows of BMCs that are gone are swept.
alter table bmc_leases set (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.5);
