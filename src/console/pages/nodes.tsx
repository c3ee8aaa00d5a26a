/** List of nodes: the address holds filters, order and page; chosen nodes can go into a rollout. */
import { states } from '../../model/lifecycle/states';
import type { Summary } from '../../wire/installation';
import { Hidden } from '../parts/forms';
import { type List, listPage } from '../parts/list';
import { NodeLink, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext, PageQuery } from '../server/context';
import type { NodeView } from '../views';

const listedFields =
  'uuid,name,provision_state,power_state,maintenance,fault,owner,lessee,driver,resource_class,reservation,provision_updated_at';

export const NodeTrouble = ({ node }: { node: NodeView }) => (
  <>
    {node.maintenance && <State is={node.fault ? `maintenance: ${node.fault}` : 'maintenance'} tone="wait" />}
    {!node.maintenance && node.fault && <State is={node.fault} tone="bad" />}
  </>
);

/** The box stays checked when the rows are reloaded. */
const Choose = ({ uuid, name }: NodeView) => (
  <input
    type="checkbox"
    id={`choose-${uuid}`}
    hx-preserve="true"
    form="choose"
    name="node"
    value={name ?? uuid}
    aria-label={`Choose ${name ?? uuid}`}
  />
);

/** Filters that can also select a rollout's nodes. */
const selecting = ['provision_state', 'owner', 'lessee', 'driver', 'resource_class', 'conductor_group'] as const;

const Chosen = ({ query }: { query: PageQuery }) => (
  <form id="choose" method="get" action="/rollouts/new" class="row" aria-label="Rollout">
    <Hidden fields={Object.fromEntries(selecting.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))} />
    <button type="submit">Plan a rollout with the chosen nodes</button>
    <small class="muted">without a choice: with all nodes of these filters</small>
  </form>
);

const NodeCounts = ({ summary, query }: { summary: Summary | undefined; query: PageQuery }) => {
  const counts = Object.entries(summary?.nodes.provision_state ?? {}).sort(([a], [b]) => a.localeCompare(b));
  if (counts.length === 0) return null;
  return (
    <ul class="counts" aria-label="Nodes by state">
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
    { title: 'Choose', of: Choose },
    { title: 'Name', sort: 'name', of: NodeLink },
    { title: 'State', sort: 'provision_state', of: (node) => <State is={node.provision_state} /> },
    { title: 'Power', sort: 'power_state', of: (node) => <State is={node.power_state ?? 'unknown'} /> },
    { title: 'Trouble', of: (node) => <NodeTrouble node={node} /> },
    { title: 'Owner', sort: 'owner', of: ({ owner }) => owner },
    { title: 'Lessee', sort: 'lessee', of: ({ lessee }) => lessee },
    { title: 'Class', sort: 'resource_class', of: (node) => node.resource_class },
    { title: 'Driver', sort: 'driver', of: ({ driver }) => driver },
    { title: 'In this state', sort: 'provision_updated_at', of: (node) => <Time at={node.provision_updated_at} /> },
  ],
  empty:
    'There is no node that you may see. An operator enrols nodes, and gives them an owner or a lessee; then they are shown here.',
  events: '/live',
};

export const nodesPage = (context: PageContext): Promise<PageAnswer> =>
  listPage(context, {
    ...nodes,
    around: async () => ({
      above: <NodeCounts summary={await context.api.find<Summary>('/temper/v1/summary')} query={context.query} />,
      below: <Chosen query={context.query} />,
    }),
  });
