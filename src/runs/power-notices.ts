/** Sends Nova the power of nodes with an instance. openstack/ironic:ironic/common/nova.py */
import { z } from 'zod';
import type { Inventory } from '../inventory';
import type { PowerNotice } from '../inventory/power-notices';
import type { Attempted } from '../inventory/webhooks';
import type { Log } from '../model/log';
import { passUntil, pause } from '../model/passes';
import { deliveryPauseMs } from '../model/resources/webhooks';

/** Sends external events to the compute service; `down` if no answer came. */
export type AskCompute = (
  body: string,
) => Promise<
  | { readonly is: 'answer'; readonly status: number; readonly body: unknown }
  | { readonly is: 'down'; readonly reason: string }
>;

type NoticeDeps = {
  readonly inventory: Inventory;
  readonly compute: AskCompute;
  readonly log: Pick<Log, 'warn'>;
  readonly onNotice?: (outcome: 'sent' | 'again' | 'failed') => void;
};

/** Notices of one request. */
const atOnce = 100;
/** Longer than a request can take. */
const leaseMs = 60_000;
const longestPauseMs = 60_000;
/** About an hour: after it, Nova has read the power itself. */
export const noticeAttempts = 60;
const lookEveryMs = 1_000;

const tags = { 'power on': 'POWER_ON', 'power off': 'POWER_OFF' } as const satisfies Record<
  PowerNotice['power'],
  string
>;

const Reply = z.object({ events: z.array(z.object({ server_uuid: z.string(), code: z.number() })) });

type Verdict = { readonly status: number | null; readonly error: string | null; readonly final?: true };

/** A repeat gets the same: 404 for a server that Nova does not know, 400 for an event that it cannot read. */
const finalCodes: readonly number[] = [400, 404];

const verdictOf = (code: number): Verdict => {
  if (code < 400) return { status: code, error: null };
  return {
    status: code,
    error: `Nova answered ${code} for the server.`,
    ...(finalCodes.includes(code) && { final: true }),
  };
};

/** The verdict on each server; one without an outcome in the answer is tried again. */
const ask = async (notices: readonly PowerNotice[], compute: AskCompute): Promise<(server: string) => Verdict> => {
  const powers = new Map(notices.map(({ server, power }) => [server, power]));
  const events = [...powers].map(([server_uuid, power]) => ({ name: 'power-update', server_uuid, tag: tags[power] }));
  const body = JSON.stringify({ events });
  const answer = await compute(body);
  if (answer.is === 'down') return () => ({ status: null, error: answer.reason });
  const { status } = answer;
  if (status !== 200 && status !== 207) return () => ({ status, error: `Nova answered ${status}.` });
  const read = Reply.safeParse(answer.body);
  const codes = new Map((read.success ? read.data.events : []).map((event) => [event.server_uuid, event.code]));
  return (server) => {
    const code = codes.get(server);
    return code === undefined ? { status, error: `Nova answered ${status} without an outcome.` } : verdictOf(code);
  };
};

const attemptedOf = ({ status, error, final }: Verdict, attempts: number): Attempted => {
  if (error === null) return { state: 'delivered', status, error, waitMs: 0 };
  if (final || attempts >= noticeAttempts) return { state: 'failed', status, error, waitMs: 0 };
  return { state: 'pending', status, error, waitMs: Math.min(deliveryPauseMs(attempts), longestPauseMs) };
};

const noticeOutcomes = { delivered: 'sent', pending: 'again', failed: 'failed' } as const;

/** Sends all due notices in one request. @returns the text of a failure, and whether any was due */
export const notifyOnce = async (deps: NoticeDeps): Promise<{ readonly busy: boolean; readonly error?: string }> => {
  const notices = await deps.inventory.powerNotices.takeDue({ limit: atOnce, leaseMs });
  if (notices.length === 0) return { busy: false };
  const verdict = await ask(notices, deps.compute);
  let error: string | undefined;
  for (const { id, server, power, attempts } of notices) {
    const attempted = attemptedOf(verdict(server), attempts);
    await deps.inventory.powerNotices.attempted(id, power, attempted);
    deps.onNotice?.(noticeOutcomes[attempted.state]);
    if (attempted.state === 'pending') error = attempted.error ?? undefined;
  }
  return { busy: true, ...(error !== undefined && { error }) };
};

export const runPowerNotices = (deps: NoticeDeps, { signal }: { readonly signal: AbortSignal }): Promise<void> => {
  const wait = (busy = false): Promise<void> => pause(busy ? lookEveryMs / 10 : lookEveryMs, signal);
  const failing = 'power notices cannot be sent to Nova now';
  return passUntil({ signal, log: deps.log, failing, wait }, async () => {
    const { busy, error } = await notifyOnce(deps);
    // Logged once, until it goes well again.
    if (error !== undefined) throw new Error(error);
    return busy;
  });
};
