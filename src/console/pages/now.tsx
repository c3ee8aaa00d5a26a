/** The start page: what waits for a person, oldest first, each with its decision. */
import type { ComponentChildren, VNode } from 'preact';
import { askedRules } from '../parts/acts';
import { Live } from '../parts/live';
import { Table } from '../parts/tables';
import { State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { CanAnswer, NodeView, RunListed, RunView } from '../views';
import { NodeTrouble, nodeAddress } from './nodes';
import { rolloutEveryS } from './rollouts';
import { RunActs, runAsks } from './run';
import { runAddress, runColumns } from './runs';
import { WaitingRollouts, waitingRollouts } from './waiting';

const mostListed = 50;
const nodeFields = 'uuid,name,provision_state,power_state,maintenance,maintenance_reason,fault,last_error,owner,lessee,provision_updated_at,updated_at'; // biome-ignore format: one list
const failedStates = ['clean failed', 'deploy failed', 'inspect failed', 'rescue failed', 'unrescue failed', 'service failed', 'adopt failed', 'error'] as const; // biome-ignore format: one row of names

type Worker = {
  readonly hostname: string;
  readonly alive: boolean;
  readonly conductor_group: string;
  readonly updated_at?: string;
};

const oldestFirst = (one: RunListed, other: RunListed): number => one.updated_at.localeCompare(other.updated_at);

const runsIn = async ({ api }: PageContext, state: string): Promise<readonly RunListed[]> =>
  (await api.get<{ runs: readonly RunListed[] }>('/temper/v1/runs', { state, limit: mostListed })).runs;

const nodesWith = async ({ api }: PageContext, filter: Record<string, string>): Promise<readonly NodeView[]> =>
  (await api.find<{ nodes: readonly NodeView[] }>('/v1/nodes', { ...filter, fields: nodeFields, limit: mostListed }))
    ?.nodes ?? [];

const trouble = async (context: PageContext): Promise<readonly NodeView[]> => {
  const lists = await Promise.all([
    nodesWith(context, { maintenance: 'true' }),
    ...failedStates.map((provision_state) => nodesWith(context, { provision_state })),
  ]);
  const byId = new Map(lists.flat().map((node) => [node.uuid, node]));
  return [...byId.values()].sort((one, other) =>
    (one.provision_updated_at ?? '').localeCompare(other.provision_updated_at ?? ''),
  );
};

const mostDecisions = 20;

/** Parked and paused runs with what the caller may decide. */
const decisionsOf = async (
  { api }: PageContext,
  runs: readonly RunListed[],
): Promise<readonly { readonly run: RunView; readonly answers: ReadonlyMap<string, CanAnswer> }[]> => {
  const found = await Promise.all(
    runs.slice(0, mostDecisions).map(async ({ uuid }) => {
      const run = await api.find<RunView>(`/temper/v1/runs/${uuid}`);
      return run && { run, answers: await askedRules(api, runAsks(uuid)) };
    }),
  );
  return found.filter((one) => one !== undefined);
};

const Section = ({ id, title, children }: { id: string; title: string; children?: ComponentChildren }) => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
);

type Decision = Awaited<ReturnType<typeof decisionsOf>>[number];

const DecisionCard = ({ decision, session }: { decision: Decision; session: PageContext['session'] }) => {
  const { run, answers } = decision;
  const step = run.steps.find(({ index }) => index === run.cursor);
  const says = run.waiting_for ?? step?.last_error ?? run.last_error;
  return (
    <li class="card">
      <h3>
        <a href={runAddress(run)}>
          {run.verb} on {run.node_name ?? run.node_uuid}
        </a>{' '}
        <State is={run.state} />
      </h3>
      <p class="muted">
        {step && `${step.interface}.${step.step}, `}since <Time at={run.waiting_since ?? run.updated_at} />
      </p>
      {says && <p class={run.state === 'parked' ? 'bad' : 'wait'}>{says}</p>}
      <RunActs run={run} answers={answers} session={session} />
    </li>
  );
};

const nodeColumns = [
  { title: 'Node', of: (node: NodeView) => <a href={nodeAddress(node)}>{node.name ?? node.uuid.slice(0, 8)}</a> },
  { title: 'State', of: (node: NodeView) => <State is={node.provision_state} /> },
  { title: 'Trouble', of: (node: NodeView) => <NodeTrouble node={node} /> },
  { title: 'Since', of: (node: NodeView) => <Time at={node.provision_updated_at} /> },
  { title: 'Why', of: (node: NodeView) => node.maintenance_reason ?? node.last_error },
];

const nowData = async (context: PageContext) => {
  const { api } = context;
  const [parked, paused, waiting, retrying, nodes, workers, rollouts] = await Promise.all([
    runsIn(context, 'parked'),
    runsIn(context, 'paused'),
    runsIn(context, 'waiting'),
    runsIn(context, 'retrying'),
    trouble(context),
    api.find<{ conductors: readonly Worker[] }>('/v1/conductors', { detail: 'true' }),
    waitingRollouts(context),
  ]);
  return {
    rollouts,
    decisions: await decisionsOf(context, [...parked, ...paused].sort(oldestFirst)),
    decided: parked.length + paused.length,
    busy: [...waiting, ...retrying].sort(oldestFirst),
    nodes,
    away: (workers?.conductors ?? []).filter(({ alive }) => !alive),
  };
};

export const nowPage = async (context: PageContext): Promise<PageAnswer> => {
  const { decisions, decided, busy, nodes, away, rollouts } = await nowData(context);
  const rolling = rollouts.decisions.length + rollouts.asked.length;
  const calm = decided + rolling + busy.length + nodes.length + away.length === 0;
  const body: VNode = (
    <>
      <h1>Now</h1>
      <Live id="now" events="/live" path="/" everyS={rolling > 0 ? rolloutEveryS : undefined}>
        {calm && (
          <p class="empty">
            Nothing waits for you. Runs and rollouts that need a decision, nodes in trouble and workers that are away
            are shown here as they come. See all <a href="/runs">runs</a> or all <a href="/nodes">nodes</a>.
          </p>
        )}
        {decisions.length > 0 && (
          <Section id="decisions" title={`Waits for a decision (${decided})`}>
            <ul class="cards">
              {decisions.map((decision) => (
                <DecisionCard key={decision.run.uuid} decision={decision} session={context.session} />
              ))}
            </ul>
          </Section>
        )}
        {rolling > 0 && (
          <Section id="rolling" title={`Rollouts that wait (${rolling})`}>
            <WaitingRollouts waiting={rollouts} session={context.session} />
          </Section>
        )}
        {nodes.length > 0 && (
          <Section id="trouble" title={`Nodes in trouble (${nodes.length})`}>
            <Table caption="Nodes in trouble" rows={nodes} keyOf={({ uuid }) => uuid} columns={nodeColumns} empty="" />
          </Section>
        )}
        {busy.length > 0 && (
          <Section id="busy" title={`Waiting or trying again (${busy.length})`}>
            <Table
              caption="Runs that wait or try again"
              rows={busy}
              keyOf={({ uuid }) => uuid}
              columns={runColumns}
              empty=""
            />
          </Section>
        )}
        {away.length > 0 && (
          <Section id="away" title={`Workers that are away (${away.length})`}>
            <ul>
              {away.map(({ hostname, updated_at }) => (
                <li key={hostname}>
                  <State is={hostname} tone="bad" /> last seen <Time at={updated_at} />
                </li>
              ))}
            </ul>
          </Section>
        )}
      </Live>
    </>
  );
  return { title: 'Now', body };
};
