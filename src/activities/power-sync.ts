/** Power sync: a group's workers probe their nodes in turn, to detect changes outside Temper. */

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
  readonly drivers: readonly string[];
  /** Interval of a node's probes; 0 disables power sync. */
  readonly everyMs: number;
  /** Concurrent probes. */
  readonly workers: number;
  readonly maxFailures: number;
  readonly looked?: (node: DueNode, how: Looked) => void;
  /** Called after every step, even a failed one, with the delay of the oldest due probe. */
  readonly walked?: (behindMs: number) => void;
};

type Looking = PowerSyncOptions & { readonly deps: LookDeps };

const limits = new WeakMap<Driver, ReturnType<typeof pLimit>>();

const whereDriverBears = (driver: Driver | undefined, look: () => Promise<void>): Promise<void> => {
  if (driver?.looksAtOnce === undefined) return look();
  const limit = limits.get(driver) ?? pLimit(driver.looksAtOnce);
  limits.set(driver, limit);
  return limit(look);
};

const sweepEveryMs = 3_600_000;
const enlistsPerInterval = 8;
const claimsPerInterval = 240;
// Minimum pause between queries.
const shortestPauseMs = 100;
// Slots that are claimed again, because another worker's claim may have failed.
const claimedAgain = powerSlots / 64;
// Share of the interval: a silent BMC rests no longer, so that the next probe reaches it.
const longestRest = 0.5;
// Maximum pace of a late worker, so that BMCs get at most twice the usual requests.
const catchUp = 2;

/** Position of a worker in the slots. */
type Walk = {
  /** The first unfinished slot. */
  next: number;
  /** The clock's slot and the process time at the last step. */
  seen: number;
  steppedAt: number;
  /** The last slot that may be claimed. */
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

/** @returns the slot in which places ran out */
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

/** One step towards the clock's slot. @returns whether more is due than fits */
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

/** Delay of the first unfinished slot; grows also while PostgreSQL is unavailable or no place is free. */
const behindOf = (walk: Walk, everyMs: number): number =>
  ((walk.seen - walk.next + 1) * everyMs) / powerSlots + performance.now() - walk.steppedAt;

/** Probes every due node once. */
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
  // Random, so that workers do not run in step.
  return pause(ms * (0.75 + Math.random() / 2), signal);
};

/** Begins with the clock's slot, so that a restart causes no burst. */
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

/** Probes start when due, up to `workers` at once. Failures of PostgreSQL are retried. */
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
