/** Allocations asked for, many at once, until each has its node. */
import { setTimeout as pause } from 'node:timers/promises';
import { enrol, inTurn } from './nodes';
import { percentile } from './stats';
import { ask, type System } from './system';

/** How many are under way at once. */
const inFlight = 50;

/** OpenStack Ironic 39.0.0 on this kind of machine, over 1,000 candidates with as many in flight. */
export const ironicAllocations = { per_s: 2.3 } as const;

export type Allocations = {
  readonly candidates: number;
  readonly in_flight: number;
  readonly seconds: number;
  readonly per_s: number;
  /** From the request to the look that found the node given, in ms. */
  readonly p50: number;
  readonly p99: number;
  /** How many got no node; each candidate is asked for once, so none should. */
  readonly failed: number;
  /** How many nodes were given twice. */
  readonly twice: number;
};

type Shown = { readonly state: string; readonly node_uuid: string | null };

const resource_class = 'bench-allocations';
// As often as the client that Ironic was measured with.
const lookEveryMs = 100;

/** Free nodes, as they would be after manage and provide. */
const candidatesOf = async (system: System, count: number): Promise<void> => {
  await enrol(system, resource_class, count, () => ({ driver: 'fake-hardware' }));
  await system.sql`
    update nodes set provision_state = 'available', power_state = 'power off' where resource_class = ${resource_class}`;
};

const allocate = async (system: System): Promise<{ ms: number; node: string | null }> => {
  const began = performance.now();
  const { uuid } = JSON.parse(await ask(system, 'POST', '/v1/allocations', { resource_class }));
  for (;;) {
    await pause(lookEveryMs);
    const look = await ask(system, 'GET', `/v1/allocations/${uuid}?fields=state,node_uuid`);
    const { state, node_uuid } = JSON.parse(look) as Shown;
    if (state !== 'allocating') return { ms: performance.now() - began, node: node_uuid };
  }
};

export const measureAllocations = async (
  system: System,
  { allocations: candidates }: { readonly allocations: number },
  say: (line: string) => void,
): Promise<Allocations> => {
  await candidatesOf(system, candidates);
  const began = performance.now();
  const all = await inTurn(Array.from({ length: candidates }), inFlight, () => allocate(system));
  const seconds = (performance.now() - began) / 1_000;
  const given = all.flatMap(({ node }) => node ?? []);
  const times = all.map(({ ms }) => ms);
  const per_s = candidates / seconds;
  say(`${candidates} allocations: ${per_s.toFixed(0)}/s`);
  return {
    candidates,
    in_flight: inFlight,
    seconds,
    per_s,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    failed: all.length - given.length,
    twice: given.length - new Set(given).size,
  };
};
