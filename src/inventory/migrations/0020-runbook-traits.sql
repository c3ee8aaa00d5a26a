-- Whose a trait on runbooks is: the project's that put it there first, or the system's (null). A runbook's name counts as one
-- of its traits. The row outlives its runbooks; it binds while a runbook bears the trait or a node has it.
create table runbook_traits (
  trait text primary key,
  owner text
);

insert into runbook_traits (trait, owner)
select distinct on (mark) mark, owner
from runbooks cross join lateral unnest(traits || name) as marks (mark)
order by mark, created_at, id;

grant select, insert, update on runbook_traits to temper_api;
