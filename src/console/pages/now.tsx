/** Start page, the inbox: items that wait for a person, oldest first. */
import type { ComponentChildren } from 'preact';
import type { Summary } from '../../wire/installation';
import type { ListedRun } from '../../wire/runs';
import { seenOf } from '../hidden';
import { type Answers, askedLists } from '../parts/acts';
import { Live } from '../parts/live';
import { Table } from '../parts/tables';
import { Empty, NodeLink, State, Time, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { NodeView, WorkerView } from '../views';
import { NodeTrouble, nodeNews } from './nodes';
import { RunActs, runAsks } from './run';
import { runAddress, runColumns, runNews, runTitle } from './runs';
import { WaitingRollouts, waitingRollouts } from './waiting';

const mostListed = 50;
const longestFirst = { sort_key: 'provision_updated_at', sort_dir: 'asc' };
const nodeFields = 'uuid,name,provision_state,power_state,maintenance,maintenance_reason,fault,last_error,owner,lessee,provision_updated_at,updated_at'; // biome-ignore format: one list
const sinceOf = (run: ListedRun): string => run.waiting_since ?? run.updated_at;
const oldestFirst = (one: ListedRun, other: ListedRun): number => sinceOf(one).localeCompare(sinceOf(other));

/** Only filters with a count above zero are requested. */
const troubleFilters = ({ nodes }: Summary): Record<string, string>[] => [
  ...(nodes.maintenance > 0 ? [{ maintenance: 'true' }] : []),
  ...Object.keys(nodes.provision_state).map((provision_state) => ({ provision_state })),
  ...Object.keys(nodes.fault).map((fault) => ({ fault })),
]; // biome-ignore format: one list

const trouble = async ({ api }: PageContext, summary: Summary): Promise<readonly NodeView[]> => {
  const lists = await Promise.all(
    troubleFilters(summary).map((filter) =>
      api.findList<NodeView>('/v1/nodes', { ...filter, fields: nodeFields, ...longestFirst, limit: mostListed }),
    ),
  );
  const byId = new Map(lists.flatMap((list) => list ?? []).map((node) => [node.uuid, node]));
  const since = (node: NodeView): string => node.provision_updated_at ?? '';
  return [...byId.values()].sort((one, other) => since(one).localeCompare(since(other))).slice(0, mostListed);
};

const mostDecisions = 20;

const decisionsOf = async ({ api }: PageContext, listed: readonly ListedRun[]) => {
  const runs = listed.slice(0, mostDecisions);
  const answers = await askedLists(api, runs.map(({ uuid }) => runAsks(uuid))); // biome-ignore format: one question
  return runs.map((run, at) => ({ run, answers: answers[at]! }));
};

type SectionProps = { readonly id: string; readonly title: string; readonly many: number; readonly children?: ComponentChildren }; // biome-ignore format: one row

const Section = ({ id, title, many, children }: SectionProps) =>
  many === 0 ? null : (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title} <span class="muted">{many}</span>
      </h2>
      {children}
    </section>
  );

type DecisionProps = { readonly run: ListedRun; readonly answers: Answers; readonly session: PageContext['session'] };

const DecisionCard = ({ run, answers, session }: DecisionProps) => {
  const says = run.waiting_for ?? run.last_error;
  const at = [run.step, run.attempt !== null && run.attempt > 1 && `attempt ${run.attempt}`].filter(Boolean).join(', ');
  return (
    <li class="card" id={`run-${run.uuid}`} data-key={run.uuid} data-says={`${runTitle(run)}: ${run.state}`}>
      <header>
        <State is={run.state} />
        <h3>
          <a href={runAddress(run)}>{runTitle(run)}</a>
        </h3>
        <span class="muted">
          {at && `${at}, `}
          <Time at={sinceOf(run)} />
        </span>
      </header>
      {says && <p class={run.state === 'parked' ? 'bad' : 'wait'}>{says}</p>}
      <RunActs run={run} answers={answers} session={session} />
    </li>
  );
};

const nodeColumns = [
  { title: 'Node', of: NodeLink },
  { title: 'State', of: (node: NodeView) => <State is={node.provision_state} /> },
  { title: 'Trouble', of: (node: NodeView) => <NodeTrouble node={node} /> },
  { title: 'Since', of: ({ provision_updated_at: at }: NodeView) => at && <Time at={at} /> },
  { title: 'Why', long: true, of: (node: NodeView) => node.maintenance_reason ?? seenOf(node.last_error) },
];

const workerColumns = [
  { title: 'Worker', of: ({ hostname }: WorkerView) => <State is={hostname} tone="bad" /> },
  { title: 'Last seen', of: ({ updated_at }: WorkerView) => <Time at={updated_at} /> },
];

/** Requests only lists of nodes that the summary counts. The other requests do not wait for it. */
const nowData = async (context: PageContext) => {
  const { api } = context;
  const runsIn = async (state: string): Promise<readonly ListedRun[]> =>
    (await api.list<ListedRun>('/temper/v1/runs', { state, sort_dir: 'asc', limit: mostListed })).toSorted(oldestFirst);
  const waiting = runsIn('parked,paused');
  const [decided, decisions, busy, nodes, workers, rollouts] = await Promise.all([
    waiting,
    waiting.then((runs) => decisionsOf(context, runs)),
    runsIn('waiting,retrying'),
    api.get<Summary>('/temper/v1/summary', { only: 'trouble' }).then((summary) => trouble(context, summary)),
    api.findList<WorkerView>('/v1/conductors', { detail: 'true' }),
    waitingRollouts(context),
  ]);
  return { rollouts, decisions, decided: decided.length, busy, nodes, away: (workers ?? []).filter(({ alive }) => !alive) };
}; // biome-ignore format: one row

export const nowPage = async (context: PageContext): Promise<PageAnswer> => {
  const { decisions, decided, busy, nodes, away, rollouts } = await nowData(context);
  const rolling = rollouts.decisions.length + rollouts.asked.length;
  const calm = decided + rolling + busy.length + nodes.length + away.length === 0;
  const body = (
    <>
      <Title text="Inbox" />
      <Live id="now" events="/live" path="/">
        {calm && (
          <Empty icon="circle-check" title="All clear">
            <p>Decisions, failing nodes and lost workers will show up here.</p>
            <a class="button" href="/nodes">
              See all nodes
            </a>
          </Empty>
        )}
        <Section id="decisions" title="Needs a decision" many={decided}>
          <ul class="cards">
            {decisions.map((one) => <DecisionCard key={one.run.uuid} {...one} session={context.session} />)}
          </ul>
        </Section>
        <Section id="rolling" title="Rollouts on hold" many={rolling}>
          <WaitingRollouts waiting={rollouts} session={context.session} />
        </Section>
        <Section id="failing" title="Failing nodes" many={nodes.length}>
          <Table caption="Failing nodes" rows={nodes} columns={nodeColumns} newsOf={nodeNews} />
        </Section>
        <Section id="waiting" title="Waiting and retrying runs" many={busy.length}>
          <Table caption="Waiting and retrying runs" rows={busy} columns={runColumns} newsOf={runNews} />
        </Section>
        <Section id="offline" title="Offline workers" many={away.length}>
          <Table caption="Offline workers" rows={away} columns={workerColumns} />
        </Section>
      </Live>
    </>
  ); // biome-ignore format: one table a row
  return { title: 'Inbox', body };
};
