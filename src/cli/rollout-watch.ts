/** `temper rollouts watch`: the progress of a rollout, painted over on a terminal, line by line elsewhere, until it ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventsOf } from '../model/event-streams';
import type { Context } from './context';
import { CliFault, exits } from './faults';
import { endedStates, progressLines, type Rollout, type Target } from './rollout-texts';
import { jsonText, plainText } from './tables';

/** How often a rollout is read where nothing says when it has changed. */
const pollMs = 2_000;
/** And where its events do: what time alone changes has none. */
const atLeastMs = 15_000;
/** Events that come together are one change. */
const togetherMs = 200;
const longestReconnectMs = 30_000;
/** Of each state so many targets are named. */
const namedEach = 5;
/** In these nothing goes on until a person acts. */
const restingStates = ['planned', 'awaiting_approval', 'paused'];
const shownStates = ['admitted', 'soaking', 'parked', 'asked', 'failed'];

const readRollout = async ({ api }: Context, path: string): Promise<readonly [Rollout, readonly Target[]]> => {
  const rollout = (await api.send('GET', path)) as Rollout;
  const there = shownStates.filter((state) => (rollout.states?.[state] ?? 0) > 0);
  const pages = await Promise.all(
    there.map(
      async (state) =>
        (await api.send('GET', `${path}/targets?state=${state}&limit=${namedEach}`)) as { targets: Target[] },
    ),
  );
  return [rollout, pages.flatMap(({ targets }) => targets)];
};

/** Paints lines over those before. */
const painter = (terminal: NodeJS.WriteStream) => {
  let painted = 0;
  return (lines: readonly string[]): void => {
    // Up to the first of the lines before, and everything from there on away: ECMA-48 CPL and ED.
    if (painted > 0) terminal.write(`\u001b[${painted}F\u001b[0J`);
    terminal.write(`${lines.join('\n')}\n`);
    painted = lines.length;
  };
};

/** What is printed where no terminal is: one line whenever something has changed. */
const changeLine = (rollout: Rollout): string => {
  const states = Object.entries(rollout.states ?? {}).map(([state, many]) => `${state}=${many}`);
  const facts = [`wave=${rollout.wave ?? ''}`, ...states, rollout.code && `code=${rollout.code}`];
  return `${plainText(rollout.state).padEnd(10)} ${facts.filter(Boolean).map(plainText).join(' ')}`;
};

/** Changes of a rollout, as its events say or, where none come, as time passes. */
type Changes = {
  /** Resolves when it may have changed. Rejects where the command is ended. */
  next(): Promise<void>;
  close(): void;
};

/** Reads events of one connection after another, until there can be none, or the server has no stream for this caller. */
const readEvents = async (
  { api }: Context,
  path: string,
  { until, changed, open }: { until: AbortSignal; changed: () => void; open: (is: boolean) => void },
): Promise<void> => {
  let place: string | null = null;
  for (let pauseMs = pollMs; !until.aborted; pauseMs = Math.min(2 * pauseMs, longestReconnectMs)) {
    try {
      const headers = { accept: 'text/event-stream', ...(place !== null && { 'last-event-id': place }) };
      const reply = await api.open(`${path}/events`, headers, until);
      const streams = reply.ok && reply.headers.get('content-type')?.startsWith('text/event-stream');
      if (!streams || !reply.body) return void (await reply.body?.cancel());
      open(true);
      for await (const { id } of eventsOf(reply.body as unknown as AsyncIterable<Uint8Array>)) {
        place = id ?? place;
        pauseMs = pollMs / 2;
        changed();
      }
    } catch {
      // Cut off, or the server is away for a moment: meanwhile it is polled.
    }
    open(false);
    changed();
    await sleep(pauseMs, undefined, { signal: until }).catch(() => undefined);
  }
};

const changesOf = (context: Context, path: string): Changes => {
  const { signal } = context.hands;
  const ending = new AbortController();
  let isOpen = false;
  let dirty = false;
  let wake = (): void => {};
  const changed = (): void => {
    dirty = true;
    wake();
  };
  const open = (is: boolean): void => {
    isOpen = is;
  };
  void readEvents(context, path, { until: ending.signal, changed, open });
  return {
    async next() {
      if (!dirty) {
        const waiting = new AbortController();
        wake = () => waiting.abort();
        await sleep(isOpen ? atLeastMs : pollMs, undefined, {
          signal: AbortSignal.any([signal, waiting.signal]),
        }).catch(() => signal.throwIfAborted());
      }
      if (isOpen) await sleep(togetherMs, undefined, { signal });
      dirty = false;
    },
    close: () => ending.abort(),
  };
};

/**
 * Shows a rollout until it ends; one that waits for a person is shown on, unless it is watched `untilPaused`. The exit status says
 * whether it succeeded.
 */
export const watchRollout = async (context: Context, uuid: string, untilPaused = false): Promise<void> => {
  const path = `/temper/v1/rollouts/${encodeURIComponent(uuid)}`;
  const changes = changesOf(context, path);
  try {
    await showToEnd(context, path, changes, untilPaused ? [...endedStates, ...restingStates] : endedStates);
  } finally {
    changes.close();
  }
};

const showToEnd = async (context: Context, path: string, changes: Changes, last: readonly string[]): Promise<void> => {
  const { hands, json, width } = context;
  const paint = hands.terminal && !json ? painter(hands.terminal) : undefined;
  for (let known = ''; ; ) {
    const seen = await readRollout(context, path).catch((thrown) => {
      // A server that is away for a moment is asked again.
      if (thrown instanceof CliFault && thrown.exit === 'unreachable') return undefined;
      throw thrown;
    });
    if (seen) {
      const [rollout, targets] = seen;
      const line = json ? jsonText(rollout) : changeLine(rollout);
      if (paint) paint(progressLines(rollout, targets, width));
      else if (line !== known) hands.out(`${line}\n`);
      known = line;
      if (last.includes(rollout.state)) return context.end(rollout.state === 'succeeded' ? exits.ok : exits.refused);
    }
    await changes.next();
  }
};
