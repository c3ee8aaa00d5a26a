/** The order that starts a run: planning and checks, after its caller is authorised. */
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { raise } from '../model/errors';
import type { Plan } from '../model/lifecycle/plan-parts';
import { planFor } from '../model/lifecycle/plans';
import { type ProvisionState, states } from '../model/lifecycle/states';
import type { Equipment } from '../model/lifecycle/step-types';
import type { Verb, VerbRow } from '../model/lifecycle/verbs';
import type { RunAudit, RunOrder } from '../runs/contract';
import type { Checks } from './checks';
import type { AdmissionContext } from './context';
import { checkInstance } from './deploy';
import { checkWorkable } from './driver-info';
import { requireImage, requireRamdisks, requireStepOrigins, withDefaultRamdisk } from './images';
import { equipped, type PlanListed } from './requested-steps';
import { orderedNode } from './requester';

type RunRequest = {
  readonly who: Caller;
  readonly verb: Verb;
  readonly row: VerbRow;
  readonly node: NodeRow;
  readonly ident: string;
  /** The resulting state; undefined only for the plan of a request that the state refuses. */
  readonly to: ProvisionState | undefined;
  readonly asked: RunAudit;
  /** The steps on this node, with those that its ramdisk reported. */
  readonly steps: (node: NodeRow & Equipment) => Promise<PlanListed>;
  readonly disableRamdisk?: boolean;
  /** Further values that acceptance stores. */
  readonly more?: Pick<RunOrder, 'resumes' | 'instance_info' | 'lessee'>;
};

const refuseBoot = (): never =>
  raise('InvalidInput', {
    field: 'disable_ramdisk',
    reason: 'these steps run in the ramdisk; leave it out, or use out-of-band steps only',
  });

const noPlan: Plan = { steps: [] };
const nothing: PlanListed = { steps: [] };

/**
 * The order that starts the run. Throws planning errors, InstanceInfoInvalid, OriginRefused, InvalidImage, GlanceUnavailable,
 * InvalidInput, DriverInfoInvalid, NoWorker. With collecting checks the order is planned as far as possible. It may start only without refusals.
 */
export const orderRun = async (ctx: AdmissionContext, request: RunRequest, checks: Checks): Promise<RunOrder> => {
  const { who, verb, row, node, ident, to, asked, more } = request;
  const deploys = row.kind === 'deploy';
  const image = deploys ? await checks.ask(() => checkInstance(ctx, who, node, ident)) : undefined;
  if (deploys) await checks.ask(() => requireImage(ctx, node, ident));
  const ready = withDefaultRamdisk(ctx, await equipped(ctx, node));
  const given = (await checks.ask(() => request.steps(ready))) ?? nothing;
  const { steps: listed, runbook = null, parameters = null, automatic = false, args = {} } = given;
  const plan = checks.try(() =>
    planFor(row.kind!, { node: ready, steps: listed, automatic, args, ...(image && { image }) }),
  );
  const { steps, ...ramdisk } = plan ?? noPlan;
  requireStepOrigins(ctx, steps, checks);
  await checks.ask(() => requireRamdisks(ctx, node, steps));
  if (request.disableRamdisk && ramdisk.boot) checks.try(refuseBoot);
  checkWorkable(node, ident, checks);
  const limit = row.counts && ctx.settings.concurrency[row.counts];
  return {
    node: orderedNode(node),
    verb,
    kind: row.kind!,
    event: row.event,
    ends: row.kind === 'undeploy' && node.retired ? 'manage' : (row.ends ?? null),
    target: row.target ?? (to === undefined ? null : (states[to].target as ProvisionState | null)),
    fault: row.fault ?? null,
    steps,
    ramdisk,
    runbook: runbook && {
      uuid: runbook.uuid,
      name: runbook.name,
      updated_at: runbook.updated_at,
      read_revision: runbook.revision,
    },
    ...(parameters && { parameters }),
    asked,
    ...(row.counts && limit && { limit: { class: row.counts, max: limit } }),
    ...(node.reservation !== null && { takesOver: true as const }),
    ...more,
  };
};
