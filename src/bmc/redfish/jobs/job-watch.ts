/** Watch of an accepted command, until its effect shows. Its task is only a hint. */
import { type ErrorCode, isTemperError, raise } from '../../../model/errors';
import { backOff, pause } from '../../wait';
import { restartHost, wasRestarted } from '../acts/restart';
import { plainFacts } from '../transport/plain-urls';
import { type Job, type JobContext, tryRead } from './job';
import type { LedgerEntry } from './ledger-times';
import { newTask, progressOf } from './tasks';
import type { JobProgress } from './vendor-jobs';

/** The limit ends before Temporal's startToClose timeout cuts the attempt short. */
const limitOf = ({ client }: JobContext, job: Job): number =>
  Math.min(job.limitMs, (client.context.timing.limits?.once?.startToCloseMs ?? Number.POSITIVE_INFINITY) * 0.9);

/** Time for an effect after the task has ended or was lost. */
const graceMs = ({ client }: JobContext): number => client.context.timing.softPowerTimeoutMs;

const endJob = async (
  context: JobContext,
  job: Job,
  code: ErrorCode,
  more: Record<string, unknown>,
): Promise<never> => {
  const { client, ledger } = context;
  const facts = client.facts({ what: job.key, step: job.key, ...plainFacts(more) });
  const entry = ledger.job(job.key)!;
  await ledger.putJob(job.key, { ...entry, is: 'ended', verdict: { code, facts, attempt: client.context.attempt } });
  return raise(code, facts);
};

export const update = async ({ ledger }: JobContext, job: Job, change: Partial<LedgerEntry>): Promise<void> =>
  ledger.putJob(job.key, { ...ledger.job(job.key)!, ...change });

type Watch = {
  readonly context: JobContext;
  readonly job: Job;
  readonly wave: string;
  waitingSince?: number;
  doubts: number;
};

const restart = async ({ context, job, wave }: Watch): Promise<void> => {
  const { client, ledger } = context;
  client.context.log.info('restarting the host', { what: job.key });
  await restartHost(client, ledger, wave);
  // The effect can appear only after the restart.
  if (ledger.job(job.key)?.over !== undefined) await update(context, job, { over: performance.now() });
};

const wantsRestart = (watch: Watch, { waits, state }: Extract<JobProgress, { is: 'running' }>): boolean => {
  const { context, job, wave } = watch;
  const { timing } = context.client.context;
  if (job.restart === 'never' || wasRestarted(context.ledger, wave)) return false;
  watch.waitingSince = waits ? (watch.waitingSince ?? performance.now()) : undefined;
  if (waits) return performance.now() - watch.waitingSince! >= (job.waitMs ?? 0);
  // A job that is not scheduled yet would miss the restart.
  const young = state.startsWith('New') && performance.now() - context.ledger.job(job.key)!.sent < timing.settleMs;
  return job.restart === 'surely' && !young;
};

const whileRunning = async (watch: Watch, progress: Extract<JobProgress, { is: 'running' }>): Promise<void> => {
  const { context, job } = watch;
  const { sent, over } = context.ledger.job(job.key)!;
  // A lost task may be found again.
  if (progress.learnt || over !== undefined) await update(context, job, { ...progress.learnt, over: undefined });
  if (wantsRestart(watch, progress)) await restart(watch);
  if (performance.now() - sent >= limitOf(context, job))
    await whenEndless(watch, performance.now() - sent, progress.state);
};

/** A task without an end may still have done its work. */
const whenEndless = async ({ context, job }: Watch, ageMs: number, seen: string): Promise<void> => {
  const { shows } = await job.effect(context.ledger.job(job.key)!.before, false);
  if (!shows) return endJob(context, job, 'BmcJobEndless', { minutes: Math.round(ageMs / 60_000), seen });
  await job.after?.();
  await update(context, job, { is: 'done' });
};

/** A 500 may mean a failed command or a busy BMC; three in a row count as failure. */
const whenFailed = async (watch: Watch, { reason, unsure }: Extract<JobProgress, { is: 'failed' }>): Promise<void> => {
  watch.doubts += 1;
  if (!unsure || watch.doubts >= 3) await endJob(watch.context, watch.job, 'BmcJobFailed', { reason });
};

const endWithout = async (watch: Watch, endedWell: boolean, seen: string): Promise<never> =>
  endedWell
    ? endJob(watch.context, watch.job, 'BmcJobFailed', { reason: `its task ended well, but the BMC shows ${seen}` })
    : endJob(watch.context, watch.job, 'StepOutcomeUnknown', {
        reason: `no record of its task remains, and the BMC shows ${seen}`,
      });

const restartHelps = ({ context, job, wave }: Watch, endedWell: boolean, waits: boolean): boolean => {
  const { is, over } = context.ledger.job(job.key)!;
  if (wasRestarted(context.ledger, wave)) return false;
  if (job.restart === 'surely') return is === 'accepted';
  // A late effect may need no restart.
  const lags = over === undefined || performance.now() - over < context.client.context.timing.settleMs;
  return job.restart === 'if it waits' && endedWell && (waits || !lags);
};

/** The task has ended or is lost, so only the effect counts. */
const whenOver = async (watch: Watch, well: boolean, waits = false): Promise<void> => {
  const { context, job } = watch;
  const { client, ledger } = context;
  const entry = ledger.job(job.key)!;
  const endedWell = well || entry.well === true;
  // Some BMCs list a new task only after a moment.
  const early = !endedWell && performance.now() - entry.sent < client.context.timing.settleMs;
  if (entry.over === undefined && !early)
    await update(context, job, { over: performance.now(), ...(endedWell && { well: true }) });
  const effect = await tryRead(client, job.away ?? false, () => job.effect(entry.before, endedWell));
  if (isTemperError(effect)) return overdue(watch, endedWell, `nothing (${effect.message})`);
  if (effect.shows) {
    await job.after?.();
    return update(context, job, { is: 'done' });
  }
  if (!early && restartHelps(watch, endedWell, waits)) return restart(watch);
  return overdue(watch, endedWell, effect.seen);
};

const overdue = async (watch: Watch, endedWell: boolean, seen: string): Promise<void> => {
  const over = watch.context.ledger.job(watch.job.key)!.over;
  if (over !== undefined && performance.now() - over >= graceMs(watch.context))
    await endWithout(watch, endedWell, seen);
};

/** If no answer named the task, a new one in the BMC's list is used. */
const readProgress = async ({ context, job }: Watch): Promise<JobProgress> => {
  const { client, ledger } = context;
  const entry = ledger.job(job.key)!;
  if (entry.final) return { is: 'done' };
  const named = entry.monitor ?? entry.task;
  const progress: JobProgress = named ? await progressOf(client, entry) : { is: 'lost' };
  // A monitor may succeed although its task failed.
  const enough = entry.task !== undefined || (named !== undefined && progress.is !== 'done');
  const task = enough || !ledger.isLatest(job.key) ? undefined : await newTask(client, entry);
  if (task === undefined) return progress;
  await update(context, job, { is: 'accepted', task });
  return progressOf(client, ledger.job(job.key)!);
};

const followJob = async (watch: Watch, progress: JobProgress): Promise<void> => {
  if (progress.is !== 'failed') watch.doubts = 0;
  switch (progress.is) {
    case 'running':
      return whileRunning(watch, progress);
    case 'failed':
      return whenFailed(watch, progress);
    case 'done':
      return whenOver(watch, true, progress.waits);
    case 'lost':
      return whenOver(watch, false);
    case 'unreadable': {
      const { context, job } = watch;
      if (performance.now() - context.ledger.job(job.key)!.sent >= limitOf(context, job))
        await endJob(context, job, 'StepOutcomeUnknown', { reason: progress.error.message });
    }
  }
};

/** Honours Retry-After within 2 to 60 times the first pause. */
const pauseFor = (pollMs: number, askedMs: number | undefined, usual: number): number =>
  askedMs === undefined ? usual : Math.min(Math.max(askedMs, 2 * pollMs), 60 * pollMs);

/** `wave` names the restart that it shares with other jobs. */
export const watchUntilDone = async (watch: Watch): Promise<void> => {
  const { client, ledger } = watch.context;
  const { timing, signal, beat } = client.context;
  const nextPause = backOff(timing.pollMs * 2);
  while (ledger.job(watch.job.key)?.is !== 'done') {
    const seen = await tryRead(client, watch.job.away ?? false, () => readProgress(watch));
    const progress: JobProgress = isTemperError(seen) ? { is: 'unreadable', error: seen } : seen;
    const { monitor, task } = ledger.job(watch.job.key)!;
    const state = progress.is === 'running' ? progress.state : progress.is;
    beat({ what: watch.job.key, doing: 'waiting', state, task: task ?? monitor });
    await followJob(watch, progress);
    if (ledger.job(watch.job.key)?.is === 'done') return;
    await pause(pauseFor(timing.pollMs, progress.is === 'running' ? progress.pauseMs : undefined, nextPause()), signal);
  }
};
