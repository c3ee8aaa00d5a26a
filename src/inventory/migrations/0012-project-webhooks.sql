-- A webhook with a project gets the events that readers of the project may see. Without one it gets all, as before.
alter table webhooks add column project text;
create index webhooks_of_project on webhooks (project) where project is not null;
