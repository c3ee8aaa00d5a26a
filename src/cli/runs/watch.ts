/** `temper runs watch`: prints events until a run ends, across lost connections. */

import type { Run } from '../../wire/runs';
import { follow } from '../access/follow';
import type { Context } from '../context';
import { exits } from '../faults';
import { jsonText, plainText } from '../tables';
import { type Progress, startProgress } from './progress';

type RunEvent = { readonly at: string; readonly kind: string; readonly data: Readonly<Record<string, unknown>> };

// Printed keys of an event's data, in order.
const spoken = ['index', 'step', 'act', 'attempt', 'from', 'to', 'note', 'error', 'reason', 'by'] as const;

const line = (at: string, what: string, data: Readonly<Record<string, unknown>>): string => {
  const facts = spoken.filter((key) => data[key] !== undefined && data[key] !== null);
  return `${plainText(at)}  ${plainText(what).padEnd(14)} ${facts.map((key) => `${key}=${plainText(data[key])}`).join(' ')}`.trimEnd();
};

const printEvent = ({ deps, json }: Context, event: RunEvent, progress?: Progress): void => {
  const text = json ? jsonText(event) : line(event.at, event.kind, event.data);
  if (progress) progress.say(text);
  else deps.out(`${text}\n`);
};

const parsedEvent = (text: string): RunEvent | undefined => {
  try {
    const event = JSON.parse(text);
    return typeof event?.kind === 'string' ? { ...event, data: event.data ?? {} } : undefined;
  } catch {
    return undefined; // not from the API
  }
};

const readRun = async ({ api }: Context, run: string, progress?: Progress): Promise<Run> => {
  const now = (await api.send('GET', `/temper/v1/runs/${run}`)) as Run;
  progress?.show(now);
  return now;
};

const followRun = (context: Context, run: string, progress: Progress | undefined): Promise<void> =>
  follow(context, `/temper/v1/runs/${run}/events`, {
    async onEvent(data) {
      const event = parsedEvent(data);
      if (!event) return;
      printEvent(context, event, progress);
      if (progress) await readRun(context, run, progress);
    },
    onCut: (says) => (progress ? progress.say(says) : context.deps.err(`${says}\n`)),
  });

/**
 * The exit status reports success.
 * @param ident UUID of the run
 */
export const watchRun = async (context: Context, ident: string): Promise<void> => {
  const { terminal } = context.deps;
  const { uuid } = await readRun(context, encodeURIComponent(ident));
  const progress = terminal && !context.json ? startProgress(terminal) : undefined;
  const read = () => readRun(context, uuid, progress);
  const run = await (progress ? read() : Promise.resolve())
    .then(() => followRun(context, uuid, progress))
    .then(read)
    .finally(() => progress?.close());
  if (!context.json)
    context.deps.out(
      `The run ended: ${plainText(run.state)}${run.last_error ? `: ${plainText(run.last_error)}` : ''}\n`,
    );
  context.end(run.state === 'succeeded' ? exits.ok : exits.refused);
};
