/** `temper rollouts watch`: progress until the end, repainted on a terminal, else line by line. */
import { pause } from '../../model/passes';
import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { follow } from '../access/follow';
import type { Context } from '../context';
import { CliFault, exits } from '../faults';
import { jsonText, plainText } from '../tables';
import { endedStates, progressLines } from './rollout-texts';

/** Changes caused by time alone have no event. */
const atLeastMs = 15_000;
/** Events within this time count as one change. */
const togetherMs = 200;
/** Limit of the named targets per state. */
const namedEach = 5;
/** Only a person's act ends these states. */
const restingStates = ['planned', 'awaiting_approval', 'paused'];
const shownStates = ['admitted', 'soaking', 'parked', 'asked', 'failed'];

const readRollout = async ({ api }: Context, path: string): Promise<readonly [Rollout, readonly RolloutTarget[]]> => {
  const rollout = (await api.send('GET', path)) as Rollout;
  const there = shownStates.filter((state) => (rollout.states?.[state] ?? 0) > 0);
  const pages = await Promise.all(
    there.map(
      async (state) =>
        (await api.send('GET', `${path}/targets?state=${state}&limit=${namedEach}`)) as { targets: RolloutTarget[] },
    ),
  );
  return [rollout, pages.flatMap(({ targets }) => targets)];
};

const painter = (terminal: NodeJS.WriteStream) => {
  let painted = 0;
  return (lines: readonly string[]): void => {
    // ECMA-48 CPL and ED: up to the first previous line, and clear from there.
    if (painted > 0) terminal.write(`\u001b[${painted}F\u001b[0J`);
    terminal.write(`${lines.join('\n')}\n`);
    painted = lines.length;
  };
};

const changeLine = (rollout: Rollout): string => {
  const states = Object.entries(rollout.states ?? {}).map(([state, many]) => `${state}=${many}`);
  const facts = [`wave=${rollout.wave ?? ''}`, ...states, rollout.code && `code=${rollout.code}`];
  return `${plainText(rollout.state).padEnd(10)} ${facts.filter(Boolean).map(plainText).join(' ')}`;
};

/** Signals events and a periodic read. `next` throws the reason of an aborted signal. */
const createChanges = (signal: AbortSignal) => {
  let unseen = new AbortController();
  return {
    changed: (): void => unseen.abort(),
    async next(): Promise<void> {
      await pause(atLeastMs, AbortSignal.any([signal, unseen.signal]));
      await pause(togetherMs, signal);
      signal.throwIfAborted();
      unseen = new AbortController();
    },
  };
};

type Changes = ReturnType<typeof createChanges>;

/** With `untilPaused` it also ends when the rollout waits for a person. The exit status reports success. */
export const watchRollout = async (context: Context, uuid: string, untilPaused = false): Promise<void> => {
  const path = `/temper/v1/rollouts/${encodeURIComponent(uuid)}`;
  const ending = new AbortController();
  const changes = createChanges(AbortSignal.any([context.deps.signal, ending.signal]));
  const { changed } = changes;
  follow(context, `${path}/events`, { onEvent: changed, onCut: changed, until: ending.signal }).then(
    changed,
    (thrown) => ending.abort(thrown),
  );
  try {
    await showToEnd(context, path, changes, untilPaused ? [...endedStates, ...restingStates] : endedStates);
  } finally {
    ending.abort();
  }
};

const showToEnd = async (context: Context, path: string, changes: Changes, last: readonly string[]): Promise<void> => {
  const { deps, json, width } = context;
  const paint = deps.terminal && !json ? painter(deps.terminal) : undefined;
  for (let known = ''; ; ) {
    const seen = await readRollout(context, path).catch((thrown) => {
      // Retries if the server is briefly unavailable.
      if (thrown instanceof CliFault && thrown.exit === 'unreachable') return undefined;
      throw thrown;
    });
    if (seen) {
      const [rollout, targets] = seen;
      const line = json ? jsonText(rollout) : changeLine(rollout);
      if (paint) paint(progressLines(rollout, targets, width));
      else if (line !== known) deps.out(`${line}\n`);
      known = line;
      if (last.includes(rollout.state)) return context.end(rollout.state === 'succeeded' ? exits.ok : exits.refused);
    }
    await changes.next();
  }
};
