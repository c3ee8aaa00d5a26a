/** Page of one node: its facts, its acts, and its timeline. */
import type { ComponentChildren } from 'preact';
import type { CanAnswer } from '../../wire/policy';
import type { Freeze } from '../../wire/records';
import type { ListedRun } from '../../wire/runs';
import { hidden, seenOf } from '../hidden';
import { Acts, askedRules, Refused } from '../parts/acts';
import { ActForm, Choice, Send } from '../parts/forms';
import { Live } from '../parts/live';
import { Empty, Facts, Id, Notice, nodeAddress, Project, personOf, State, Time, Title, toneOf } from '../parts/texts';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import type { HistoryView, NodeView, RunbookView } from '../views';
import { holderOf, type NodeStanding, nodeOffers, nodeRules, runbookRule, verbStateSays } from './node-offers';
import { NodeParts, nodeParts } from './node-parts';
import { NodeTrouble } from './nodes';
import { runAddress, runState, runWork } from './runs';

type RunbookFormProps = Pick<PageContext, 'session'> & {
  readonly standing: NodeStanding;
  readonly runbooks: readonly RunbookView[];
};

const RunbookForm = ({ standing, runbooks, session, answer }: RunbookFormProps & { answer: CanAnswer | undefined }) => {
  const { node } = standing;
  const verb = (['service', 'clean'] as const).find((one) => verbStateSays(one, standing) === undefined);
  if (answer && !answer.allowed) return <p class="muted"><Refused answer={answer} about={{ kind: 'node', object: node.uuid }} /></p>; // biome-ignore format: one line
  if (!verb)
    return (
      <p class="muted">
        Runbooks are unavailable: {verbStateSays(node.provision_state === 'manageable' ? 'clean' : 'service', standing)}
      </p>
    );
  if (runbooks.length === 0)
    return <p class="muted">No runbooks yet. <a href="/runbooks/new">New runbook</a></p>; // biome-ignore format: one sentence
  return (
    <ActForm session={session} action={`${nodeAddress(node)}/acts`} fields={{ what: 'verb', verb }} class="row">
      <Choice label={`Runbook for ${verb}`} name="runbook" options={runbooks.map(({ name }) => name)} />
      <Send name="preview" value="yes" label="Preview" />
      <Send tone="primary" label="Run" />
    </ActForm>
  );
};

type Moment = { readonly at: string; readonly key: string; readonly bad: boolean; readonly body: ComponentChildren };

const RunMoment = ({ run }: { run: ListedRun }) => (
  <>
    <p class="line">
      <State is={runState(run)} /> <a href={runAddress(run)}>{runWork(run)}</a>{' '}
      <span class="muted">by {personOf(run.requester)}</span>
    </p>
    {run.waiting_for && <p class="wait">Waiting for {run.waiting_for}</p>}
    {run.last_error && <p class="bad">{run.last_error}</p>}
  </>
);

const ofRun = (run: ListedRun): Moment =>
  ({ at: run.started_at ?? run.created_at, key: run.uuid, bad: toneOf(run.state) === 'bad', body: <RunMoment run={run} /> }); // biome-ignore format: one row

const ofHistory = ({ created_at: at, uuid: key, event, severity }: HistoryView): Moment => {
  const bad = severity === 'ERROR';
  return { at, key, bad, body: <p class={bad ? 'bad' : undefined}>{event}</p> };
};

const ofFreeze = ({ created_at: at, uuid: key, reason }: Freeze): Moment =>
  ({ at, key, bad: false, body: <p class="wait">Frozen: {reason}</p> }); // biome-ignore format: one row

const Timeline = ({ moments }: { moments: readonly Moment[] }) =>
  moments.length === 0 ? (
    <Empty icon="activity" title="No activity yet" />
  ) : (
    <ol class="timeline">
      {moments.map(({ at, key, bad, body }) => (
        <li key={key} class={bad ? 'trouble' : undefined}>
          <span class="muted">
            <Time at={at} />
          </span>
          {body}
        </li>
      ))}
    </ol>
  );

/** Shows hidden values as such, because an empty cell would mean that there is no value. */
const shown = (value: string | null | undefined | typeof hidden): ComponentChildren =>
  value === hidden ? <span class="muted">Hidden</span> : value;

const NodeFacts = ({ node }: { node: NodeView }) => (
  <Facts
    rows={[
      ['ID', <Id id={node.uuid} />],
      ['Power', <State is={node.power_state ?? 'unknown'} />],
      ['Target state', node.target_provision_state],
      [
        'Locked by run',
        typeof node.reservation === 'string' ? (
          <Id id={node.reservation} href={`/runs/${node.reservation}`} />
        ) : (
          shown(node.reservation)
        ),
      ],
      ['Last error', node.last_error === hidden && shown(hidden)],
      ['Owner', node.owner && <Project id={node.owner} />],
      ['Lessee', node.lessee && <Project id={node.lessee} />],
      ['Driver', node.driver],
      ['Class', node.resource_class],
      ['Conductor group', node.conductor_group],
      ['Traits', node.traits?.join(', ')],
      ['Protected', node.protected ? 'yes' : null],
      ['Retired', node.retired ? 'yes' : null],
      ['In this state', node.provision_updated_at && <Time at={node.provision_updated_at} />],
      ['Description', node.description],
    ]}
  />
);

const nodeData = async ({ api, params, partial }: PageContext) => {
  const node = await api.get<NodeView>(`/v1/nodes/${encodeURIComponent(params.node!)}`);
  const [runs = [], history = [], freezes = [], runbooks = [], answers, parts] = await Promise.all([
    api.findList<ListedRun>('/temper/v1/runs', { node: node.uuid, state: 'any', limit: 30 }),
    api.findList<HistoryView>(`/v1/nodes/${node.uuid}/history`, { detail: 'true' }),
    api.findList<Freeze>(`/temper/v1/nodes/${node.uuid}/freezes`),
    api.findList<RunbookView>('/v1/runbooks', { limit: 200 }),
    askedRules(api, nodeRules.map((rule) => ({ rule, node: node.uuid }))),
    // These lie outside the part that is reloaded.
    partial ? undefined : nodeParts(api, node.uuid),
  ]); // biome-ignore format: short requests
  return { node, runs, history, freezes, runbooks, answers, parts };
};

const longestTimeline = 100;

export const nodePage = async (context: PageContext): Promise<PageAnswer> => {
  const { node, runs, history, freezes, runbooks, answers, parts } = await nodeData(context);
  const [address, standing] = [nodeAddress(node), { node, holder: holderOf(node, runs), freezes }];
  const moments = [...runs.map(ofRun), ...history.map(ofHistory), ...freezes.map(ofFreeze)]
    .sort((one, other) => other.at.localeCompare(one.at))
    .slice(0, longestTimeline);
  const body = (
    <>
      <Live id="node" events={`${address}/live`} path={address}>
        <Title text={node.name ?? node.uuid} says={`${node.name ?? node.uuid}: ${node.provision_state}`}>
          <State is={node.provision_state} />
          <NodeTrouble node={node} />
        </Title>
        {node.maintenance && node.maintenance_reason && <Notice tone="wait" says={`In maintenance: ${node.maintenance_reason}`} />}
        {freezes.map(({ uuid, reason }) => <Notice key={uuid} tone="wait" says={`Frozen: ${reason}`} />)}
        {seenOf(node.last_error) && <Notice tone="bad" says={seenOf(node.last_error)} />}
        <Acts
          id="acts"
          offers={nodeOffers(standing)}
          answers={answers}
          about={{ kind: 'node', object: node.uuid }}
          session={context.session}
          actionOf={() => `${address}/acts`}
        />
        <NodeFacts node={node} />
        <section class="card" aria-labelledby="runbooks">
          <h2 id="runbooks">Run a runbook</h2>
          <RunbookForm standing={standing} runbooks={runbooks} session={context.session} answer={answers.get(runbookRule)} />
        </section>
        <h2>Activity</h2>
        <Timeline moments={moments} />
      </Live>
      {parts && <NodeParts {...parts} />}
    </>
  ); // biome-ignore format: short parts
  return { title: node.name ?? node.uuid, body };
};

type Order = readonly [method: 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown];

const orderOf = (node: string, form: FormContext['form']): Order | undefined => {
  const [reason, target, verb, runbook] = ['reason', 'target', 'verb', 'runbook'].map((name) => fieldOf(form, name));
  switch (fieldOf(form, 'what')) {
    case 'verb':
      return ['PUT', `/v1/nodes/${node}/states/provision`, { target: verb, ...(runbook && { runbook }) }];
    case 'power':
      return ['PUT', `/v1/nodes/${node}/states/power`, { target }];
    case 'maintenance-on':
      return ['PUT', `/v1/nodes/${node}/maintenance`, { reason }];
    case 'maintenance-off':
      return ['DELETE', `/v1/nodes/${node}/maintenance`];
    case 'freeze':
      return ['POST', `/temper/v1/nodes/${node}/freezes`, { reason }];
    default:
      return undefined;
  }
};

/** Redirects to the caused run, to the dry run, or to the node. */
export const actOnNode = async ({ api, params, form }: FormContext): Promise<PageAnswer> => {
  const ident = encodeURIComponent(params.node!);
  if (fieldOf(form, 'preview'))
    return { to: `/nodes/${ident}/plan?${new URLSearchParams({ runbook: fieldOf(form, 'runbook'), verb: fieldOf(form, 'verb') })}` }; // biome-ignore format: one address
  const order = orderOf(ident, form);
  if (!order) return { to: `/nodes/${ident}` };
  const [method, path, body] = order;
  await api.send(method, path, body, fieldOf(form, 'key') || undefined);
  if (!path.includes('/states/')) return { to: `/nodes/${ident}` };
  const [run] = await api.list<ListedRun>('/temper/v1/runs', { node: params.node, state: 'open', limit: 1 });
  return { to: run ? runAddress(run) : `/nodes/${ident}` };
};
