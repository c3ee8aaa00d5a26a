/** Acts of callers on active runs: allowed states, and effects. */
import { endedStates } from './runs';

export const runActs = ['abort', 'pause', 'resume', 'retry', 'skip', 'fail'] as const;
export type RunAct = (typeof runActs)[number];
/** Includes acts of the API and of Temporal's own tools. */
export type RecordedAct = RunAct | 'unhold' | 'cancel';

/** As in the API. */
type RunStanding = { readonly state: string };
type StepStanding = { readonly interface: string; readonly step: string; readonly abortable?: boolean };

const isEnded = ({ state }: RunStanding): boolean => (endedStates as readonly string[]).includes(state);

/** Undefined if the act is possible. The run itself decides, since its state may have changed. */
export const stateSays = (act: RunAct, run: RunStanding): string | undefined => {
  if (isEnded(run)) return `The run has ended: ${run.state}.`;
  switch (act) {
    case 'retry':
    case 'skip':
    case 'fail':
      return run.state === 'parked'
        ? undefined
        : `The run is ${run.state}; this is possible only while a step is parked.`;
    case 'resume':
      return run.state === 'paused' ? undefined : `The run is ${run.state}, not paused.`;
    case 'pause':
      return run.state === 'paused' ? 'The run is paused already.' : undefined;
    case 'abort':
      return undefined;
  }
};

const still: readonly string[] = ['accepted', 'waiting', 'parked', 'paused'];

const abortWill = ({ state }: RunStanding, step: StepStanding | undefined): string => {
  if (!step || still.includes(state)) return 'The run ends now.';
  const name = `${step.interface}.${step.step}`;
  if (step.abortable === undefined)
    return `Step ${name} is interrupted if that is safe. Otherwise it finishes first. Then the run ends.`;
  return step.abortable
    ? `Step ${name} is interrupted and the run ends.`
    : `Step ${name} ends at once if its command was not sent yet. Otherwise it finishes first, within TEMPER_ABORT_TIMEOUT_MS. Then the run ends.`;
};

const follows: Readonly<Record<Exclude<RunAct, 'abort'>, string>> = {
  pause: 'The step in progress is done first; the run stops before the next one and keeps the node.',
  resume: 'The run goes on with its next step.',
  retry: 'The step is run again.',
  skip: 'The run continues as if the step were done.',
  fail: 'The run ends as failed.',
};

/** @param step the run's present step, if any */
export const willOf = (act: RunAct, run: RunStanding, step: StepStanding | undefined): string =>
  act === 'abort' ? abortWill(run, step) : follows[act];
