/** What the store knows of the runs of many nodes: how long they took, and how often they had to try again. */
import type { Herd } from './nodes';
import type { System } from './system';

/** Seconds from start to end of every run of this kind that has ended. */
export const lastRuns = async ({ sql }: System, { uuids }: Herd, kind: string): Promise<number[]> => {
  const rows = await sql<{ seconds: number }[]>`
    select extract(epoch from finished_at - started_at)::float as seconds from runs
    where node_uuid = any (${uuids as string[]}::uuid[]) and kind = ${kind} and finished_at is not null`;
  return rows.map(({ seconds }) => seconds);
};

/** Attempts of acts that were not the first, in all runs of these nodes. */
export const repeatedAttempts = async ({ sql }: System, { uuids }: Herd): Promise<number> => {
  const [row] = await sql`
    select coalesce(sum(greatest(attempts - 1, 0)), 0)::int as repeated
    from run_steps join runs on runs.id = run_steps.run_id where runs.node_uuid = any (${uuids as string[]}::uuid[])`;
  return row!.repeated;
};
