/** Inbox: decisions, failing nodes, nodes in maintenance and offline workers, oldest first, with their acts. */
import type { ComponentChildren } from 'preact';
import { failedStates } from '../../model/lifecycle/states';
import type { Incidents, Summary } from '../../wire/installation';
import type { ListedRun } from '../../wire/runs';
import { Done } from '../parts/acts';
import { Live } from '../parts/live';
import { Table } from '../parts/tables';
import { Empty, State, Time, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { NodeView, WorkerView } from '../views';
import { countText, Decisions, decisionsOf, isHeld, mostListed, NodeCard, type NodeGroup, nodeGroups, nodeSince, nodesIn } from './decisions'; // biome-ignore format: one line
import { stateOfNode } from './node-standing';
import { runColumns, runNews } from './runs';

type Question = readonly [filter: Readonly<Record<string, string>>, sort?: string];

/** Only filters with a count above zero are requested. */
const troubleQuestions = ({ nodes }: Summary): Question[] => [
  ...(nodes.maintenance > 0 ? [[{ maintenance: 'true' }, 'maintenance_since'] as const] : []),
  ...failedStates.filter((state) => nodes.provision_state[state]).map((provision_state) => [{ provision_state }] as const),
  ...Object.keys(nodes.fault).map((fault) => [{ fault }, 'fault_since'] as const),
]; // biome-ignore format: one list

const troubledNodes = async (context: PageContext, summary: Summary): Promise<readonly NodeView[]> => {
  const lists = await Promise.all(troubleQuestions(summary).map((question) => nodesIn(context, ...question)));
  const byId = new Map(
    lists
      .flat()
      .filter((node) => !isHeld(node))
      .map((node) => [node.uuid, node]),
  );
  return [...byId.values()].sort((one, other) => nodeSince(one).localeCompare(nodeSince(other))).slice(0, mostListed);
};

type SectionProps = { readonly id: string; readonly title: string; readonly many: number; readonly isPart?: boolean; readonly children?: ComponentChildren }; // biome-ignore format: one row

const Section = ({ id, title, many, isPart, children }: SectionProps) =>
  many === 0 ? null : (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title} <span class="muted">{countText(many, isPart)}</span>
      </h2>
      {children}
    </section>
  );

const workerColumns = [
  { title: 'Worker', of: ({ hostname }: WorkerView) => <State is={hostname} tone="bad" /> },
  { title: 'Last seen', of: ({ updated_at }: WorkerView) => <Time at={updated_at} /> },
];

const inboxData = async (context: PageContext) => {
  const { api } = context;
  const [decided, busy, troubled, workers, found] = await Promise.all([
    decisionsOf(context),
    api.list<ListedRun>('/temper/v1/runs', { state: 'waiting,retrying', sort_dir: 'asc', limit: mostListed }),
    api.get<Summary>('/temper/v1/summary', { only: 'trouble' }).then((summary) => troubledNodes(context, summary)).then((nodes) => nodeGroups(context, nodes)),
    api.findList<WorkerView>('/v1/conductors', { detail: 'true' }),
    api.find<Incidents>('/temper/v1/incidents'),
  ]); // biome-ignore format: one question a row
  // Those on hold are decisions.
  const others = busy.filter(({ waiting_for }) => waiting_for !== 'unhold');
  const [failing, maintained] = [troubled.filter(isFailing), troubled.filter((group) => !isFailing(group))];
  const isPart = sizeOf(troubled) >= mostListed;
  const away = (workers ?? []).filter(({ alive }) => !alive);
  return { ...decided, busy: others, failing, maintained, isPart, away, incidents: found?.incidents ?? [] };
};

const sizeOf = (groups: readonly NodeGroup[]): number => groups.reduce((all, { nodes }) => all + nodes.length, 0);

/** Others were only put into maintenance. */
const isFailing = ({ nodes }: NodeGroup): boolean => stateOfNode(nodes[0]!).tone === 'bad';

const incidentOf = ({ nodes: [node] }: NodeGroup, incidents: Incidents['incidents']) =>
  incidents.find(({ nodes }) => nodes.some(({ uuid }) => uuid === node!.uuid));

type NodeSectionProps = { readonly id: string; readonly title: string; readonly groups: readonly NodeGroup[]; readonly isPart: boolean; readonly incidents?: Incidents['incidents']; readonly session: PageContext['session'] }; // biome-ignore format: one row

const NodeSection = ({ id, title, groups, isPart, incidents = [], session }: NodeSectionProps) => (
  <Section id={id} title={title} many={sizeOf(groups)} isPart={isPart}>
    <ul class="cards two">
      {groups.map((group) => <NodeCard key={group.nodes[0]!.uuid} group={group} incident={incidentOf(group, incidents)} from="/inbox" session={session} />)}
    </ul>
  </Section>
); // biome-ignore format: short parts

const AllClear = () => (
  <Empty icon="circle-check" title="All clear">
    <p>Decisions, failing nodes and offline workers will show up here.</p>
    <a class="button" href="/nodes">
      See all nodes
    </a>
  </Empty>
);

export const inboxPage = async (context: PageContext): Promise<PageAnswer> => {
  const { decisions, counted, busy, failing, maintained, isPart, away, incidents } = await inboxData(context);
  const { session } = context;
  const calm = [decisions, busy, failing, maintained, away].every(({ length }) => length === 0);
  const body = (
    <>
      <Title text="Inbox"><span class="muted">oldest first</span></Title>
      <Done {...context} />
      <Live id="inbox" events="/live" path="/inbox">
        {calm && <AllClear />}
        <Section id="decisions" title="Needs a decision" many={counted}>
          <Decisions decisions={decisions} from="/inbox" session={session} />
        </Section>
        <NodeSection id="failing" title="Failing nodes" groups={failing} isPart={isPart} incidents={incidents} session={session} />
        <NodeSection id="maintained" title="In maintenance" groups={maintained} isPart={isPart} session={session} />
        <Section id="offline" title="Offline workers" many={away.length}>
          <Table caption="Offline workers" rows={away} columns={workerColumns} />
        </Section>
        <Section id="waiting" title="Waiting and retrying runs" many={busy.length}>
          <Table caption="Waiting and retrying runs" rows={busy} columns={runColumns} newsOf={runNews} />
        </Section>
      </Live>
    </>
  ); // biome-ignore format: one table a row
  return { title: 'Inbox', body };
};
