/** Acceptance of a run: lock, fence, state, steps, secrets and audit in one transaction. */
import type { Inventory, Queries } from '../inventory';
import type { Acceptance } from '../inventory/runs/accept';
import type { RunRow } from '../inventory/runs/runs';
import type { BoxedSecret, Sealer } from '../inventory/secrets/sealing';
import { type BmcSide, bmcSideOf } from '../model/access/bmc-sides';
import { holdsSecrets, maskSecrets } from '../model/access/secrets';
import { raise } from '../model/errors';
import type { NodeUuid, RunUuid } from '../model/ids';
import type { Plan } from '../model/lifecycle/plan-parts';
import { requirePlanSize } from '../model/lifecycle/plan-size';
import { next, type ProvisionState, powerTargets, states } from '../model/lifecycle/states';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { refuseWithdrawn } from '../model/resources/runbooks';
import type { Lock, RunInput, Timing } from '../model/runs/runs';
import { workflowId } from '../workflows/contract';
import type { BeforeAcceptance, RunOrder } from './contract';
import { endRun } from './ending';
import type { RunFacts } from './engine-commands';

export type Accepted = {
  readonly workflow_id: string;
  readonly input: RunInput;
  readonly facts: RunFacts;
  /** A run without steps has ended in its acceptance, and has no workflow. */
  readonly ended: boolean;
};
type AcceptDeps = {
  readonly inventory: Inventory;
  readonly vault: Sealer;
  readonly timing: Timing;
  readonly queuePrefix?: string;
  readonly before?: BeforeAcceptance;
};

/** Takes the node in one attempt; a retry is up to the caller. Throws NodeLocked, NodeNotFound, InvalidState. */
export const accept = async (order: RunOrder, deps: AcceptDeps): Promise<Accepted> => {
  const to = workingState(order);
  return deps.inventory.transaction((inventory) => acceptOnce(inventory, order, to, deps));
};

/** Conductor groups of all nodes of the run. */
const groupsOf = ({ node, steps }: RunOrder): string[] => [
  ...new Set([node.conductor_group, ...steps.flatMap(({ on }) => (on ? [on.conductor_group] : []))]),
];

const workingState = (order: RunOrder): ProvisionState | null => {
  if (order.event === null) return null;
  const { node, verb } = order;
  return (
    next(node.provision_state, order.event) ??
    raise('InvalidState', { verb, node: node.name ?? node.uuid, state: node.provision_state })
  );
};

/** Locks the runbook until the transaction ends. Throws Conflict, RevisionWithdrawn. */
const holdRunbook = async ({ runbooks }: Queries, { runbook }: RunOrder): Promise<Acceptance['runbook']> => {
  if (!runbook) return null;
  const { uuid, name } = runbook;
  const held =
    (await (runbook.revision === undefined
      ? runbooks.hold(uuid, runbook.updated_at)
      : runbooks.holdRevision(uuid, runbook.revision))) ??
    raise('Conflict', { reason: `Runbook ${name} was changed or deleted meanwhile; look at it and try again.` });
  const { revision, withdrawn } = held;
  refuseWithdrawn(name, revision, withdrawn);
  return { uuid, name, revision };
};

/** Undefined if `instance_info` stays. */
const sealedInstance = ({ instance_info, node }: RunOrder, vault: Sealer) =>
  instance_info &&
  vault.seal(instance_info, {
    holder: 'node',
    holder_id: node.uuid,
    field: 'instance_info',
    groups: [node.conductor_group],
  });

const rowOf = (order: RunOrder, to: ProvisionState | null) => ({
  node_uuid: order.node.uuid,
  from: order.node.provision_state,
  revision: order.node.revision ?? null,
  to,
  target_power_state: order.power ? powerTargets[order.power.target].ends : null,
  kind: order.kind,
  verb: order.verb,
  requester: order.asked.requester,
  rule_set: order.asked.rule_set,
  lessee: order.lessee ?? null,
  limit_class: order.limit?.class ?? null,
  resumes: order.resumes ?? null,
  parameters: order.parameters ?? null,
  batch: order.batch ?? null,
});

const acceptOnce = async (
  inventory: Queries,
  order: RunOrder,
  to: ProvisionState | null,
  { vault, timing, queuePrefix, before }: AcceptDeps,
): Promise<Accepted> => {
  const run = inventory.runs.newId();
  await before?.(inventory, run);
  const runbook = await holdRunbook(inventory, order);
  const { plan: sealed, secrets } = await sealedPlan(inventory, run, order, vault);
  requirePlanSize(sealed);
  const displaced = order.takesOver ? await inventory.runs.holding(order.node.uuid) : undefined;
  const input = {
    ...inputOf(order, sealed, to, timing),
    ...(queuePrefix && { queue_prefix: queuePrefix }),
    ...(displaced && { displaces: { run: displaced.id, workflow_id: displaced.workflow_id } }),
  };
  const instance = sealedInstance(order, vault);
  const workflow_id = workflowId(order.node.uuid, order.verb.replaceAll(' ', '-'), run);
  const taken = await inventory.runs.accept({
    ...rowOf(order, to),
    run,
    runbook,
    target: input.target,
    workflow_id,
    input,
    displaces: displaced?.id ?? null,
    instance_info: instance?.document ?? null,
  });
  if (!taken) return explainRefusal(inventory, order); // this rolls back the writes above
  const also = await lockOtherNodes(inventory, run, order, sealed.steps);
  if (instance) {
    await inventory.secrets.insert(instance.secrets);
    await inventory.secrets.dropUnused(order.node.uuid); // secrets of the previous document
  }
  if (displaced) await notifyDisplaced(inventory, displaced, order);
  // Sent without waiting: the transaction's connection executes them in this order.
  await Promise.all([
    inventory.runSteps.insert(run, sealed.steps),
    inventory.secrets.insert(secrets),
    runAuditAndEvent(inventory, order, to, taken.lock, sealed.steps, { ...taken, runbook }),
  ]);
  // The workflow of a run that takes over ends the workflow before it.
  const ended = sealed.steps.length === 0 && displaced === undefined;
  if (ended) await endAtOnce(inventory, order, taken.lock);
  const { user_name, user_id } = order.asked.requester;
  return {
    workflow_id,
    input: { ...input, lock: taken.lock, ...(also && { also }) },
    facts: {
      owner: taken.owner,
      lessee: taken.lessee,
      requester: user_name ?? user_id ?? 'unknown',
      state: to,
      rollout: order.batch ?? null,
    },
    ended,
  };
};

const endAtOnce = (inventory: Queries, { ends }: RunOrder, lock: Lock) =>
  endRun(inventory, { lock, outcome: 'succeeded', ends, fault: null, error: null, cursor: 0, power: null });

/** Seals the plan's secrets, each for the BMC of its step's node. */
const sealedPlan = async (
  inventory: Queries,
  run: RunUuid,
  order: RunOrder,
  vault: Sealer,
): Promise<{ plan: Plan; secrets: BoxedSecret[] }> => {
  const { steps, ramdisk } = order;
  if (!holdsSecrets([steps, ramdisk])) return { plan: { steps, ...ramdisk }, secrets: [] };
  const secrets: BoxedSecret[] = [];
  const sides = new Map<NodeUuid, BmcSide>();
  const seal = async <T>(document: T, node: NodeUuid, field: string): Promise<T> => {
    if (!holdsSecrets(document)) return document;
    const side = sides.get(node) ?? (await sideOf(inventory, node));
    sides.set(node, side);
    const of = { holder: 'run', holder_id: run, groups: groupsOf(order) } as const;
    const sealed = vault.seal(document, { ...of, field, side });
    secrets.push(...sealed.secrets);
    return sealed.document;
  };
  const sealedSteps: PlannedStep[] = [];
  for (const [index, step] of steps.entries())
    sealedSteps.push(await seal(step, step.on?.node_uuid ?? order.node.uuid, `input/steps/${index}`));
  return { plan: { steps: sealedSteps, ...(await seal(ramdisk, order.node.uuid, 'input')) }, secrets };
};

/** The BMC side that step secrets are bound to. Throws NodeNotFound. */
export const sideOf = async ({ nodes }: Pick<Queries, 'nodes'>, uuid: NodeUuid): Promise<BmcSide> =>
  bmcSideOf((await nodes.find({ uuid })) ?? raise('NodeNotFound', { node: uuid }));

const inputOf = (
  order: RunOrder,
  { steps, ...ramdisk }: Plan,
  to: ProvisionState | null,
  timing: Timing,
): Omit<RunInput, 'lock'> => ({
  kind: order.kind,
  verb: order.verb,
  node_name: order.node.name,
  driver: order.node.driver,
  conductor_group: order.node.conductor_group,
  steps,
  provision_state: to ?? order.node.provision_state,
  target: to === null ? null : ((order.target ?? states[to].target) as ProvisionState | null),
  ends: order.ends,
  fault: order.fault,
  ...(order.power && { power: order.power }),
  ...ramdisk,
  ...(order.limit && { limit: order.limit }),
  runbook: order.runbook?.name ?? null,
  rule_set: order.asked.rule_set,
  timing: order.power?.timeoutMs
    ? { ...timing, powerTimeoutMs: order.power.timeoutMs, softPowerTimeoutMs: order.power.timeoutMs }
    : timing,
});

/** Locks all other nodes or none. Throws NodeLocked naming the first of them. */
const lockOtherNodes = async (
  inventory: Queries,
  run: RunUuid,
  order: RunOrder,
  steps: readonly PlannedStep[],
): Promise<Record<string, number> | undefined> => {
  const others = new Map(
    steps.flatMap(({ on }) => (on && on.node_uuid !== order.node.uuid ? [[on.node_uuid, on]] : [])),
  );
  if (others.size === 0) return undefined;
  const [first] = others.values();
  return (
    (await inventory.runs.acceptAlso(run, [...others.keys()])) ??
    raise('NodeLocked', {
      node: `${first!.name ?? first!.node_uuid}${others.size > 1 ? ' or another node of these steps' : ''}`,
    })
  );
};

/** Ends the previous run in the database. Its fence is old, and the new run ends its workflow. */
const notifyDisplaced = async (inventory: Queries, run: RunRow, order: RunOrder): Promise<void> => {
  const error = `By request, ${order.verb} took the node over.`;
  await inventory.runSteps.failAt(run.id, run.cursor, error);
  await inventory.runs.displaced(run.id, error);
  await inventory.runs.queueMessage(run.id, 'cancel', {}); // in case the new run dies before that
  await inventory.events.append({
    kind: 'run.aborted',
    node_uuid: run.node_uuid,
    run_id: run.id,
    project: run.owner,
    lessee: run.lessee,
    data: { from: order.node.provision_state, to: null, error },
  });
};

const runAuditAndEvent = async (
  inventory: Queries,
  order: RunOrder,
  to: ProvisionState | null,
  lock: Lock,
  steps: readonly PlannedStep[],
  { owner, lessee, runbook }: { owner: string | null; lessee: string | null; runbook: Acceptance['runbook'] },
): Promise<void> => {
  const { asked, verb } = order;
  const data = {
    verb,
    from: order.node.provision_state,
    to,
    runbook: runbook?.name ?? null,
    ...(runbook && { runbook_revision: runbook.revision }),
    ...(order.parameters && { parameters: order.parameters }),
    ...(order.resumes && { resumes: order.resumes.run, resume_from: order.resumes.from }),
    ...(order.batch && { rollout: order.batch }),
    ...(order.power && { target: order.power.target }),
    steps: steps.map(({ interface: of, step, args }) => ({ interface: of, step, args: maskSecrets(args) })),
  };
  await Promise.all([
    inventory.audit.write({
      ...asked,
      action: `run.${verb}`,
      resource: 'node',
      resource_id: lock.node_uuid,
      project: owner,
      run_id: lock.run,
      data: { ...data, ...(asked.reason && { reason: asked.reason }) },
    }),
    inventory.events.append({
      kind: 'run.accepted',
      node_uuid: lock.node_uuid,
      run_id: lock.run,
      project: owner,
      lessee,
      data,
    }),
  ]);
};

const explainRefusal = async (inventory: Queries, { node }: RunOrder): Promise<never> => {
  if (!(await inventory.runs.stateOf(node.uuid as NodeUuid))) raise('NodeNotFound', { node: node.uuid });
  return raise('NodeLocked', { node: node.name ?? node.uuid });
};
