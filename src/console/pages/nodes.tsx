/** List of nodes: the address holds filters, order and page; chosen nodes can go into a rollout. */
import { states } from '../../model/lifecycle/states';
import type { Summary } from '../../wire/installation';
import { Send } from '../parts/forms';
import { Icon } from '../parts/icons';
import { type List, listPage } from '../parts/list';
import type { RowNews } from '../parts/tables';
import { Empty, Lasting, NodeLink, Project, State } from '../parts/texts';
import { addressWith, type PageQuery } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';
import type { NodeView } from '../views';
import { manyNodesPath } from './many-nodes';

const listedFields =
  'uuid,name,provision_state,power_state,maintenance,fault,owner,lessee,driver,resource_class,conductor_group,reservation,provision_updated_at';

export const NodeTrouble = ({ node }: { node: NodeView }) => (
  <>
    {node.maintenance && <State is={node.fault ? `maintenance: ${node.fault}` : 'maintenance'} tone="wait" />}
    {!node.maintenance && node.fault && <State is={node.fault} tone="bad" />}
  </>
);

const nodeNews: RowNews<NodeView> = ({ uuid, name, provision_state }) => ({
  key: uuid,
  says: `${name ?? uuid}: ${provision_state}`,
});

/** Its id keeps the tick when the rows are reloaded. */
const Choose = ({ uuid, name }: NodeView) => (
  <input
    type="checkbox"
    id={`choose-${uuid}`}
    autocomplete="off"
    form="choose"
    name="node"
    value={name ?? uuid}
    aria-label={`Select ${name ?? uuid}`}
  />
);

/** Filters that can also select a rollout's nodes. */
const selecting = ['provision_state', 'owner', 'lessee', 'driver', 'resource_class', 'conductor_group'] as const;

const selectingOf = (query: PageQuery): Record<string, string> =>
  Object.fromEntries(selecting.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

/** Rises if rows are selected; styles show it, so it works without scripts. */
const Chosen = () => (
  <form id="choose" method="get" action="/rollouts/new" class="choices" aria-label="Selected nodes">
    <b data-count>Selected nodes</b>
    <button type="submit" formaction={manyNodesPath}>
      Change…
    </button>
    <Send tone="primary" label="Plan a rollout" />
  </form>
);

const changing = [...selecting, 'maintenance', 'fault'] as const;

/** Acts on all nodes of the filters, which the buttons say. */
const ForAll = ({ query }: { query: PageQuery }) => {
  const given = selectingOf(query);
  const filters = Object.fromEntries(changing.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  return (
    <>
      {Object.keys(filters).length > 0 && (
        <a class="button" href={addressWith(manyNodesPath, { all: 'yes', ...filters })}>
          Change all of these filters
        </a>
      )}
      <a class="button" href={addressWith('/rollouts/new', given)}>
        <Icon is="waves" />
        {Object.keys(given).length > 0 ? 'Plan a rollout for these filters' : 'Plan a rollout'}
      </a>
    </>
  );
};

const NodeCounts = ({ summary, query }: { summary: Summary | undefined; query: PageQuery }) => {
  const counts = Object.entries(summary?.nodes.provision_state ?? {}).sort(([a], [b]) => a.localeCompare(b));
  if (counts.length === 0) return null;
  return (
    <ul class="pills" aria-label="Nodes by state">
      {counts.map(([state, count]) => (
        <li key={state}>
          <a
            href={`/nodes?provision_state=${encodeURIComponent(state)}`}
            aria-current={query.provision_state === state ? 'true' : undefined}
          >
            <State is={state} /> <b>{count}</b>
          </a>
        </li>
      ))}
    </ul>
  );
};

const nodes: List<NodeView> = {
  title: 'Nodes',
  path: '/nodes',
  from: '/v1/nodes',
  views: [
    ['All', {}],
    ['In maintenance', { maintenance: 'true' }],
    ['In use', { provision_state: 'active' }],
    ['Free', { provision_state: 'available', maintenance: 'false' }],
    ['Longest in their state', { sort_key: 'provision_updated_at' }],
  ],
  filters: [
    { name: 'provision_state', label: 'State', options: Object.keys(states) },
    { name: 'maintenance', label: 'Maintenance', options: [['true', 'in maintenance'], ['false', 'not in maintenance']] }, // biome-ignore format: one row
    { name: 'owner', label: 'Owner' },
    { name: 'lessee', label: 'Lessee' },
    { name: 'resource_class', label: 'Class' },
  ],
  also: ['fault', 'driver', 'conductor_group', 'sort_key', 'sort_dir'],
  fixed: { fields: listedFields },
  markerOf: ({ uuid }) => uuid,
  columns: [
    { title: 'Select', ticks: true, of: Choose },
    { title: 'Name', sort: 'name', of: NodeLink },
    { title: 'State', sort: 'provision_state', of: (node) => <State is={node.provision_state} /> },
    { title: 'Power', sort: 'power_state', of: (node) => <State is={node.power_state ?? 'unknown'} /> },
    { title: 'Trouble', of: (node) => (node.maintenance || node.fault) && <NodeTrouble node={node} /> },
    { title: 'Owner', sort: 'owner', of: ({ owner }) => owner && <Project id={owner} /> },
    { title: 'Lessee', sort: 'lessee', of: ({ lessee }) => lessee && <Project id={lessee} /> },
    { title: 'Class', sort: 'resource_class', of: (node) => node.resource_class },
    { title: 'Driver', sort: 'driver', optional: true, of: ({ driver }) => driver },
    { title: 'Conductor group', sort: 'conductor_group', optional: true, of: (node) => node.conductor_group },
    {
      title: 'In this state',
      sort: 'provision_updated_at',
      of: ({ provision_updated_at: at }) => at && <Lasting since={at} />,
    },
  ],
  newsOf: nodeNews,
  empty: (
    <Empty icon="server" title="No nodes yet">
      <p>Nodes that an operator enrols for your project, or leases to it, show up here.</p>
    </Empty>
  ),
  events: '/live',
};

export const nodesPage = (context: PageContext): Promise<PageAnswer> =>
  listPage(context, {
    ...nodes,
    around: async (filtered) => {
      const summary = await context.api.find<Summary>('/temper/v1/summary');
      return {
        end: <ForAll query={context.query} />,
        above: <NodeCounts summary={summary} query={context.query} />,
        below: <Chosen />,
        ...(!filtered && { total: summary?.nodes.count }),
      };
    },
  });
