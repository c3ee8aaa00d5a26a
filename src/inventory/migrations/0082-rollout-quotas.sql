-- How many rollouts of a project have not ended, for its quotas.
create index rollouts_unended on rollouts (project, state)
  where state in ('planned', 'awaiting_approval', 'scheduled', 'running', 'paused');
