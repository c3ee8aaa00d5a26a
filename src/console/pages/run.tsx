/** Page of one run: steps with attempts and errors, and acts. */
import type { ComponentChildren } from 'preact';
import { nameOf } from '../../model/lifecycle/steps';
import { isVerb, verbRow } from '../../model/lifecycle/verbs';
import { type RunAct, runActs, stateSays, willOf } from '../../model/runs/run-acts';
import type { ListedRun, Rerun, Run, RunStep, Will } from '../../wire/runs';
import { Acts, type Answers, type Ask, askedRules, type Offer } from '../parts/acts';
import { Live } from '../parts/live';
import {
  Code,
  Empty,
  Facts,
  Id,
  Notice,
  nodeAddress,
  personOf,
  State,
  spanOf,
  Time,
  Title,
  type Tone,
  toneOf,
} from '../parts/texts';
import type { Api } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { proofOf } from '../server/session';
import type { NodeView } from '../views';
import { holderOf, type NodeStanding, rerunStateSays } from './node-offers';
import { runAddress, runTitle } from './runs';

/** Facts that decide a run's acts. Rows of lists have no steps. */
type RunStanding = Pick<Run, 'uuid' | 'state' | 'cursor' | 'finished_at' | 'verb'> &
  Partial<Pick<Run, 'steps'>> & { readonly on?: NodeStanding | undefined };

const stepNow = (run: RunStanding): RunStep | undefined => run.steps?.find(({ index }) => index === run.cursor);

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

const Step = ({ step, run }: { step: RunStep; run: Run }) => {
  const { state, started_at: begun, finished_at: ended, attempts } = step;
  const now = step.index === run.cursor && run.finished_at === null;
  const lines = [
    ['muted', step.act && `Now: ${step.act}`],
    ['wait', step.waiting_for && `Waiting for ${step.waiting_for}`],
    ['bad', step.last_error && `${state === 'done' ? 'Earlier: ' : ''}${step.last_error}`],
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
      {hasArgs(step.args) && (
        <details id={`arguments-${step.index}`}>
          <summary>Arguments</summary>
          <Code value={step.args} />
        </details>
      )}
    </li>
  );
}; // biome-ignore format: short parts

/** Acts on a parked step come first. */
const runLabels: Readonly<Record<RunAct, string>> = {
  retry: 'Retry step',
  skip: 'Skip step',
  fail: 'Fail run',
  resume: 'Resume',
  pause: 'Pause',
  abort: 'Abort',
};

/** Reason against a rerun, with a link to the node if it is the reason. */
const rerunRefused = ({ state, verb, on }: RunStanding): ComponentChildren => {
  if (toneOf(state) !== 'bad') return 'Only a failed or aborted run can be resumed.';
  if (!on) return 'You don’t have access to its node.';
  if (!isVerb(verb)) return undefined;
  const says = verbRow(verb).runbook ? rerunStateSays(verb, on) : `Only a list of steps can be resumed. Start ${verb} again.`;
  return says ? <>{says} <a href={nodeAddress(on.node)}>Open {on.node.name ?? 'the node'}</a></> : undefined;
}; // biome-ignore format: one sentence

const runOffers = (run: RunStanding): Offer[] => {
  const step = stepNow(run);
  const acts = (Object.keys(runLabels) as RunAct[]).map((act) => ({
    name: act,
    label: runLabels[act],
    rule: `temper:run:${act}`,
    stateSays: stateSays(act, run),
    will: willOf(act, run, step),
    danger: act === 'abort' || act === 'fail' || act === 'skip',
    minor: act === 'pause',
    fields: { step: String(run.cursor) },
  }));
  const rerun: Offer = {
    name: 'rerun',
    label: 'Resume in a new run',
    rule: 'temper:run:rerun',
    stateSays: rerunRefused(run),
    will: 'Starts a new run at the step in which this one stopped. Permissions for its steps are checked again.',
  };
  return run.finished_at === null ? [...acts, rerun] : [rerun];
};

export const runAsks = (run: string): Ask[] => [...runActs, 'rerun'].map((act) => ({ rule: `temper:run:${act}`, run }));

type RunActsProps = { run: RunStanding; answers: Answers; session: PageContext['session'] };

/** Possible acts, and reasons why others are not. */
export const RunActs = ({ run, answers, session }: RunActsProps) => (
  <Acts
    id={`acts-${run.uuid}`}
    offers={runOffers(run)}
    answers={answers}
    about={{ kind: 'run', object: run.uuid }}
    session={session}
    actionOf={({ name }) => `/runs/${run.uuid}/${name}`}
  />
);

const Outcome = ({ run }: { run: Run }) => {
  const says = run.waiting_for ?? run.last_error ?? (run.state === 'parked' ? stepNow(run)?.last_error : null);
  if (!says) return null;
  const waits = run.waiting_for !== null && run.finished_at === null;
  return <Notice tone={waits ? 'wait' : 'bad'} says={waits ? `Waiting for ${says}` : says} />;
};

const runbookOf = ({ name, uuid, revision }: NonNullable<Run['runbook']>): string =>
  `${name ?? uuid}${revision ? `, revision ${revision}` : ''}`;

const RunFacts = ({ run }: { run: Run }) => (
  <Facts
    rows={[
      ['Run', <Id id={run.uuid} />],
      ['Node', <a href={`/nodes/${encodeURIComponent(run.node_uuid)}`}>{run.node_name ?? run.node_uuid}</a>],
      ['Phase', run.phase],
      ['Waiting since', run.waiting_since && <Time at={run.waiting_since} />],
      ['Runbook', run.runbook && <a href={`/runbooks/${run.runbook.uuid}`}>{runbookOf(run.runbook)}</a>],
      ['Started by', personOf(run.requester)],
      ['Resumes', run.resumes && <Id id={run.resumes} href={`/runs/${run.resumes}`} />],
      ['Queued', <Time at={run.created_at} />],
      ['Started', run.started_at && <Time at={run.started_at} />],
      ['Ended', run.finished_at && <Time at={run.finished_at} />],
      ['Abort requested by', run.abort?.by],
      ['Workflow', run.links.temporal_ui && <a href={run.links.temporal_ui}>Open in Temporal</a>],
    ]}
  />
);

/** Node for a rerun; undefined if the run has not ended or the node is hidden. */
const nodeOf = async (api: Api, { node_uuid, finished_at }: Run): Promise<NodeStanding | undefined> => {
  if (finished_at === null) return undefined;
  const [node, open = []] = await Promise.all([
    api.find<NodeView>(`/v1/nodes/${node_uuid}`),
    api.findList<ListedRun>('/temper/v1/runs', { node: node_uuid, state: 'open', limit: 1 }),
  ]);
  return node && { node, holder: holderOf(node, open) };
};

export const runPage = async ({ api, params, session, query }: PageContext): Promise<PageAnswer> => {
  const id = encodeURIComponent(params.run!);
  const run = await api.get<Run>(`/temper/v1/runs/${id}`);
  const [answers, on] = await Promise.all([askedRules(api, runAsks(run.uuid)), nodeOf(api, run)]);
  const title = runTitle(run);
  const body = (
    <>
      {query.will && query.proof === proofOf(session, query.will) && <Notice tone="good" role="status" says={query.will} />}
      <Live id="run" events={run.finished_at === null ? `${runAddress(run)}/live` : undefined} path={runAddress(run)}>
        <Title text={title} says={`${title}: ${run.state}`}><State is={run.phase === 'retrying' ? 'retrying' : run.state} /></Title>
        <Outcome run={run} />
        <RunActs run={{ ...run, on }} answers={answers} session={session} />
        <RunFacts run={run} />
        <h2>Steps</h2>
        {run.steps.length === 0 && <Empty title="This run has no steps." />}
        {run.steps.length > 0 && <ol class="timeline">{run.steps.map((step) => <Step key={step.index} step={step} run={run} />)}</ol>}
      </Live>
    </>
  ); // biome-ignore format: short parts
  return { title, body };
};

const knownActs: readonly string[] = [...runActs, 'rerun'];

/** Redirects to the run, or to the new one. */
export const actOnRun = async ({ api, params, form, session }: FormContext): Promise<PageAnswer> => {
  const { run = '', act = '' } = params;
  if (!knownActs.includes(act)) return { to: `/runs/${encodeURIComponent(run)}` };
  const step = fieldOf(form, 'step');
  const answer = await api.send<Partial<Will & Rerun>>(
    'POST',
    `/temper/v1/runs/${encodeURIComponent(run)}/${act}`,
    { reason: fieldOf(form, 'reason'), ...(act !== 'rerun' && /^\d+$/.test(step) && { step: Number(step) }) },
    fieldOf(form, 'key') || undefined,
  );
  const { run: caused = run, will } = answer;
  const to = `/runs/${encodeURIComponent(caused)}`;
  return { to: will ? `${to}?will=${encodeURIComponent(will)}&proof=${proofOf(session, will)}` : to };
};
