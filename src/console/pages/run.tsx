/** Page of one run: steps with attempts and errors, and acts. */
import type { ComponentChildren } from 'preact';
import { states } from '../../model/lifecycle/states';
import { isVerb, verbRow } from '../../model/lifecycle/verbs';
import { type RunAct, runActs, stateSays, willOf } from '../../model/runs/run-acts';
import type { Rollout } from '../../wire/rollouts';
import type { ListedRun, Rerun, Run, RunStep, Will } from '../../wire/runs';
import { Acts, type Answers, type Ask, askedRules, Done, type Offer } from '../parts/acts';
import { Live } from '../parts/live';
import { Facts, Id, Notice, nodeAddress, personOf, State, stateWord, Time, Title, toneOf } from '../parts/texts';
import type { Api } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying } from '../server/session';
import type { NodeView } from '../views';
import { holderOf, type NodeStanding, provisionRule, rerunStateSays, verbStateSays } from './node-offers';
import { rolloutAddress, rolloutTitle } from './rollouts';
import { failedAttempts, RunSteps } from './run-steps';
import { runAddress, runTitle } from './runs';

/** Facts that decide a run's acts. Rows of lists have no steps. */
export type RunStanding = Pick<Run, 'uuid' | 'state' | 'cursor' | 'finished_at' | 'verb'> &
  Partial<Pick<Run, 'steps'>> & { readonly on?: NodeStanding | undefined };

const stepNow = (run: RunStanding): RunStep | undefined => run.steps?.find(({ index }) => index === run.cursor);

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
export const rerunRefused = ({ state, verb, on }: RunStanding): ComponentChildren => {
  if (toneOf(state) !== 'bad') return 'Only a failed or aborted run can be resumed.';
  if (!on) return 'You don’t have access to its node.';
  if (!isVerb(verb)) return undefined;
  const says = verbRow(verb).runbook ? rerunStateSays(verb, on) : `This run has no steps to resume. Start ${verb} again.`;
  return says ? <>{says} <a href={nodeAddress(on.node)}>Open {on.node.name ?? 'the node'}</a></> : undefined;
}; // biome-ignore format: one sentence

export const runOffers = (run: RunStanding): Offer[] => {
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

/** A run on hold is released by a verb of its node. */
const holdOffers = ({ on, finished_at }: RunStanding): Offer[] =>
  on && finished_at === null && states[on.node.provision_state].kind === 'hold'
    ? [
        {
          name: 'unhold',
          label: 'Release hold',
          verb: 'unhold',
          rule: provisionRule,
          stateSays: verbStateSays('unhold', on),
          will: 'The run continues with its next step.',
          withoutReason: true,
          fields: { what: 'verb', verb: 'unhold' },
          action: `/nodes/${on.node.uuid}/acts`,
          about: { kind: 'node', object: on.node.uuid },
        },
      ]
    : [];

/** Possible acts, and reasons why others are not. */
export const RunActs = ({ run, answers, session }: RunActsProps) => (
  <Acts
    id={`acts-${run.uuid}`}
    offers={[...holdOffers(run), ...runOffers(run)]}
    answers={answers}
    about={{ kind: 'run', object: run.uuid }}
    session={session}
    actionOf={({ name }) => `/runs/${run.uuid}/${name}`}
  />
);

const runOutcome = (run: Run): string | null | undefined =>
  run.waiting_for ?? run.last_error ?? (run.state === 'parked' ? stepNow(run)?.last_error : null);

const Outcome = ({ run }: { run: Run }) => {
  const says = runOutcome(run);
  if (!says) return null;
  const waits = run.waiting_for !== null && run.finished_at === null;
  return <Notice tone={waits ? 'wait' : 'bad'} says={waits ? `Waiting for ${says}` : says} />;
};

const runbookOf = ({ name, uuid, revision }: NonNullable<Run['runbook']>): string =>
  `${name ?? uuid}${revision ? `, revision ${revision}` : ''}`;

/** Work and rollout of the run, as links. */
const PartOf = ({ run, rollout }: { run: Run; rollout: Rollout | undefined }) => (
  <span class="muted">
    {run.runbook && <>Runbook <a href={`/runbooks/${run.runbook.uuid}`}>{runbookOf(run.runbook)}</a></>}
    {run.runbook && rollout && ', '}
    {rollout && <>in rollout <a href={rolloutAddress(rollout)}>{rolloutTitle(rollout)}</a></>}
  </span>
); // biome-ignore format: short parts

const RunFacts = ({ run }: { run: Run }) => (
  <Facts
    rows={[
      ['Run', <Id id={run.uuid} />],
      ['Node', <a href={`/nodes/${encodeURIComponent(run.node_uuid)}`}>{run.node_name ?? run.node_uuid}</a>],
      ['Waiting since', run.waiting_since && <Time at={run.waiting_since} />],
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

/** Undefined if the node is hidden. */
const nodeOf = async (api: Api, { node_uuid }: Run): Promise<NodeStanding | undefined> => {
  const [node, open = []] = await Promise.all([
    api.find<NodeView>(`/v1/nodes/${node_uuid}`),
    api.findList<ListedRun>('/temper/v1/runs', { node: node_uuid, state: 'open', limit: 1 }),
  ]);
  return node && { node, holder: holderOf(node, open) };
};

export const runPage = async ({ api, params, session, query }: PageContext): Promise<PageAnswer> => {
  const id = encodeURIComponent(params.run!);
  const run = await api.get<Run>(`/temper/v1/runs/${id}`);
  const [ofRun, ofNode, on, attempts, rollout] = await Promise.all([
    askedRules(api, runAsks(run.uuid)),
    askedRules(api, [{ rule: provisionRule, node: run.node_uuid }]),
    nodeOf(api, run),
    failedAttempts(api, run.uuid),
    run.batch ? api.find<Rollout>(`/temper/v1/rollouts/${run.batch}`) : undefined,
  ]);
  const answers = new Map([...ofRun, ...ofNode]);
  const title = runTitle(run);
  const body = (
    <>
      <Done session={session} query={query} />
      <Live id="run" events={run.finished_at === null ? `${runAddress(run)}/live` : undefined} path={runAddress(run)}>
        <Title text={title} says={`${title}: ${stateWord(run.state)}`}><State is={run.phase === 'retrying' ? 'retrying' : run.state} /><PartOf run={run} rollout={rollout} /></Title>
        <Outcome run={run} />
        <RunActs run={{ ...run, on }} answers={answers} session={session} />
        <RunFacts run={run} />
        <h2>Steps</h2>
        <RunSteps run={run} attempts={attempts} outcome={runOutcome(run)} />
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
  return { to: will ? addressSaying(session, to, will) : to };
};
