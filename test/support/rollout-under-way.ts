/** A rollout in the midst of its second wave, over four racks: one node has failed, another waits for its tenant. */
import { createHash } from 'node:crypto';
import type { TestApi } from './api';
import { lessee, owner } from './world';

const racks = ['r1', 'r2', 'r3', 'r4'];
const nodesOfRack = 8;
const minutes = (many: number) => new Date(Date.now() + many * 60_000);

/** Column values of the targets that are not pending, by their place in the plan; the first wave is done. */
const began: readonly Readonly<Record<string, unknown>>[] = [
  ...racks.map(() => ({ state: 'done', ended_at: minutes(-50) })),
  { state: 'done', ended_at: minutes(-20) },
  { state: 'failed', ended_at: minutes(-14), reason: 'firmware.update: the BMC answered HTTP 503 to the last of 5 tries.' },
  { state: 'done', ended_at: minutes(-18) },
  { state: 'soaking', soak_until: minutes(6) },
  { state: 'admitted' },
  { state: 'asked', code: 'leased', lessee, not_before: minutes(300) },
  { state: 'done', ended_at: minutes(-16) },
]; // biome-ignore format: one target a row

type Counted = Readonly<Record<'in_flight' | 'failed' | 'done', number>>;

const countOf = (states: readonly unknown[]): Counted => ({
  in_flight: states.filter((state) => state === 'admitted' || state === 'soaking').length,
  failed: states.filter((state) => state === 'failed').length,
  done: states.filter((state) => state === 'done').length,
});

const counters = async ({ sql }: TestApi, rollout: string): Promise<void> => {
  const states = began.map(({ state }) => state);
  const rows = [
    { number: 1, scope: 'total', value: '', budget: 4, most: 6, ...countOf(states) },
    { number: 2, scope: 'wave', value: '1', budget: 3, most: null, ...countOf(states.slice(4)) },
    ...racks.map((value, at) => ({
      number: at + 3,
      scope: 'properties.rack',
      value,
      budget: 2,
      most: 2,
      ...countOf(states.filter((_, place) => place % racks.length === at)),
    })),
  ];
  for (const row of rows) await sql`insert into rollout_counters ${sql({ rollout, ...row })}`;
};

const targets = async ({ sql }: TestApi, rollout: string): Promise<void> => {
  for (let position = 0; position < racks.length * nodesOfRack; position += 1) {
    const at = position % racks.length;
    const name = `${racks[at]}-n${Math.floor(position / racks.length) + 1}`;
    const [node] = await sql<{ uuid: string }[]>`
      insert into nodes (name, driver, provision_state, power_state, resource_class, owner, properties)
      values (${name}, 'redfish', 'active', 'power on', 'storage', ${owner}, ${sql.json({ rack: racks[at]!, unit: 10 + Math.floor(position / racks.length) })}) returning uuid`;
    const wave = position < 4 ? 0 : position < 12 ? 1 : 2;
    const row = { rollout, position, node_uuid: node!.uuid, node_name: name, owner, wave, power_cycles: 1, expected_ms: 420_000 };
    await sql`insert into rollout_targets ${sql({ ...row, counters: [1, ...(wave === 1 ? [2] : []), at + 3], ...began[position] } as never)}`;
  }
}; // biome-ignore format: one row a line

/** @returns its id. The world of pages (console-world.ts) has its runbook. */
export const rolloutUnderWay = async (api: TestApi): Promise<string> => {
  const { sql } = api;
  const [found] = await sql<{ uuid: string }[]>`select uuid from runbooks where name = 'CUSTOM_RESTART'`;
  const runbook = found!.uuid;
  const spec = { verb: 'service', runbook, select: { query: { resource_class: 'storage' } } };
  const left = { code: 'frozen', reason: 'The node is frozen: an audit of its disks goes on.', nodes: 2 };
  const summary = { waves: [4, 8, 20], selected: 34, will_run: 32, need_consent: 1, restarts: 32, erased: 0, expected_ms: 5_400_000, refused: [left] }; // biome-ignore format: one document
  const documents = {
    spec: sql.json(spec),
    summary: sql.json(summary),
    requester: sql.json({ user_name: 'ada' }),
    granted: sql.json({ user_name: 'grace' }),
  };
  const work = { verb: 'service', runbook_uuid: runbook, runbook_name: 'CUSTOM_RESTART', runbook_revision: 3 };
  const row = { name: 'Storage restart, November', project: owner, state: 'running', wave: 1, plan_hash: createHash('sha256').update('a plan').digest('hex') }; // biome-ignore format: one row
  const [made] = await sql<{ id: string }[]>`
    insert into rollouts ${sql({ ...row, ...work, ...documents, seed: 's', rule_set: 'x', started_at: minutes(-60) } as never)} returning id`;
  const rollout = made!.id;
  const [closed, open] = [{ opened_at: minutes(-60), closed_at: minutes(-40) }, { opened_at: minutes(-38) }];
  for (const [wave, size] of summary.waves.entries())
    await sql`insert into rollout_waves ${sql({ rollout, wave, size, soak_ms: 600_000, advance: 'manual', ...[closed, open][wave] } as never)}`;
  await counters(api, rollout);
  await targets(api, rollout);
  return rollout;
};
