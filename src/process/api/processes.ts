/**
 * One API on several processes, by node:cluster: the first process listens, hands connections to the others in turn, starts one
 * that ended anew, and answers for all of them: health, metrics, the counts of limits, and the end.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../observe/log';
import type { Counted, Metrics } from '../../observe/metrics';
import type { RuleCounts } from '../policy/policy';
import type { Life } from '../process';
import type { ApiConfig } from '../settings/config';
import { configStatus } from '../settings/fault';
import { createCounts } from './counted-together';
import { closeUntaken } from './handed-over';

/** What the first process asks of another, and what that answers. */
type Question = { readonly temper: 'count' | 'check' | 'alive'; readonly number: number };
type Answer =
  | { readonly temper: 'listening' }
  | { readonly temper: 'living'; readonly number: number }
  /** A policy came into force, whose files hold so many rules. */
  | { readonly temper: 'policy'; readonly rules: readonly (readonly [path: string, rules: number])[] }
  | { readonly temper: 'counted'; readonly number: number; readonly counted: Counted }
  | { readonly temper: 'checked'; readonly number: number; readonly fault: string | null };

// Not one of ours by its name: the settings are checked for names that are none.
const slotSetting = 'API_PROCESS_SLOT';
const rulesSetting = 'API_PROCESS_RULES';
/** Less than those wait who ask the first one: a process that stands still must not take health and metrics of the others with it. */
const answerWithinMs = 2_000;
/** One that stands still is asked so often, and given so long each time, before it is ended. */
const aliveEveryMs = 2_000;
const aliveWithinMs = 10_000;
const mostMissed = 3;
/** One that is started has so many times as long to begin to listen: two minutes, as the chart's startup probe gives a process. */
const mostStarting = 12;
const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** One that lived so long is no sign of a fault that comes at each start. */
const steadyAfterMs = 60_000;

/** Which of several processes this is, from 1 on; undefined where it is the only one, or the first that starts the others. */
export const ownSlot = (): number | undefined => (cluster.isWorker ? Number(process.env[slotSetting]) : undefined);

/** Whether this process starts the others and serves no request itself. */
export const startsOthers = ({ TEMPER_API_PROCESSES }: Pick<ApiConfig, 'TEMPER_API_PROCESSES'>): boolean =>
  cluster.isPrimary && TEMPER_API_PROCESSES > 1;

const shared = [
  'TEMPER_DATABASE_POOL',
  'TEMPER_EVENT_STREAMS',
  'TEMPER_QUOTA_STREAMS',
  'TEMPER_MAX_CONNECTIONS',
  'TEMPER_CONNECTIONS_PER_ADDRESS',
] as const;

/** The settings of one of several processes: what is counted in each is divided by their number, at least one each. */
export const shareOf = (config: ApiConfig): ApiConfig => {
  const { TEMPER_API_PROCESSES: processes } = config;
  const divided = shared.map((name) => [name, config[name] && Math.max(1, Math.floor(config[name] / processes))]);
  return { ...config, ...Object.fromEntries(divided), TEMPER_HEALTH_PORT: undefined, TEMPER_SUPERVISED: '1' };
};

const say = (answer: Answer): void => void process.send!(answer, undefined, undefined, () => {});

/** Has one that is started anew know what the files held: by one that was emptied meanwhile it would decide otherwise than the others. */
export const tellPolicy = (rules: RuleCounts): void => say({ temper: 'policy', rules: [...rules] });

/** What the policy's files held when one of the processes last took them; undefined at the first start. */
export const policyBefore = (): RuleCounts | undefined => {
  const { [rulesSetting]: text } = process.env;
  return text === undefined ? undefined : new Map(JSON.parse(text));
};

const isQuestion = (message: unknown): message is Question =>
  typeof message === 'object' && message !== null && 'temper' in message;

/** Answers what the first process asks. @param check rejects while this process cannot serve */
export const answerFirst = ({ registry }: Pick<Metrics, 'registry'>, check: () => Promise<void>): void => {
  process.on('message', async (message) => {
    if (!isQuestion(message)) return;
    const { temper, number } = message;
    if (temper === 'alive') return say({ temper: 'living', number });
    if (temper === 'count') return say({ temper: 'counted', number, counted: await registry.getMetricsAsJSON() });
    const fault = await check().then(
      () => null,
      (error) => String(error?.message ?? error),
    );
    say({ temper: 'checked', number, fault });
  });
  say({ temper: 'listening' });
};

type Slot = {
  readonly number: number;
  worker: Worker;
  /** Resolves when the process that is in it now listens; false where it ended first. */
  listening: Promise<boolean>;
  counted: Counted;
};

let questions = 0;

/** Asks a process, and waits a short time for its answer. Throws where there is none. */
const ask = <Is extends 'counted' | 'checked' | 'living'>(
  { worker }: Pick<Slot, 'worker'>,
  temper: Question['temper'],
  is: Is,
  withinMs = answerWithinMs,
): Promise<Extract<Answer, { temper: Is }>> =>
  new Promise((done, fail) => {
    questions += 1;
    const number = questions;
    const take = (answer: Answer): void => {
      if (answer?.temper !== is || answer.number !== number) return;
      over();
      done(answer as Extract<Answer, { temper: Is }>);
    };
    const late = setTimeout(() => {
      over();
      fail(new Error(`process ${worker.process.pid} does not answer`));
    }, withinMs);
    const over = (): void => {
      clearTimeout(late);
      worker.off('message', take);
    };
    worker.on('message', take);
    const question: Question = { temper, number };
    worker.process.send(question, undefined, undefined, (error) => {
      if (!error) return;
      over();
      fail(error);
    });
  });

const listens = (worker: Worker): Promise<boolean> =>
  new Promise((done) => {
    worker.on('message', (message: Answer) => {
      if (message?.temper === 'listening') done(true);
    });
    worker.once('exit', () => done(false));
  });

/** Whether a process has begun to listen; undefined where its time is over. Counted in pieces, for this process may have stood still itself. */
const beginsToListen = async ({ listening }: Pick<Slot, 'listening'>): Promise<boolean | undefined> => {
  for (let waited = 0; waited < mostStarting; waited += 1) {
    const begun = await Promise.race([listening, pause(aliveWithinMs, undefined, { ref: false })]);
    if (begun !== undefined) return begun;
  }
  return undefined;
};

/**
 * Ends a process that stands still, however it came to that: it would keep the connections that it has, and be given more. Until its own
 * end, and so while it drains. Misses are counted in a row, for this process may have stood still itself.
 */
const endWhenStill = async (slot: Slot, log: Logger): Promise<void> => {
  const { number, worker } = slot;
  const begun = await beginsToListen(slot);
  if (begun === undefined && !worker.isDead()) {
    log.error('an API process does not begin to listen, it is ended', { api_process: number });
    worker.process.kill('SIGKILL');
  }
  if (!begun) return;
  for (let missed = 0; missed < mostMissed; ) {
    await pause(aliveEveryMs, undefined, { ref: false });
    if (worker.isDead()) return;
    const lives = await ask({ worker }, 'alive', 'living', aliveWithinMs).then(
      () => true,
      () => false,
    );
    missed = lives ? 0 : missed + 1;
  }
  if (worker.isDead()) return;
  log.error('an API process stands still, it is ended', { api_process: number });
  worker.process.kill('SIGKILL');
};

/** Asks all whether they can serve. Throws the fault of one that says it cannot; one that is away is passed over, if another serves. */
const checkAll = async (slots: readonly Slot[]): Promise<void> => {
  const answers = await Promise.allSettled(slots.map((slot) => ask(slot, 'check', 'checked')));
  const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.fault] : []));
  const fault = given.find((one) => one !== null);
  if (fault !== undefined) throw new Error(String(fault));
  if (given.length === 0) throw new Error('none of the API processes answers');
};

/**
 * Runs the processes until the end of this one, which `ends` are called at. Resolves when all of them listen; ends this process with the status of the
 * first one where that does not come so far, for it has said why.
 */
export const runProcesses = async (
  { TEMPER_API_PROCESSES: count }: Pick<ApiConfig, 'TEMPER_API_PROCESSES'>,
  { log, metrics, ends }: { readonly log: Logger; readonly metrics: Metrics; readonly ends: (() => Promise<void>)[] },
  life: Life,
): Promise<void> => {
  const counts = createCounts();
  let rules: string | undefined;
  const begin = (number: number): Pick<Slot, 'worker' | 'listening'> => {
    const worker = cluster.fork({
      [slotSetting]: String(number),
      ...(rules !== undefined && { [rulesSetting]: rules }),
    });
    counts.serve(worker);
    closeUntaken(worker);
    worker.on('message', (message: Answer) => {
      if (message?.temper === 'policy') rules = JSON.stringify(message.rules);
    });
    return { worker, listening: listens(worker) };
  };
  const slots: Slot[] = [];

  /** Starts a process anew as often as it ends, later each time unless it had worked for a while. */
  const keep = async (slot: Slot): Promise<void> => {
    for (let faults = 0; ; ) {
      const since = performance.now();
      const [status, signal] = await once(slot.worker, 'exit');
      if (life.signal.aborted) return;
      faults = performance.now() - since > steadyAfterMs ? 0 : faults + 1;
      log.error('an API process ended, it is started again', { api_process: slot.number, status, signal });
      const ms = faults === 0 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (faults - 1));
      await pause(ms, undefined, { signal: life.signal }).catch(() => {});
      if (life.signal.aborted) return;
      Object.assign(slot, begin(slot.number));
      void endWhenStill({ ...slot }, log);
    }
  };
  ends.push(async () => {
    const there = slots.filter(({ worker }) => !worker.isDead());
    await Promise.all(
      there.map(async ({ worker, listening }) => {
        const ended = once(worker, 'exit');
        // One that does not listen yet answers no request that could be cut off, and may stand still: SIGTERM would not reach it.
        worker.process.kill((await Promise.race([listening, false])) ? 'SIGTERM' : 'SIGKILL');
        await ended;
      }),
    );
  });
  metrics.countToo(async () => {
    const all = await Promise.all(
      slots.map(async (slot) => {
        slot.counted = await ask(slot, 'count', 'counted').then(
          ({ counted }) => counted,
          () => slot.counted,
        );
        return slot.counted;
      }),
    );
    return all.flat();
  });

  // The others follow when the first one listens: what is wrong with the settings is said once.
  for (let number = 1; number <= count; number += 1) {
    const slot: Slot = { number, counted: [], ...begin(number) };
    slots.push(slot);
    void endWhenStill({ ...slot }, log);
    const started = number > 1 || (await slot.listening);
    // Those that are begun now would come too late to be ended with the others.
    if (life.signal.aborted) return;
    if (!started) {
      const status = slot.worker.process.exitCode ?? 1;
      if (status !== configStatus) log.error('the first API process did not start', { status });
      process.exit(status || 1);
    }
    void keep(slot);
  }
  await Promise.all(slots.map(({ listening }) => listening));
  life.ready(() => checkAll(slots));
};
