/** Many nodes at once: enrolled, asked for a verb, awaited. */
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type System } from './system';

/** Nodes of one part of the bench: their resource class keeps them apart. */
export type Herd = { readonly resource_class: string; readonly uuids: readonly string[] };

/** Does the work for each item, so many at a time. */
export const inTurn = async <Item, Out>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<Out>,
): Promise<Out[]> => {
  const done: Out[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      done[at] = await work(items[at]!, at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, lane));
  return done;
};

/** As many connections as the client that Ironic was measured with had. */
export const connections = 32;

/** Enrols nodes; `body` says what each has beside its class. */
export const enrol = async (
  system: System,
  resource_class: string,
  count: number,
  body: (index: number) => object,
): Promise<Herd> => {
  const uuids = await inTurn(Array.from({ length: count }), connections, async (_, index) => {
    const sent = { name: `${resource_class}-${index}`, resource_class, ...body(index) };
    return JSON.parse(await ask(system, 'POST', '/v1/nodes', sent)).uuid as string;
  });
  return { resource_class, uuids };
};

/** Asks every node of a herd for a verb. */
export const askAll = async (system: System, { uuids }: Herd, verb: object): Promise<void> => {
  await inTurn(uuids, connections, (uuid) => ask(system, 'PUT', `/v1/nodes/${uuid}/states/provision`, verb));
};

export type Shown = {
  readonly uuid: string;
  readonly provision_state: string;
  readonly target_provision_state: string | null;
  readonly last_error: string | null;
};

/** Where every node of a herd is. */
const statesOf = async (system: System, { resource_class }: Herd): Promise<Shown[]> => {
  const found: Shown[] = [];
  const fields = 'uuid,provision_state,target_provision_state,last_error';
  for (let marker: string | undefined; ; marker = found.at(-1)?.uuid) {
    const page = `resource_class=${resource_class}&fields=${fields}&limit=1000${marker ? `&marker=${marker}` : ''}`;
    const { nodes } = JSON.parse(await ask(system, 'GET', `/v1/nodes?${page}`)) as { nodes: Shown[] };
    found.push(...nodes);
    if (nodes.length < 1_000) return found;
  }
};

/** How many nodes are in each state. */
export const counted = (nodes: readonly Shown[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { provision_state } of nodes) counts[provision_state] = (counts[provision_state] ?? 0) + 1;
  return counts;
};

// As often as the client that Ironic was measured with.
const lookEveryMs = 100;

/** Waits until no node of a herd is on its way any more. Throws when that takes longer than `withinMs`. */
export const settled = async (
  system: System,
  herd: Herd,
  moving: (node: Shown) => boolean,
  withinMs = 1_200_000,
): Promise<Shown[]> => {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const nodes = await statesOf(system, herd);
    if (!nodes.some(moving)) return nodes;
    if (performance.now() > deadline)
      throw new Error(`${herd.resource_class}: still on their way: ${JSON.stringify(counted(nodes.filter(moving)))}`);
    await pause(lookEveryMs);
  }
};

const failed = ({ provision_state, last_error }: Shown): boolean =>
  provision_state === 'error' || provision_state.endsWith('failed') || (provision_state === 'enroll' && !!last_error);

/** Asks all for a verb and waits until all are where it leads. Throws when one of them fails. @returns ms */
export const moveAll = async (system: System, herd: Herd, target: string, goal: string): Promise<number> => {
  const began = performance.now();
  await askAll(system, herd, { target });
  const nodes = await settled(system, herd, (node) => node.provision_state !== goal && !failed(node));
  const bad = nodes.find(failed);
  if (bad) throw new Error(`${target} of node ${bad.uuid} ended in ${bad.provision_state}: ${bad.last_error}`);
  return performance.now() - began;
};
