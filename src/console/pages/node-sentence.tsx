/** State of a node in one sentence: its work or its failure, with time and caller. Further lines name maintenance, freezes and errors. */
import type { ComponentChildren } from 'preact';
import { failedStates, type ProvisionState, states } from '../../model/lifecycle/states';
import type { ListedRun } from '../../wire/runs';
import { seenOf } from '../hidden';
import { Lasting, personOf, Time, type Tone } from '../parts/texts';
import type { NodeView } from '../views';
import { failedRun, type Situation } from './node-leads';
import { runAddress, runState } from './runs';

type Saying = { readonly tone: Tone; readonly says: ComponentChildren };

/** `firmware: CUSTOM_FW` is a runbook, `manage` a verb. */
const RunLink = ({ run }: { run: ListedRun }) => (
  <a href={runAddress(run)}>{run.runbook ? `Runbook ${run.runbook} (${run.verb})` : `Run ${run.verb}`}</a>
);

const Started = ({ run }: { run: ListedRun }) => (
  <>
    <RunLink run={run} />, started <Time at={run.started_at ?? run.created_at} /> by {personOf(run.requester)}
  </>
);

/** Some runs have no steps. */
const stepIn = ({ step, cursor, step_count: many }: ListedRun, before: string): string =>
  step ? `${before}step ${Math.min(cursor + 1, many)} of ${many}, ${step}` : '';

const attemptIn = ({ attempt }: ListedRun): string => (attempt && attempt > 1 ? ` (attempt ${attempt})` : '');

const withError = (error: string | null | undefined): string => (error ? `: ${error}` : '.');

/** By state of the open run; other states are at work. */
const openSayings: Readonly<Record<string, (run: ListedRun) => Saying>> = {
  parked: (run) => ({
    tone: 'wait',
    says: <><Started run={run} />, needs a decision: {run.step ?? 'its step'} failed{attemptIn(run)}{run.waiting_since && <> <Time at={run.waiting_since} /></>}{withError(run.last_error)}</>,
  }),
  paused: (run) => ({ tone: 'wait', says: <><Started run={run} />, is paused{stepIn(run, ' before ')}.</> }),
  waiting: (run) => ({ tone: 'wait', says: <><Started run={run} />, is waiting{run.waiting_for && ` for ${run.waiting_for}`}.</> }),
  accepted: (run) => ({ tone: 'wait', says: <><RunLink run={run} /> is queued. {personOf(run.requester)} requested it <Time at={run.created_at} />.</> }),
  retrying: (run) => ({
    tone: 'wait',
    says: <><Started run={run} />, is retrying{stepIn(run, ' ')}{attemptIn(run)}{withError(run.last_error)}</>,
  }),
}; // biome-ignore format: one state a row

const atWork = (run: ListedRun): Saying => ({
  tone: 'busy',
  says: <><Started run={run} />{stepIn(run, ': ')}{attemptIn(run)}.</>,
}); // biome-ignore format: one sentence

const stableWords: Partial<Readonly<Record<ProvisionState, readonly [tone: Tone, words: string]>>> = {
  enroll: ['idle', 'Enrolled, and not verified yet'],
  manageable: ['idle', 'Managed, and not available for use'],
  available: ['good', 'Free for use'],
  active: ['good', 'In use'],
  rescue: ['wait', 'In rescue'],
};

const Since = ({ node: { provision_updated_at: at } }: { node: NodeView }) => (at ? <> (for <Lasting since={at} />)</> : null); // biome-ignore format: one line

const powerIn = ({ provision_state: state, power_state: power }: NodeView): string =>
  state === 'active' && power === 'power off' ? ', powered off' : '';

const restSaying = (node: NodeView): Saying => {
  const { provision_state: state } = node;
  const [tone, words] = stableWords[state] ?? ['busy', `Busy: ${state}`];
  return { tone, says: <>{words}{powerIn(node)}<Since node={node} />.</> }; // biome-ignore format: one line
};

const failedSaying = (is: Situation): Saying => {
  const run = failedRun(is);
  const error = seenOf(is.node.last_error);
  if (run)
    return { tone: 'bad', says: <><RunLink run={run} /> failed <Time at={run.finished_at} />{withError(run.last_error ?? error)}</> }; // biome-ignore format: one line
  return { tone: 'bad', says: <>State {is.node.provision_state}<Since node={is.node} />{withError(error)}</> }; // biome-ignore format: one line
};

const mainSaying = (is: Situation): Saying => {
  const { node, open } = is;
  const { provision_state: state } = node;
  if (states[state].kind === 'hold')
    return { tone: 'wait', says: <>On hold<Since node={node} />{open && <>, in <RunLink run={open} /></>}. Release the hold to continue.</> }; // biome-ignore format: one line
  if (open) return (openSayings[runState(open)] ?? atWork)(open);
  if (failedStates.includes(state)) return failedSaying(is);
  return restSaying(node);
};

/** Error text that the first sentence has. */
const shownError = (is: Situation): string | null | undefined =>
  (is.open ?? failedRun(is))?.last_error ?? seenOf(is.node.last_error);

const maintenanceSaying = (is: Situation): Saying | undefined => {
  const { maintenance, maintenance_reason: reason, fault } = is.node;
  if (!maintenance) return fault ? { tone: 'bad', says: `Fault: ${fault}.` } : undefined;
  const further = reason === shownError(is) ? undefined : reason;
  return { tone: 'wait', says: `In maintenance${fault ? ` by Temper (${fault})` : ''}${withError(further)}` };
};

const freezeSayings = ({ freezes = [] }: Situation): Saying[] =>
  freezes.map(({ created_at, requester, reason }) => ({
    tone: 'wait',
    says: <>Frozen <Time at={created_at} /> by {personOf(requester)}: {reason}</>,
  })); // biome-ignore format: one sentence

/** A healthy node may still have an error of its last run. */
const leftSaying = (is: Situation): Saying | undefined => {
  const error = seenOf(is.node.last_error);
  const shown = is.open ? is.open.last_error : states[is.node.provision_state].kind === 'failure' ? shownError(is) : undefined;
  return error && error !== shown && error !== is.node.maintenance_reason ? { tone: 'bad', says: `Last error: ${error}` } : undefined;
}; // biome-ignore format: short lines

const sayingsOf = (is: Situation): readonly Saying[] =>
  [mainSaying(is), maintenanceSaying(is), ...freezeSayings(is), leftSaying(is)].flatMap((saying) => saying ?? []);

export const Sentence = ({ is }: { is: Situation }) => (
  <div class="sentence">
    {sayingsOf(is).map(({ tone, says }, at) => (
      <p key={at} class={tone}>
        {says}
      </p>
    ))}
  </div>
);
