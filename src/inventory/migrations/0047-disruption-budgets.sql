-- How many of its nodes a project lets be missing at once. Every rollout of every project asks.
create table disruption_budgets (
  id              bigint generated always as identity primary key, -- admissions lock budgets in this order
  uuid            uuid not null unique default gen_random_uuid(),
  project         text not null,                         -- owner or lessee of the nodes that it speaks of
  query           jsonb not null default '{}',           -- which of them; {} is all of them
  max_unavailable text,                                  -- '3', or '10%' of the nodes
  min_available   text,
  description     text,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz,
  check (num_nonnulls(max_unavailable, min_available) = 1)
);
create index disruption_budgets_by_project on disruption_budgets (project, id);

grant select, insert, update, delete on disruption_budgets to temper_api;
-- A row lock needs the right to change one column at least.
grant select, update (updated_at) on disruption_budgets to temper_control;
