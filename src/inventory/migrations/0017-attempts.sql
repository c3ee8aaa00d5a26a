-- Which attempt of which act speaks for a run now. A worker that stood still wakes with an older one, finds no row, and changes nothing.

alter table runs add column act_token uuid;                    -- of the attempt that began last; all that it writes names it
alter table runs add column act_id text;                       -- the engine's name of the act, one for all its attempts
alter table runs add column act_nth int not null default 0;    -- which act of its execution it is, counted from 1
alter table runs add column act_attempt int not null default 0;
alter table runs add column act_at timestamptz;                -- when the engine asked for the attempt, by the engine's clock
alter table runs add column act_cut int not null default 0;    -- acts of its execution up to this one were cut short by an abort

-- An abort that waits for a command to end is shown.
alter table runs add column abort_by text;
alter table runs add column abort_at timestamptz;

-- What a waiting run waits on, where that decides something: a frozen run gives its turn to the next.
alter table runs add column waits_on text;
update runs set waits_on = 'freeze' where finished_at is null and waiting_for like '% is frozen by %';
