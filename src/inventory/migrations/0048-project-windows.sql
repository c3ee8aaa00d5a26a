-- Weekly hours in which a project lets rollouts of others work on its nodes, by a zone's own clock.
create table project_windows (
  id          bigint generated always as identity primary key,
  uuid        uuid not null unique default gen_random_uuid(),
  project     text not null,
  name        text not null,
  days        text[] not null check (cardinality(days) > 0),
  "from"      text not null,                             -- 22:00, the clock of the zone
  minutes     int not null check (minutes > 0),          -- elapsed, also over a change of clocks
  zone        text not null,
  created_at  timestamptz not null default now(),
  constraint project_windows_name unique (project, name)
);

grant select, insert, delete on project_windows to temper_api;
grant select on project_windows to temper_control;
