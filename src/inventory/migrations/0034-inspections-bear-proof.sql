-- Where a boot's ramdisk sends what it finds, without the secret that it bears with it: that is put in while its image is sent.
alter table boot_capabilities add column inspection_url text;
grant select (inspection_url) on boot_capabilities to temper_boot;
create index ramdisk_boots_by_inspection on ramdisk_boots (inspection_hash);
