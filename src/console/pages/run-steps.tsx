/** Steps of a run: state, duration, attempts, and what each waits for. */
import { nameOf } from '../../model/lifecycle/steps';
import type { Run, RunStep } from '../../wire/runs';
import { Clock, Code, Empty, State, spanOf, Time, type Tone, toneOf } from '../parts/texts';
import type { Api } from '../server/api';

const hasArgs = (args: unknown): boolean => typeof args === 'object' && args !== null && Object.keys(args).length > 0;

const Expected = ({ step }: { step: RunStep }) => {
  if (step.state !== 'running' || !step.expected_ms || !step.started_at) return null;
  const elapsed = Date.now() - Date.parse(step.started_at);
  return (
    <p>
      <progress
        max={step.expected_ms}
        value={Math.min(step.expected_ms, elapsed)}
        data-began={step.started_at}
        aria-label={`${nameOf(step)}, of the expected time`}
      />{' '}
      <span class="muted">usually takes {spanOf(step.expected_ms)}</span>
    </p>
  );
};

/** Styles of steps that are over. */
const markers: Partial<Record<Tone, string>> = { good: 'done', bad: 'trouble' };

/** An attempt that failed, in the words of the BMC or of the ramdisk. */
export type FailedAttempt = {
  readonly seq: number;
  readonly at: string;
  readonly data: { readonly index?: number; readonly attempt?: number; readonly act?: string; readonly error?: string };
};

const mostAttempts = 100;

/** Newest first. The step itself has the last error alone. */
export const failedAttempts = async (api: Api, run: string): Promise<readonly FailedAttempt[]> =>
  (await api.findList<FailedAttempt>('/temper/v1/events', { run, kind: 'step.tried', limit: mostAttempts })) ?? [];

const Attempts = ({ index, attempts }: { index: number; attempts: readonly FailedAttempt[] }) =>
  attempts.length === 0 ? null : (
    <details id={`attempts-${index}`}>
      <summary>{attempts.length === 1 ? '1 failed attempt' : `${attempts.length} failed attempts`}</summary>
      <ol class="lines">
        {attempts.map(({ seq, at, data: { attempt, act, error } }) => (
          <li key={seq}>
            <Clock at={at} />
            <span>
              {[act, attempt && `attempt ${attempt}`].filter(Boolean).join(', ')}: {error}
            </span>
          </li>
        ))}
      </ol>
    </details>
  );

type StepProps = { readonly step: RunStep; readonly run: Run; readonly outcome: string | null | undefined; readonly attempts: readonly FailedAttempt[] }; // biome-ignore format: one row

const Step = ({ step, run, outcome, attempts: failed }: StepProps) => {
  const { state, started_at: begun, finished_at: ended, attempts } = step;
  const now = step.index === run.cursor && run.finished_at === null;
  const lines = [
    ['muted', step.act && `Now: ${step.act}`],
    ['wait', step.waiting_for && `Waiting for ${step.waiting_for}`],
    ['bad', step.last_error !== outcome && step.last_error && `${state === 'done' ? 'Earlier: ' : ''}${step.last_error}`],
    ['wait', step.next_retry_at && <>Retries <Time at={step.next_retry_at} /></>],
    ['muted', step.note],
  ] as const; // biome-ignore format: one line a row
  return (
    <li class={now ? 'now' : markers[toneOf(state)]} aria-current={now ? 'step' : undefined}>
      <div class="line">
        <b>{nameOf(step)}</b> <State is={now && run.phase === 'retrying' ? 'retrying' : state} />
        <span class="muted">
          {attempts > 1 && `${attempts} attempts, `}
          {begun && <Time at={begun} />}
          {begun && ended && `, took ${spanOf(Date.parse(ended) - Date.parse(begun))}`}
        </span>
      </div>
      {lines.map(([tone, says], at) => says && <p key={at} class={tone}>{says}</p>)}
      <Expected step={step} />
      <Attempts index={step.index} attempts={failed} />
      {hasArgs(step.args) && (
        <details id={`arguments-${step.index}`}>
          <summary>Arguments</summary>
          <Code value={step.args} />
        </details>
      )}
    </li>
  );
}; // biome-ignore format: short parts

type StepsProps = { readonly run: Run; readonly attempts: readonly FailedAttempt[]; readonly outcome: string | null | undefined }; // biome-ignore format: one row

/** @param outcome error that the page shows already */
export const RunSteps = ({ run, attempts, outcome }: StepsProps) =>
  run.steps.length === 0 ? (
    <Empty title="This run has no steps." />
  ) : (
    <ol class="timeline">
      {run.steps.map((step) => (
        <Step
          key={step.index}
          step={step}
          run={run}
          outcome={outcome}
          attempts={attempts.filter(({ data }) => data.index === step.index)}
        />
      ))}
    </ol>
  );
