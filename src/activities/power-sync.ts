/** Power sync: the workers of a group look at their nodes' power in turn, so that a button pressed in the aisle is known here. */

import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { Driver } from '../bmc/contract';
import { type DueNode, powerSlots } from '../inventory/nodes/power-sync';
import { passUntil, pause } from '../model/passes';
import { inBatches } from './look-batches';
import { createLookPlaces, type LookPlaces } from './look-places';
import { type LookDeps, type Looked, lookAtPower } from './power-probe';

export type PowerSyncDeps = Omit<LookDeps, 'holder' | 'maxFailures'>;

export type PowerSyncOptions = {
  readonly signal: AbortSignal;
  readonly conductor_group: string;
  /** The drivers that this worker has. */
  readonly drivers: readonly string[];
  /** From one look at a node to the next; 0 switches the whole off. */
  readonly everyMs: number;
  /** The most looks at once. */
  readonly workers: number;
  readonly maxFailures: number;
  /** Called with the end of every read. */
  readonly looked?: (node: DueNode, how: Looked) => void;
  /** Called after every step through the slots, a failed one too, with how long the oldest look that is due has waited. */
  readonly walked?: (behindMs: number) => void;
};

type Looking = PowerSyncOptions & { readonly deps: LookDeps };

const limits = new WeakMap<Driver, ReturnType<typeof pLimit>>();

/** Runs a look when its driver bears one more. */
const whereDriverBears = (driver: Driver | undefined, look: () => Promise<void>): Promise<void> => {
  if (driver?.looksAtOnce === undefined) return look();
  const limit = limits.get(driver) ?? pLimit(driver.looksAtOnce);
  limits.set(driver, limit);
  return limit(look);
};

const sweepEveryMs = 3_600_000;
// New nodes are enlisted so often in an interval, and nodes are claimed so often.
const enlistsPerInterval = 8;
const claimsPerInterval = 240;
// A store that has little to do is not asked more often than that.
const shortestPauseMs = 100;
// What was due in this share of an interval is asked for again: another worker's claim may have failed.
const claimedAgain = powerSlots / 64;
// Of an interval: a BMC that gave no answer is not left alone for longer, so that its node's next look asks it.
const longestRest = 0.5;
// A worker that is behind walks the slots at twice the clock's pace: BMCs never get more than twice the usual requests.
const catchUp = 2;

/** Where a worker is on its way through the slots. */
type Walk = {
  /** The first slot that it has not finished. */
  next: number;
  /** The clock's slot at its last step, and when that was by this process's own clock. */
  seen: number;
  steppedAt: number;
  /** The last slot that it may claim from. */
  reach: number;
};

const lookAt = async (node: DueNode, { deps, signal, looked }: Looking): Promise<void> => {
  if (signal.aborted) return;
  try {
    const how = await lookAtPower(node, deps, signal);
    looked?.(node, how);
  } catch (error) {
    deps.log.warn('power sync: could not keep what was seen', { node_uuid: node.uuid, error });
  }
};

/** Begins looks at what is due in these slots, as many as there are places. @returns the slot in which these were used up */
const lookWithin = async (
  from: number,
  to: number,
  options: Looking,
  places: LookPlaces,
): Promise<number | undefined> => {
  const { deps, everyMs, drivers, conductor_group } = options;
  const limit = places.free();
  const claim = { conductor_group, drivers, from, to, limit, everyMs };
  const due = await deps.inventory.powerSync.claim(claim);
  for (const node of due)
    places.take(node.uuid, () => whereDriverBears(deps.driverOf(node.driver), () => lookAt(node, options)));
  return due.length < limit ? undefined : Math.max(...due.map(({ slot }) => slot));
};

/** One step through the slots, towards the clock's. @returns whether more is due than there are places */
const step = async (walk: Walk, now: number, options: Looking, places: LookPlaces): Promise<boolean> => {
  const oldest = now - powerSlots + 1;
  walk.next = Math.max(walk.next, oldest);
  if (now > walk.seen) walk.reach = Math.min(now, walk.next + catchUp * (now - walk.seen));
  walk.seen = now;
  walk.steppedAt = performance.now();
  if (places.free() === 0) return true;
  const full = await lookWithin(Math.max(walk.next - claimedAgain, oldest), walk.reach, options, places);
  walk.next = full ?? walk.reach + 1;
  return full !== undefined;
};

/** How long the first slot that is not finished has waited: also while the store is away, or no place is free. */
const behindOf = (walk: Walk, everyMs: number): number =>
  ((walk.seen - walk.next + 1) * everyMs) / powerSlots + performance.now() - walk.steppedAt;

/** Looks once at everything that was not looked at for an interval, and waits for the end of all looks. */
export const syncPowerOnce = async (options: Looking): Promise<void> => {
  const { deps, everyMs, signal, conductor_group } = options;
  const places = createLookPlaces(options.workers);
  await deps.inventory.powerSync.enlist(conductor_group);
  const now = await deps.inventory.powerSync.slotNow(everyMs);
  let next: number | undefined = now - powerSlots + 1;
  while (next !== undefined && !signal.aborted) {
    next = await lookWithin(next, now, options, places);
    await places.someFree(1, signal);
  }
  await places.ended();
};

const pauseSpread = (everyMs: number, signal: AbortSignal): Promise<void> => {
  const ms = Math.min(everyMs / enlistsPerInterval, Math.max(shortestPauseMs, everyMs / claimsPerInterval));
  // Not in step with the other workers of the group.
  return pause(ms * (0.75 + Math.random() / 2), signal);
};

/** Walks the slots until `signal` aborts, beginning with the clock's: a worker that starts makes no storm. */
const walkSlots = async (options: Looking, places: LookPlaces): Promise<void> => {
  const { deps, everyMs, signal, conductor_group } = options;
  const { powerSync, bmcLeases } = deps.inventory;
  const began = performance.now();
  let walk: Walk | undefined;
  let [enlistAt, sweepAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const turn = async (): Promise<boolean> => {
    if (performance.now() >= enlistAt) {
      await powerSync.enlist(conductor_group);
      enlistAt = performance.now() + everyMs / enlistsPerInterval;
    }
    if (performance.now() >= sweepAt) {
      await bmcLeases.sweep();
      sweepAt = performance.now() + sweepEveryMs;
    }
    const now = await powerSync.slotNow(everyMs);
    walk ??= { next: now, seen: now - 1, reach: now, steppedAt: began };
    return step(walk, now, options, places);
  };
  const wait = (full = false): Promise<void> => {
    options.walked?.(walk ? behindOf(walk, everyMs) : performance.now() - began);
    return full
      ? places.someFree(Math.ceil(options.workers / enlistsPerInterval), signal)
      : pauseSpread(everyMs, signal);
  };
  await passUntil({ signal, log: deps.log, failing: 'power sync: round failed', wait }, turn);
};

/**
 * Goes on until `signal` aborts. Looks begin when they are due and end one by one, so that as many are under way as the fleet and
 * its BMCs' answers ask for, up to `workers`. What fails because the store is away is tried again.
 */
export const runPowerSync = async (given: PowerSyncDeps, options: PowerSyncOptions): Promise<void> => {
  if (options.everyMs <= 0) return;
  const inventory = inBatches(given.inventory);
  const { maxFailures, everyMs } = options;
  const longestRestMs = everyMs * longestRest;
  const deps: LookDeps = { ...given, inventory, maxFailures, longestRestMs, holder: randomUUID() };
  const places = createLookPlaces(options.workers);
  await walkSlots({ ...options, deps }, places);
  await places.ended();
};
