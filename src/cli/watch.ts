/** `temper runs watch`: prints the events of a run until it ends, through lost connections and servers without a stream. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventsOf } from '../model/event-streams';
import { endedStates } from '../model/runs/runs';
import type { Context } from './context';
import { CliFault, exits } from './faults';
import { type Progress, startProgress } from './progress';
import type { Run, Step } from './run-texts';
import { jsonText, plainText } from './tables';

/** An event of a run as the stream has it. */
type RunEvent = { readonly at: string; readonly kind: string; readonly data: Readonly<Record<string, unknown>> };

const firstPauseMs = 1_000;
const longestReconnectMs = 30_000;
const pollMs = 2_000;

const hasEnded = ({ state }: Run): boolean => (endedStates as readonly string[]).includes(state);

// What an event's data may say, in the order in which it is read.
const spoken = ['index', 'step', 'act', 'attempt', 'from', 'to', 'note', 'error', 'reason', 'by'] as const;

const line = (at: string, what: string, data: Readonly<Record<string, unknown>>): string => {
  const facts = spoken.filter((key) => data[key] !== undefined && data[key] !== null);
  return `${plainText(at)}  ${plainText(what).padEnd(14)} ${facts.map((key) => `${key}=${plainText(data[key])}`).join(' ')}`.trimEnd();
};

const printEvent = ({ hands, json }: Context, event: RunEvent, progress?: Progress): void => {
  const text = json ? jsonText(event) : line(event.at, event.kind, event.data);
  if (progress) progress.say(text);
  else hands.out(`${text}\n`);
};

const parsedEvent = (text: string): RunEvent | undefined => {
  try {
    const event = JSON.parse(text);
    return typeof event?.kind === 'string' ? { ...event, data: event.data ?? {} } : undefined;
  } catch {
    return undefined; // not from our API; the run's own state decides when to stop
  }
};

type Streamed = 'no stream' | 'cut off' | 'over';

/** What one watching knows: the run, the last event that was printed, and the bar where there is a terminal. */
type Watch = { readonly run: string; place: string | null; readonly progress: Progress | undefined };

const readRun = async ({ api }: Context, { run, progress }: Watch): Promise<Run> => {
  const now = (await api.send('GET', `/temper/v1/runs/${run}`)) as Run;
  progress?.show(now);
  return now;
};

/** Follows one connection. */
const stream = async (context: Context, watch: Watch): Promise<Streamed> => {
  const headers = { accept: 'text/event-stream', ...(watch.place !== null && { 'last-event-id': watch.place }) };
  const reply = await context.api.open(`/temper/v1/runs/${watch.run}/events`, headers);
  if (reply.status === 404) return 'no stream';
  if (reply.status === 204) return 'over';
  if (!reply.ok || !reply.body) return context.api.refusal(reply);
  try {
    for await (const { id, data } of eventsOf(reply.body as unknown as AsyncIterable<Uint8Array>)) {
      const event = parsedEvent(data);
      if (event) printEvent(context, event, watch.progress);
      watch.place = id ?? watch.place;
      if (event && watch.progress) await readRun(context, watch);
    }
  } catch (thrown) {
    context.hands.signal.throwIfAborted();
    // A refusal is not the stream's.
    if (thrown instanceof CliFault && thrown.exit !== 'unreachable') throw thrown;
    warn(context, watch, `The stream was cut off (${plainText((thrown as Error).message)}); taking it up again.`);
  }
  return 'cut off';
};

const warn = ({ hands }: Context, { progress }: Watch, text: string): void => {
  if (progress) progress.say(text);
  else hands.err(`${text}\n`);
};

const stepNow = (run: Run): Step | undefined => run.steps?.[run.cursor];

const pictureOf = (run: Run): string =>
  JSON.stringify([
    run.state,
    run.cursor,
    run.waiting_for,
    stepNow(run)?.state,
    stepNow(run)?.act,
    stepNow(run)?.attempt,
  ]);

/** Prints what changed between reads, for a server that has no stream. */
const poll = async (context: Context, watch: Watch): Promise<void> => {
  for (let known = ''; ; ) {
    const now = await readRun(context, watch);
    const picture = pictureOf(now);
    if (picture !== known) printEvent(context, seenAs(now), watch.progress);
    known = picture;
    if (hasEnded(now)) return;
    await sleep(pollMs, undefined, { signal: context.hands.signal });
  }
};

const seenAs = (run: Run): RunEvent => {
  const step = stepNow(run);
  const name = step && `${step.interface}.${step.step}`;
  const error = step?.last_error ?? run.last_error;
  return {
    at: new Date().toISOString(),
    kind: `run.${run.state}`,
    data: { index: step?.index, step: name, act: step?.act, attempt: step?.attempt, note: run.waiting_for, error },
  };
};

const mayPass = (thrown: unknown): boolean => thrown instanceof CliFault && thrown.exit === 'unreachable';

/** One connection and what is known after it; a server that is away for a moment is asked again. */
const followRun = async (context: Context, watch: Watch): Promise<Streamed> => {
  try {
    const streamed = await stream(context, watch);
    if (streamed !== 'cut off') return streamed;
    return hasEnded(await readRun(context, watch)) ? 'over' : 'cut off';
  } catch (thrown) {
    if (!mayPass(thrown)) throw thrown;
    warn(context, watch, `${plainText((thrown as Error).message)} Trying again.`);
    return 'cut off';
  }
};

/** Follows through lost connections, until the run has ended. */
const followToEnd = async (context: Context, watch: Watch): Promise<Run> => {
  for (let pauseMs = firstPauseMs; ; ) {
    const before = watch.place;
    const streamed = await followRun(context, watch);
    if (streamed === 'no stream') await poll(context, watch);
    if (streamed !== 'cut off') return readRun(context, watch);
    pauseMs = watch.place === before ? Math.min(pauseMs * 2, longestReconnectMs) : firstPauseMs;
    await sleep(pauseMs, undefined, { signal: context.hands.signal });
  }
};

/**
 * Prints events until the run has ended, on a terminal with a bar below them. The exit status says whether it succeeded.
 * @param ident UUID of the run
 */
export const watchRun = async (context: Context, ident: string): Promise<void> => {
  const { terminal } = context.hands;
  const { uuid } = await readRun(context, { run: encodeURIComponent(ident), place: null, progress: undefined });
  const progress = terminal && !context.json ? startProgress(terminal) : undefined;
  const watch: Watch = { run: uuid, place: null, progress };
  const run = await (progress ? readRun(context, watch) : Promise.resolve())
    .then(() => followToEnd(context, watch))
    .finally(() => progress?.close());
  if (!context.json)
    context.hands.out(
      `The run ended: ${plainText(run.state)}${run.last_error ? `: ${plainText(run.last_error)}` : ''}\n`,
    );
  context.end(run.state === 'succeeded' ? exits.ok : exits.refused);
};
