/** Shows of a list's filter that older versions refuse it, and that it selects from the version on that brought it. */
import type { Change } from '../../../tools/gen/version-changes';
import type { Fill, NodeColumns } from '../../support/rule-world';
import { owner, stranger } from '../../support/world';
import { ask, type Bench, expectGood, expectRefused, sidesOf } from './bench';

type Sample = {
  /** What selects the object, and what selects others only. */
  readonly selects: string;
  readonly leaves: string;
  readonly columns?: NodeColumns;
  readonly prepare?: (bench: Bench, fill: Fill) => Promise<unknown>;
};

const simple = (column: string, selects: string, leaves: string): Sample => ({
  selects,
  leaves,
  columns: { [column]: selects },
});

const inGroup = async ({ api }: Bench, fill: Fill): Promise<void> => {
  const [port, group] = [await fill('{port}'), await fill('{portgroup}')];
  await api.sql`update ports set portgroup_uuid = ${group} where uuid = ${port}`;
};
const inParent = async ({ api }: Bench, fill: Fill): Promise<void> => {
  const [node, parent] = [await fill('{node}'), await fill('{other}')];
  await api.sql`update nodes set parent_node = ${parent} where uuid = ${node}`;
};

/** By resource and filter. The object is of the resource's own word. */
const samples: Readonly<Record<string, Sample>> = {
  'node provision_state': simple('provision_state', 'manageable', 'active'),
  'node driver': simple('driver', 'fake-hardware', 'redfish'),
  'node resource_class': simple('resource_class', 'gold', 'lead'),
  'node fault': { ...simple('fault', 'power failure', 'clean failure') },
  'node conductor_group': simple('conductor_group', 'hall-7', 'hall-8'),
  'node conductor': { selects: 'worker-1', leaves: 'worker-2', columns: { conductor_group: '' } },
  'node owner': simple('owner', owner, stranger),
  'node lessee': simple('lessee', stranger, owner),
  'node shard': simple('shard', 'north', 'south'),
  'node sharded': { selects: 'true', leaves: 'false', columns: { shard: 'north' } },
  'node include_children': { selects: 'true', leaves: 'false', prepare: inParent },
  'node parent_node': { selects: '{other}', leaves: '{node}', prepare: inParent },
  'node instance_name': simple('instance_name', 'web-1', 'web-2'),
  'port portgroup': { selects: '{portgroup}', leaves: '{emptygroup}', prepare: inGroup },
  'port shard': { selects: 'north', leaves: 'south', columns: { shard: 'north' } },
  'portgroup shard': { selects: 'north', leaves: 'south', columns: { shard: 'north' } },
  'allocation owner': { selects: owner, leaves: stranger },
};

const holds = async (bench: Bench, minor: number, request: string, uuid: string): Promise<boolean> => {
  const reply = await ask(bench, minor, request);
  expectGood(request, reply);
  const [rows] = Object.values(reply.body) as { uuid: string }[][];
  return rows!.some((one) => one.uuid === uuid);
};

const emptyGroup = async (bench: Bench): Promise<string> => bench.world()('{portgroup}');

/** Shows each of the filters on both sides of the version. */
export const showFilters = async (
  bench: Bench,
  { of, names }: Extract<Change, { is: 'filters' }>,
  minor: number,
): Promise<void> => {
  const { before, from } = sidesOf(minor);
  for (const name of names) {
    const sample = samples[`${of} ${name}`];
    if (!sample) throw new Error(`no value is known for the filter ${name} of ${of}`);
    const fill = bench.world(sample.columns);
    const uuid = await fill(`{${of}}`);
    await sample.prepare?.(bench, fill);
    const by = async (value: string): Promise<string> => {
      const known = value === '{emptygroup}' ? await emptyGroup(bench) : await fill(value);
      return `GET /v1/${of}s?${name}=${encodeURIComponent(known)}`;
    };
    const selecting = await by(sample.selects);
    expectRefused(selecting, await ask(bench, before, selecting), 406, minor);
    expect([name, await holds(bench, from, selecting, uuid)]).toEqual([name, true]);
    expect([name, await holds(bench, from, await by(sample.leaves), uuid)]).toEqual([name, false]);
  }
};
