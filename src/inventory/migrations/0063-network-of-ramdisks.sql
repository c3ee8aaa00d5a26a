-- The network of a ramdisk without DHCP, as its node had it when its boot was made: a repeat of a request gets the same bytes.
alter table boot_capabilities add column network_data jsonb;
grant select (network_data) on boot_capabilities to temper_boot;
