/** Usual durations of steps, and since when a run waits. */
import type { RunUuid } from '../../model/ids';
import type { StepDuration } from '../../model/lifecycle/outlook';
import { nameOf } from '../../model/lifecycle/steps';
import { type Db, textArray } from '../database';

export type Expectation = {
  readonly waiting_since: Date | null;
  /** By index of the step: milliseconds on nodes of the same vendor and model. */
  readonly expected_ms: Readonly<Record<number, number>>;
};

/** From the inspection. */
export type NodeKind = { readonly vendor: string | null; readonly model: string | null };

// Bounds the search for the same model.
const lookedThrough = 2_000;
const runsCounted = 20;

export const stepDurations = (sql: Db) => {
  // The newest `s` (interface, step) on nodes of this vendor and model.
  const past = (vendor: ReturnType<typeof sql>, model: ReturnType<typeof sql>) => sql`(
    select percentile_cont(0.5) within group (order by took.ms)::float8 as ms,
      percentile_cont(0.95) within group (order by took.ms)::float8 as p95 from (
      select extract(epoch from d.finished_at - d.started_at) * 1000 as ms
      from (
        select run_id, started_at, finished_at from run_steps
        where interface = s.interface and step = s.step and state = 'done'
        order by finished_at desc limit ${lookedThrough}
      ) d join lateral (
        -- The limit keeps the store from reading all runs there are to find these.
        select n.properties from runs r join nodes n on n.uuid = r.node_uuid where r.id = d.run_id limit 1
      ) dn on true
      where dn.properties->>'vendor' is not distinct from ${vendor}
        and dn.properties->>'model' is not distinct from ${model} and d.started_at is not null
      order by d.finished_at desc limit ${runsCounted}
    ) took
  ) past`;

  return {
    /** The median. */
    async ofRun(run: RunUuid): Promise<Expectation> {
      const rows = await sql<{ waiting_since: Date | null; index: number | null; ms: number | null }[]>`
        select r.waiting_since, s.index, past.ms
        from runs r left join nodes n on n.uuid = r.node_uuid left join run_steps s on s.run_id = r.id
        left join lateral ${past(sql`n.properties->>'vendor'`, sql`n.properties->>'model'`)} on true
        where r.id = ${run}`;
      const known = rows.filter((row) => row.index !== null && row.ms !== null);
      return {
        waiting_since: rows[0]?.waiting_since ?? null,
        expected_ms: Object.fromEntries(known.map((row) => [row.index, Math.round(row.ms!)])),
      };
    },

    /** By `interface.step`, without steps that have no past. */
    async ofSteps(
      { vendor, model }: NodeKind,
      steps: readonly { readonly interface: string; readonly step: string }[],
    ): Promise<ReadonlyMap<string, StepDuration>> {
      const asked = [...new Map(steps.map((step) => [nameOf(step), step])).values()];
      if (asked.length === 0) return new Map();
      const [interfaces, names] = [asked.map((one) => one.interface), asked.map((one) => one.step)];
      const rows = await sql<{ interface: string; step: string; ms: number; p95: number }[]>`
        select s.interface, s.step, past.ms, past.p95
        from unnest(${textArray(sql, interfaces)}, ${textArray(sql, names)}) s (interface, step)
        join lateral ${past(sql`${vendor}::text`, sql`${model}::text`)} on past.ms is not null`;
      return new Map(
        rows.map((row) => [nameOf(row), { expected_ms: Math.round(row.ms), p95_ms: Math.round(row.p95) }]),
      );
    },
  };
};
