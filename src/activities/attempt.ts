/** One attempt of an act, under the fence and in the BMC's lane. Its outcome is stored before it counts as done. */
import type { Act, BmcNode, Driver } from '../bmc/contract';
import type { ActKey, Begun } from '../inventory/runs/run-steps';
import { fetchedBy, requireFetched } from '../model/access/origins';
import { raise } from '../model/errors';
import { type ActName, actRow, nameOf } from '../model/lifecycle/steps';
import type { ActOutcome } from '../model/runs/runs';
import { type Attempted, announcedIn, type Beating, contextOf } from './act-context';
import { bootsRamdisk, hiddenError, hiddenOutcome, keepOutcome } from './act-outcome';
import type { BmcDeps } from './bmc-deps';
import { withImage } from './image-record';
import { inLane } from './lease';
import { lostRamdisk, shutDown } from './lost-ramdisk';
import { whileOneRamdisk } from './one-ramdisk';
import { withRamdisk } from './ramdisk-image';
import { startTalk } from './ramdisk-silence';
import { reportAttempt } from './reported-attempts';
import { type FoundNode, unlocked } from './secrets';

/** Throws DriverUnsupported. */
export const performerOf = (
  name: string,
  act: ActName,
  what: string,
  deps: BmcDeps,
): { readonly driver: Driver; readonly perform: Act; readonly byAgent: boolean } => {
  const driver =
    deps.driverOf(name) ??
    raise('DriverUnsupported', { driver: name, what: 'anything here: no such driver on this worker' });
  const agentAct = actRow(act).by === 'agent' ? deps.agentActs?.[act] : undefined;
  const perform = agentAct ?? driver.acts[act] ?? raise('DriverUnsupported', { driver: name, what });
  return { driver, perform, byAgent: agentAct !== undefined };
};

/** Checked again, because a URL with a password is sealed before acceptance can check it. Throws OriginRefused. */
const requireOrigins = (
  { step, act }: Attempted,
  node: BmcNode,
  args: Readonly<Record<string, unknown>>,
  deps: BmcDeps,
): void => {
  for (const one of fetchedBy(act, step, args, node.instance_info ?? {}, node.driver_info))
    requireFetched(deps.imageOrigins ?? [], one);
};

/** Throws StaleOperation, NodeFrozen, RecoveryPending, DriverUnsupported, OriginRefused, and the act's errors without secrets. */
export const attempt = async (
  input: Attempted,
  key: ActKey,
  deps: BmcDeps,
  holder: string,
  beating: Beating,
): Promise<ActOutcome> => {
  const { lock, step, act, last } = input;
  const row = actRow(act);
  const { ended, node: begun } = await beginAct(input, key, deps);
  if (ended) return ended;
  if (!begun) return raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  const { doubted, unrepeated, ...found } = begun;
  reportAttempt(input, deps);
  const { driver, perform, byAgent } = performerOf(found.driver, act, nameOf(step), deps);
  const { node, args, texts } = await prepared(found, input, key, deps);
  const talk = startTalk(() => deps.inventory.agents.answered(lock.node_uuid));
  const { context, announced } = announcedIn({
    ...contextOf(input, key, deps, beating, texts),
    answered: talk.answered,
    doubted,
    unrepeated,
  });
  const lane = byAgent ? null : driver.laneKey(node);
  const at = `${step.index}.${act}`;
  const work = () =>
    row.by === 'agent'
      ? whileOneRamdisk(deps, { lock, at, node: found.name ?? found.uuid }, context, (watched) =>
          perform(node, args, watched),
        )
      : perform(node, args, context);
  const outcome = await inLane(deps, { lane, holder, signal: context.signal }, work).then(
    (done) => hiddenOutcome(done, texts),
    async (thrown: unknown): Promise<ActOutcome> => {
      if (row.by !== 'agent') throw hiddenError(thrown, texts);
      const lost = { input, deps, holder, driver, node, context, talk, announced };
      const off = row.doneWhenOff && (await shutDown(thrown, lost));
      if (off) return off;
      throw hiddenError(await lostRamdisk(thrown, lost), texts);
    },
  );
  await keepOutcome(lock, outcome, { ends: row.endsAgent === true, boots: bootsRamdisk(step, act), at }, deps);
  const stepDone = (last && outcome.follows === undefined) || outcome.rest === 'skip';
  if (!(await deps.inventory.runSteps.end(lock, key, outcome, stepDone)))
    raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  return outcome;
};

/** Begins again if what held the act back is over by then. Throws NodeFrozen, RecoveryPending. */
const beginAct = async (input: Attempted, key: ActKey, deps: BmcDeps): Promise<Begun> => {
  const begun = await deps.inventory.runSteps.begin(input.lock, key, input.step);
  if (!begun.held_back || actRow(input.act).effect === 'read') return begun;
  await refuseFrozen(input, key, deps);
  return beginAct(input, key, deps);
};

/**
 * No command is sent during a freeze or a recovery. The act is scheduled again after a recovery, so this records
 * that an earlier attempt may have sent its command. Throws NodeFrozen, RecoveryPending.
 */
const refuseFrozen = async ({ lock, act }: Attempted, key: ActKey, { inventory }: BmcDeps): Promise<void> => {
  const recovery = await inventory.recovery.current();
  if (recovery && recovery.side !== 'engine' && key.attempt > 1 && actRow(act).effect === 'once')
    await inventory.runSteps.doubt(lock, key);
  if (recovery)
    raise('RecoveryPending', {
      node: (await inventory.runs.find(lock.run))?.node_name ?? lock.node_uuid,
      reason: recovery.reason,
    });
  const freeze = await inventory.freezes.active(lock.node_uuid);
  if (freeze)
    raise('NodeFrozen', {
      node: (await inventory.runs.find(lock.run))?.node_name ?? lock.node_uuid,
      who: freeze.requester.user_name ?? freeze.requester.user_id ?? 'an unnamed caller',
      until: freeze.until ? `until ${freeze.until.toISOString()}` : 'until an operator ends it',
      reason: freeze.reason,
      freeze: freeze.id,
    });
};

/** Resolves secrets, ramdisk and image URLs; `texts` must be hidden. */
const prepared = async (
  found: FoundNode,
  input: Attempted,
  key: ActKey,
  deps: BmcDeps,
): Promise<{ node: BmcNode; args: Record<string, unknown>; texts: readonly string[] }> => {
  const { node: asked, args: given, texts } = await unlocked(found, input.step.args, deps);
  requireOrigins(input, asked, given, deps);
  const { args, secrets } = await withRamdisk(input, key, asked, given, deps);
  const { node, secrets: imageSecrets } = await withImage(input, asked, deps);
  return { node, args, texts: [...texts, ...secrets, ...imageSecrets] };
};
