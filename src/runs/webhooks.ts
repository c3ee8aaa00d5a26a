/** Events: one reader per installation counts them and delivers them to webhooks. The rows are the queue. */

import type { Inventory } from '../inventory';
import type { SeenEvent } from '../inventory/event-pages';
import type { CountedEvent } from '../inventory/feed';
import type { Vault } from '../inventory/secrets/vault';
import type { Attempted, DueDelivery } from '../inventory/webhooks';
import { maskSecrets } from '../model/access/secrets';
import { isTemperError } from '../model/errors';
import type { NodeUuid, ProjectId, RunUuid } from '../model/ids';
import type { Log } from '../model/log';
import { passUntil, pause } from '../model/passes';
import { cloudEventOf, deliveryAttempts, deliveryPauseMs } from '../model/resources/webhooks';
import { type SenderDeps, sendWebhook } from './webhook-sender';

/** Rights of projects, by the policy in force. */
export type ProjectRights = {
  /** False while this process may not decide; their deliveries wait. */
  ready(): Promise<boolean>;
  /** The event as readers of the project see it; undefined if they may not. */
  view(project: ProjectId, event: SeenEvent): Readonly<Record<string, unknown>> | undefined;
};

export type NotifyDeps = SenderDeps & {
  readonly inventory: Inventory;
  /** Absent if the installation has no webhooks. */
  readonly vault?: Vault;
  readonly log: Log;
  /** Absent if no project gets deliveries. */
  readonly projects?: ProjectRights;
  /** Default seven. */
  readonly logDays?: number;
  /** Called once per event in the whole installation. */
  readonly onEvent?: (event: CountedEvent) => void;
  readonly onDelivery?: (outcome: 'delivered' | 'again' | 'failed', ms: number) => void;
  /** True if changes of power become notices for Nova (`power-notices.ts`). */
  readonly notifiesPower?: boolean;
};

const deliveriesAtOnce = 500;
/** Attempts that a pass begins, in total and per webhook. */
const width = { limit: 16, each: 4 } as const;
/** Attempts at once; most of them wait for silent receivers. */
const mostUnderWay = 160;
/** Longer than an attempt can take. */
const leaseMs = 60_000;
const logDays = 7;
/** Deliveries deleted per transaction. */
const forgottenAtOnce = 5_000;
const everyMs = 1_000;
const sweepEveryMs = 3_600_000;

/** Reads until no event is left or another process is reading. @returns how many */
export const readEvents = async (
  { inventory, onEvent, notifiesPower }: Pick<NotifyDeps, 'inventory' | 'onEvent' | 'notifiesPower'>,
  signal?: AbortSignal,
): Promise<number> => {
  let read = 0;
  while (!signal?.aborted) {
    const rows = await inventory.transaction(async (store) => {
      const taken = (await store.feed.take(deliveriesAtOnce)) ?? [];
      await store.webhooks.enqueue(taken);
      if (notifiesPower) await store.powerNotices.enqueue(taken);
      return taken;
    });
    for (const row of rows) onEvent?.(row);
    read += rows.length;
    if (rows.length < deliveriesAtOnce) break;
  }
  return read;
};

const pending = { state: 'pending', status: null, waitMs: 0 } as const;

const isSuccess = (status: number | null): boolean => Math.trunc((status ?? 0) / 100) === 2;

/** Texts of connection errors contain addresses only, never the URL's path. */
const judged = (attempts: number, status: number | null, error: string | null): Attempted => {
  if (isSuccess(status)) return { ...pending, state: 'delivered', status, error: null };
  const says = error ?? `The receiver answered ${status}.`;
  if (attempts >= deliveryAttempts) return { ...pending, state: 'failed', status, error: says };
  return { ...pending, status, error: says, waitMs: deliveryPauseMs(attempts) };
};

const reasonOf = (thrown: unknown): string => {
  if (isTemperError(thrown)) return thrown.message;
  const { code, name, message } = thrown as NodeJS.ErrnoException;
  return name === 'TimeoutError' || name === 'AbortError' ? 'The receiver did not answer in time.' : (code ?? message);
};

const outcomes = { delivered: 'delivered', pending: 'again', failed: 'failed' } as const;

const seenOf = ({ event, seen, project }: DueDelivery): SeenEvent => ({
  ...seen,
  tx: '0',
  seq: event.seq,
  at: new Date(event.at),
  kind: event.kind,
  node_uuid: event.node_uuid as NodeUuid | null,
  run_id: event.run_id as RunUuid | null,
  project,
  lessee: null,
  data: event.data,
});

/** The event as the webhook's project may read it now; undefined if it may not. */
const dataFor = (due: DueDelivery, projects: ProjectRights | undefined) => {
  if (due.project === null) return maskSecrets(due.event);
  const view = projects?.view(due.project, seenOf(due));
  return view && { ...view, node_name: due.event.node_name };
};

const deliveryBody = (due: DueDelivery, projects: ProjectRights | undefined): string | undefined => {
  const { seq, kind: type, at: time, node_uuid: subject } = due.event;
  const data = dataFor(due, projects);
  return data && cloudEventOf({ id: String(seq), type, time, subject, data });
};

const deliverOne = async (due: DueDelivery, vault: Vault, deps: NotifyDeps, signal: AbortSignal): Promise<void> => {
  const began = performance.now();
  let attempted: Attempted;
  try {
    const body = deliveryBody(due, deps.projects);
    if (body === undefined) return await deps.inventory.webhooks.withdraw(due.id);
    const secret = String(vault.open(due.secret));
    const message = { url: due.url, delivery: due.uuid, body, secret };
    attempted = judged(due.attempts, await sendWebhook(message, deps, signal), null);
  } catch (thrown) {
    // The process is stopping; after the lease, another one tries.
    if (signal.aborted) return;
    attempted = judged(due.attempts, null, reasonOf(thrown));
  }
  await deps.inventory.webhooks.attempted(due.id, attempted);
  deps.onDelivery?.(outcomes[attempted.state], performance.now() - began);
};

/** Attempts that a pass did not wait for, with their webhooks. */
type UnderWay = Map<Promise<void>, string>;

/** Resolves after `ms` at the latest; rejects if the work rejects before. */
const within = (work: Promise<unknown>, ms: number): Promise<void> =>
  new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    work.then(() => done(), fail).finally(() => clearTimeout(timer));
  });

/**
 * Tries due deliveries. A webhook has one attempt at a time, so that a silent receiver delays no other.
 * @returns how many were tried
 */
const deliverDue = async (
  deps: NotifyDeps,
  signal: AbortSignal,
  underWay: UnderWay,
  waitMs: number,
): Promise<number> => {
  const { vault } = deps;
  if (!vault) return 0;
  const ofProjects = (await deps.projects?.ready()) ?? false;
  const limit = Math.min(width.limit, mostUnderWay - underWay.size);
  const taken = { ...width, limit, leaseMs, ofProjects, except: new Set(underWay.values()) };
  const due = await deps.inventory.webhooks.takeDue(taken);
  const begun = due.map((one) => {
    const attempt = deliverOne(one, vault, deps, signal).finally(() => underWay.delete(attempt));
    underWay.set(attempt, one.webhook);
    return attempt;
  });
  const all = Promise.all(begun);
  all.catch(() => {}); // a later failure is retried when its lease expires
  await within(all, waitMs);
  return due.length;
};

/**
 * @returns whether there was anything to do, or attempts are under way
 * @param waitMs maximum wait for attempts; slower ones stay in `underWay`
 */
export const deliverOnce = async (
  deps: NotifyDeps,
  signal: AbortSignal,
  { underWay = new Map(), waitMs = leaseMs }: { underWay?: UnderWay; waitMs?: number } = {},
): Promise<boolean> => {
  const read = await readEvents(deps, signal);
  return (await deliverDue(deps, signal, underWay, waitMs)) + read + underWay.size > 0;
};

/** Deletes expired deliveries in batches. @returns how many */
export const forgetDeliveries = async (
  { inventory, logDays: days = logDays }: Pick<NotifyDeps, 'inventory' | 'logDays'>,
  signal?: AbortSignal,
): Promise<number> => {
  let all = 0;
  while (!signal?.aborted) {
    const gone = await inventory.webhooks.forget(days, forgottenAtOnce);
    all += gone;
    if (!(gone >= forgottenAtOnce)) break;
  }
  return all;
};

export const runWebhookDelivery = async (deps: NotifyDeps, { signal }: { signal: AbortSignal }): Promise<void> => {
  const underWay: UnderWay = new Map();
  let sweepAt = Number.NEGATIVE_INFINITY;
  const wait = (busy = false) => pause(busy ? everyMs / 10 : everyMs, signal);
  await passUntil({ signal, log: deps.log, failing: 'events cannot be delivered now', wait }, async () => {
    // A short wait: a silent receiver is in nearly every pass, and the others' next attempts come after it.
    const busy = await deliverOnce(deps, signal, { underWay, waitMs: everyMs / 10 });
    if (performance.now() >= sweepAt) {
      await forgetDeliveries(deps, signal);
      sweepAt = performance.now() + sweepEveryMs;
    }
    return busy;
  });
  await Promise.allSettled(underWay.keys());
};
