/** Power probe of one node. A BMC that stays silent sets maintenance. */

import type { ActContext, Driver } from '../bmc/contract';
import type { Lanes } from '../bmc/lane';
import type { Inventory } from '../inventory';
import type { DueNode, SyncedNode } from '../inventory/nodes/power-sync';
import type { Opener } from '../inventory/secrets/sealing';
import { shownMessage } from '../model/access/secrets';
import { type ErrorCode, isTemperError, raise } from '../model/errors';
import type { RunUuid } from '../model/ids';
import type { PowerState } from '../model/lifecycle/states';
import type { Log } from '../model/log';
import { doneWithin } from '../model/signals';
import { hiddenError } from './act-outcome';
import { inLane } from './lease';
import { unlocked } from './secrets';

export type LookDeps = {
  readonly inventory: Inventory;
  readonly vault: Opener;
  readonly driverOf: (name: string) => Driver | undefined;
  readonly lanes: Lanes;
  readonly log: Log;
  /** Holder of leases, different from every activity's. */
  readonly holder: string;
  /** Restores the recorded state; absent if not configured. */
  readonly impose?: (node: DueNode, state: PowerState) => Promise<void>;
  /** Limits the rest of a BMC after a failed probe, so that the next probe reaches it. */
  readonly longestRestMs?: number;
  /** Consecutive failures before maintenance. */
  readonly maxFailures: number;
};

export type Looked = 'same' | 'changed' | 'imposed' | 'unknown' | 'skipped' | 'failed' | 'faulted';

// A longer probe fails, so that a silent BMC does not occupy its slot for minutes.
const lookMs = 45_000;
// Shorter after a fault: a power feed failure silences thousands at once.
const darkLookMs = 20_000;
const longestReason = 500;

// Another worker uses the BMC, or the BMC is busy: neither a power state nor a failure.
const noVerdict: readonly ErrorCode[] = ['BmcLeaseHeld', 'BmcBusy'];

class LaneBusy extends Error {}
// One instance, because each new error costs its stack trace.
const laneBusy = new LaneBusy();

/** Ends the wait for a lane that this process uses, because waiting behind a run would delay other probes. */
const onlyIfFree = (): AbortSignal => {
  const deadline = new AbortController();
  // A free lane is entered before the next event loop turn; an act that still waits then gives up.
  setImmediate(() => deadline.abort(laneBusy));
  return deadline.signal;
};

const timing = { powerTimeoutMs: lookMs, softPowerTimeoutMs: lookMs, settleMs: lookMs, pollMs: 1_000 };

const probeContext = (node: DueNode, signal: AbortSignal): ActContext => ({
  run: node.uuid as string as RunUuid, // no run; logs need an id
  attempt: 1,
  signal,
  beat: () => {},
  intents: {
    last: async () => undefined,
    record: async () => raise('Unexpected', { request_id: 'a look writes nothing' }),
    renew: async () => raise('Unexpected', { request_id: 'a look writes nothing' }),
  },
  mayStillSend: () => false,
  timing,
  log: { info() {}, warn() {} },
});

/** Throws errors of the list, without secrets. */
const readPower = async (node: DueNode, deps: LookDeps, signal: AbortSignal): Promise<PowerState | null> => {
  const driver = deps.driverOf(node.driver);
  const look = driver?.acts.verify ?? raise('DriverUnsupported', { driver: node.driver, what: 'looking at power' });
  const { node: open, texts } = await unlocked(node, undefined, deps);
  const lane = driver!.laneKey(open);
  const read = async (within: AbortSignal) =>
    (await look(open, { only: 'power' }, probeContext(node, within))).seen?.power_state ?? null;
  const work = () => doneWithin(signal, node.fault === null ? lookMs : darkLookMs, read);
  try {
    const { inventory, lanes, holder, longestRestMs } = deps;
    return await inLane({ inventory, lanes }, { lane, holder, signal: onlyIfFree(), longestRestMs }, work);
  } catch (thrown) {
    throw hiddenError(thrown, texts);
  }
};

/** Clears also what power sync set after a failure. */
const afterLook = (node: SyncedNode, seen: PowerState): Partial<SyncedNode> => {
  const failed = node.fault === 'power failure';
  const ours = failed && node.reason !== null;
  return {
    ...(node.power_state !== seen && { power_state: seen }),
    ...(failed && { fault: null }),
    ...(ours && node.last_error === node.reason && { last_error: null }),
    ...(ours && node.maintenance_reason === node.reason && { maintenance: false, maintenance_reason: null }),
  };
};

const recordSeen = async (node: DueNode, seen: PowerState, { inventory }: LookDeps): Promise<Looked> =>
  inventory.transaction(async (store) => {
    const now = await store.powerSync.hold(node.uuid);
    // The record is newer than this read.
    if (!now || now.power_state !== node.power_state) return 'skipped';
    const changes = afterLook(now, seen);
    if (Object.keys(changes).length > 0) await store.powerSync.change(node.uuid, changes);
    await store.powerSync.settle(node.uuid, null);
    const { owner: project, lessee } = now;
    const subject = { node_uuid: node.uuid, project, lessee };
    if (changes.power_state)
      await store.events.append({
        ...subject,
        kind: 'node.power',
        data: { from: now.power_state, to: seen, by: 'power sync' },
      });
    if (changes.maintenance === false)
      await store.events.append({
        ...subject,
        kind: 'node.maintenance.cleared',
        data: { maintenance: false, by: 'power sync' },
      });
    return changes.power_state ? 'changed' : 'same';
  });

const saw = async (node: DueNode, seen: PowerState, deps: LookDeps): Promise<Looked> => {
  const known = node.power_state === 'power on' || node.power_state === 'power off';
  if (node.power_state === seen && node.fault === null) {
    if (node.failures > 0) await deps.inventory.powerSync.settle(node.uuid, null);
    return 'same';
  }
  if (deps.impose && known && node.fault === null && node.power_state !== seen) {
    await deps.impose(node, node.power_state);
    return 'imposed';
  }
  return recordSeen(node, seen, deps);
};

const takeOut = async (node: DueNode, reason: string, { inventory }: LookDeps): Promise<Looked> =>
  inventory.transaction(async (store) => {
    const now = await store.powerSync.hold(node.uuid);
    if (!now || now.maintenance) return 'skipped';
    await store.powerSync.change(node.uuid, {
      power_state: 'error',
      maintenance: true,
      maintenance_reason: reason,
      fault: 'power failure',
      last_error: reason,
    });
    await store.powerSync.settle(node.uuid, reason);
    await store.events.append({
      kind: 'node.maintenance.set',
      node_uuid: node.uuid,
      project: now.owner,
      lessee: now.lessee,
      data: { maintenance: true, maintenance_reason: reason, fault: 'power failure', error: reason, by: 'power sync' },
    });
    return 'faulted';
  });

const probeFailed = async (node: DueNode, thrown: unknown, deps: LookDeps): Promise<Looked> => {
  const says = shownMessage(thrown, longestReason);
  deps.log.warn('power sync: look failed', { node_uuid: node.uuid, reason: says });
  if (node.fault !== null) return 'failed';
  const failures = await deps.inventory.powerSync.failed(node.uuid);
  if (failures < deps.maxFailures) return 'failed';
  return takeOut(node, `Power sync failed ${failures} times in a row: ${says}`, deps);
};

/** Throws only database errors. */
export const lookAtPower = async (node: DueNode, deps: LookDeps, signal: AbortSignal): Promise<Looked> => {
  let seen: PowerState | null;
  try {
    seen = await readPower(node, deps, signal);
  } catch (thrown) {
    if (thrown instanceof LaneBusy || signal.aborted) return 'skipped';
    if (isTemperError(thrown) && noVerdict.includes(thrown.code)) return 'skipped';
    return probeFailed(node, thrown, deps);
  }
  return seen === null ? 'unknown' : saw(node, seen, deps);
};
