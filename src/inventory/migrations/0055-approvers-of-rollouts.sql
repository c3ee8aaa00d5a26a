-- How many users must approve a plan, as the API process had it that made it, or that its start was asked of: a control worker that begins
-- it by itself counts by this and by no setting of its own. Null: planned before this column was there, which wants the most there is.
alter table rollouts add column approvers smallint check (approvers between 1 and 2);
-- What the guard has answered last, as gates of waves keep theirs; null: not asked yet.
alter table rollouts add column guard jsonb;
