-- A control worker begins targets of rollouts only by a rule set that an API process has loaded.
grant select on policy_texts to temper_control;
