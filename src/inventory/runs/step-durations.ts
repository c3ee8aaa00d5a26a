/** What the past says of a run that goes on: how long its steps usually take, and since when it waits. */
import type { RunUuid } from '../../model/ids';
import type { Db } from '../database';

export type Expectation = {
  readonly waiting_since: Date | null;
  /** By index of the step: what its like took on nodes of the same vendor and model, in milliseconds. */
  readonly expected_ms: Readonly<Record<number, number>>;
};

// Of a step that many runs have, only so many of the newest are looked through for the same model.
const lookedThrough = 2_000;
const counted = 20;

export const expectations = (sql: Db) => ({
  /** One query for a whole run: the median of the newest steps of each kind that are done. */
  async ofRun(run: RunUuid): Promise<Expectation> {
    const rows = await sql<{ waiting_since: Date | null; index: number | null; ms: number | null }[]>`
      select r.waiting_since, s.index, past.ms
      from runs r left join nodes n on n.uuid = r.node_uuid left join run_steps s on s.run_id = r.id
      left join lateral (
        select percentile_cont(0.5) within group (order by took.ms)::float8 as ms from (
          select extract(epoch from d.finished_at - d.started_at) * 1000 as ms
          from (
            select run_id, started_at, finished_at from run_steps
            where interface = s.interface and step = s.step and state = 'done'
            order by finished_at desc limit ${lookedThrough}
          ) d join lateral (
            -- The limit keeps the store from reading all runs there are to find these.
            select n.properties from runs r join nodes n on n.uuid = r.node_uuid where r.id = d.run_id limit 1
          ) dn on true
          where dn.properties->>'vendor' is not distinct from n.properties->>'vendor'
            and dn.properties->>'model' is not distinct from n.properties->>'model' and d.started_at is not null
          order by d.finished_at desc limit ${counted}
        ) took
      ) past on true
      where r.id = ${run}`;
    const known = rows.filter((row) => row.index !== null && row.ms !== null);
    return {
      waiting_since: rows[0]?.waiting_since ?? null,
      expected_ms: Object.fromEntries(known.map((row) => [row.index, Math.round(row.ms!)])),
    };
  },
});
