/** The checks of a single run's admission, asked for the nodes of a rollout: by its plan for every refusal, by its admission for the first. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import { isTemperError, raise, type TemperError } from '../../model/errors';
import type { RunbookUuid } from '../../model/ids';
import { planOutlook } from '../../model/lifecycle/outlook';
import { maxMinor } from '../../model/resources/microversions';
import type { Runbook } from '../../model/resources/runbooks';
import { refusalOf } from '../../model/runs/verdicts';
import type { PinnedRunbook, Prepare, Prepared, Refused } from '../../rollouts/contract';
import type { RunOrder } from '../../runs/contract';
import { admitProvision } from './admit';
import { everyRefusal, firstRefusal } from './checks';
import type { OrderContext } from './context';

/** The runbook as it was at a revision, whatever it is by now. Throws RevisionNotFound, RevisionWithdrawn. */
const pinned = async ({ inventory }: OrderContext, { uuid, name, revision }: PinnedRunbook): Promise<Runbook> => {
  const of = uuid as RunbookUuid;
  const row =
    (await inventory.runbookRevisions.find(of, revision)) ?? raise('RevisionNotFound', { runbook: name, revision });
  if (row.withdrawn_reason !== null)
    raise('RevisionWithdrawn', { runbook: name, revision, reason: row.withdrawn_reason });
  const steps = await inventory.runbookRevisions.steps(of, revision);
  const { owner, public: open, traits, disable_ramdisk, parameters, created_at } = row;
  const content = { steps, owner, public: open, traits, disable_ramdisk, parameters, created_at };
  return { uuid: of, name: row.name, revision, extra: {}, description: null, updated_at: null, ...content };
};

/** The context in which one runbook is what its revision was. */
const withRunbook = (ctx: OrderContext, runbook: Runbook): OrderContext => ({
  ...ctx,
  inventory: { ...ctx.inventory, runbooks: { ...ctx.inventory.runbooks, find: async () => runbook } },
});

const preparedOf = (order: RunOrder, runbook: PinnedRunbook | null): Prepared => {
  const { power_cycles, erases } = planOutlook({ steps: order.steps, ...order.ramdisk });
  const pin = runbook && { uuid: runbook.uuid as RunbookUuid, name: runbook.name, revision: runbook.revision };
  // What is not known to keep the data is taken to destroy it.
  return { order: { ...order, runbook: pin }, power_cycles, erases: erases !== false, expected_ms: null };
};

/** A runbook that the rules in force hide from the person by now: thrown, it would stop every look at the rollout. */
const hiddenRunbook = ({ code, message }: TemperError): Refused | undefined =>
  code === 'RunbookNotFound' ? { code: 'rule', rule: 'baremetal:runbook:get', reason: message } : undefined;

/** @returns the function that plan and admission share */
export const createPrepare = (ctx: OrderContext): Prepare => {
  const contextOf = async (runbook: PinnedRunbook | null): Promise<OrderContext> =>
    runbook ? withRunbook(ctx, await pinned(ctx, runbook)) : ctx;
  return async ({ who, requester, work, node, want }) => {
    const checks = want === 'every' ? everyRefusal() : undefined;
    const body = { target: work.verb, ...(work.runbook && { runbook: work.runbook.uuid }) };
    const request = { who, requestId: requester.request_id, origin: {}, version: maxMinor, body };
    try {
      const own = await contextOf(work.runbook);
      const admitted = await admitProvision(own, request, node, identOf(node), checks ?? firstRefusal);
      if (checks && checks.refusals.length > 0) return { refusals: checks.refusals };
      if (admitted.does === 'run') return { refusals: [], prepared: preparedOf(admitted.order, work.runbook) };
      return raise('InvalidInput', { field: 'verb', reason: `${work.verb} is no work of its own` });
    } catch (thrown) {
      const refusal = isTemperError(thrown) ? (refusalOf(thrown) ?? hiddenRunbook(thrown)) : undefined;
      if (!refusal) throw thrown;
      return { refusals: [...(checks?.refusals ?? []), refusal] };
    }
  };
};

const identOf = ({ name, uuid }: NodeRow): string => name ?? uuid;
