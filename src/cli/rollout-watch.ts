/** `temper rollouts watch`: the progress of a rollout, painted over on a terminal, line by line elsewhere, until it ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from './context';
import { CliFault, exits } from './faults';
import { endedStates, progressLines, type Rollout, type Target } from './rollout-texts';
import { plainText } from './tables';

const pollMs = 2_000;
/** Of each state so many targets are named. */
const namedEach = 5;
const shownStates = ['admitted', 'soaking', 'parked', 'asked', 'failed'];

const read = async ({ api }: Context, path: string): Promise<readonly [Rollout, readonly Target[]]> => {
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

/** Shows a rollout until it ends; a paused one waits for a person and is shown on. The exit status says whether it succeeded. */
export const watchRollout = async (context: Context, uuid: string): Promise<void> => {
  const { hands, json, width } = context;
  const path = `/temper/v1/rollouts/${encodeURIComponent(uuid)}`;
  const paint = hands.terminal && !json ? painter(hands.terminal) : undefined;
  for (let known = ''; ; ) {
    const seen = await read(context, path).catch((thrown) => {
      // A server that is away for a moment is asked again.
      if (thrown instanceof CliFault && thrown.exit === 'unreachable') return undefined;
      throw thrown;
    });
    if (seen) {
      const [rollout, targets] = seen;
      const line = json ? JSON.stringify(rollout) : changeLine(rollout);
      if (paint) paint(progressLines(rollout, targets, width));
      else if (line !== known) hands.out(`${line}\n`);
      known = line;
      if (endedStates.includes(rollout.state))
        return context.end(rollout.state === 'succeeded' ? exits.ok : exits.refused);
    }
    await sleep(pollMs, undefined, { signal: hands.signal });
  }
};
