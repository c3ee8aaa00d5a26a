-- A node that is tried again has switched its power twice: when it was begun the time before counts within the same minute as well.
alter table rollout_targets add column begun_before timestamptz; -- the admission before the last one; null: none
