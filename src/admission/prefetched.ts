/** Context of orders for many nodes: reads per node are batched, shared reads happen once. */
import type { Queries } from '../inventory';
import type { Freeze } from '../inventory/nodes/freezes';
import type { NodeUuid } from '../model/ids';
import type { AdmissionContext } from './context';

/** Caches the result per key. A rejection is cached too. */
export const memoized = <Args extends readonly unknown[], T>(ask: (...args: Args) => Promise<T>) => {
  const known = new Map<string, Promise<T>>();
  return (...args: Args): Promise<T> => {
    const key = JSON.stringify(args);
    const asked = known.get(key) ?? ask(...args);
    known.set(key, asked);
    return asked;
  };
};

export const askedOnce = ({ find, isMember }: NonNullable<AdmissionContext['glance']>) => ({
  find: memoized(find),
  isMember: memoized(isMember),
});

const frozenOf = async ({ freezes }: Queries, nodes: readonly NodeUuid[]): Promise<Map<NodeUuid, Freeze>> =>
  new Map((await freezes.activeOf(nodes)).map((freeze) => [freeze.node_uuid, freeze]));

/** A snapshot of the database for these nodes, valid for one request or tick. Other nodes are read one by one. */
export const prefetched = async (
  ctx: AdmissionContext,
  nodes: readonly { readonly uuid: NodeUuid }[],
): Promise<AdmissionContext> => {
  const { inventory, glance } = ctx;
  const uuids = nodes.map(({ uuid }) => uuid);
  const known = new Set(uuids);
  const [reported, frozen] = await Promise.all([inventory.details.reportedOf(uuids), frozenOf(inventory, uuids)]);
  const { details, freezes, runbooks, runbookRevisions, ramdisks, images, quotas, stepDurations } = inventory;
  return {
    ...ctx,
    ...(glance && { glance: askedOnce(glance) }),
    inventory: {
      ...inventory,
      details: {
        ...details,
        reported: async (node) => (known.has(node) ? (reported.get(node) ?? []) : details.reported(node)),
      },
      freezes: { ...freezes, active: async (node) => (known.has(node) ? frozen.get(node) : freezes.active(node)) },
      runbooks: { ...runbooks, find: memoized((ident, options) => runbooks.find(ident, options)) },
      runbookRevisions: {
        ...runbookRevisions,
        find: memoized(runbookRevisions.find),
        steps: memoized(runbookRevisions.steps),
      },
      ramdisks: { ...ramdisks, find: memoized(ramdisks.find) },
      images: { ...images, find: memoized(images.find) },
      quotas: { ...quotas, require: memoized(quotas.require) },
      stepDurations: { ...stepDurations, ofSteps: memoized(stepDurations.ofSteps) },
    },
  };
};
