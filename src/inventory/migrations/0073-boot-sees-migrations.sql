-- The boot service is not ready while the database lacks a migration, as the others are not.
grant select on migrations to temper_boot;
