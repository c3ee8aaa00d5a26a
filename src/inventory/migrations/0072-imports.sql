-- What was imported, as it was then at its source and in Temper: a repeat takes what changed at the source alone.
create table imports (
  kind          text not null,
  uuid          uuid not null,
  source_digest text not null,                           -- SHA-256 of the source's values, secrets left out
  taken_digest  text not null,                           -- of the columns that were written
  imported_at   timestamptz not null default now(),
  primary key (kind, uuid)
);
grant select, insert, update on imports to temper_api;
