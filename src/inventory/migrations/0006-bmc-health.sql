-- How often in a row a BMC did not answer, and until when it is therefore left alone; no row: it answers.

create table bmc_health (
  lane       text primary key,
  failures   int not null,
  open_until timestamptz,                                -- nobody calls the BMC before; null: too few failures yet
  last_error text not null,
  updated_at timestamptz not null default now()
);

grant select, insert, update, delete on bmc_health to temper_bmc;
grant select on bmc_health to temper_api, temper_control;
