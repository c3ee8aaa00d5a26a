/** The list of nodes: counts, filters, order and place are the address of the page. */
import type { VNode } from 'preact';
import { states } from '../../model/lifecycle/states';
import { Choice, Field } from '../parts/forms';
import { Live } from '../parts/live';
import { type Column, Pager, pageOf, pageSize, Table } from '../parts/tables';
import { State, Time } from '../parts/texts';
import type { PageAnswer, PageContext, PageQuery } from '../server/context';
import type { NodeView } from '../views';

const listedFields =
  'uuid,name,provision_state,power_state,maintenance,fault,owner,lessee,driver,resource_class,reservation,provision_updated_at';

const nodeFilters = ['provision_state', 'maintenance', 'fault', 'owner', 'lessee', 'driver', 'resource_class', 'conductor_group', 'sort_key', 'sort_dir', 'marker'] as const; // biome-ignore format: one row of names

export const nodeAddress = ({ uuid, name }: { uuid: string; name: string | null }): string =>
  `/nodes/${encodeURIComponent(name ?? uuid)}`;

export const NodeTrouble = ({ node }: { node: NodeView }) => (
  <>
    {node.maintenance && <State is={node.fault ? `maintenance: ${node.fault}` : 'maintenance'} tone="wait" />}
    {!node.maintenance && node.fault && <State is={node.fault} tone="bad" />}
  </>
);

const listedColumns: readonly Column<NodeView>[] = [
  { title: 'Name', sort: 'name', of: (node) => <a href={nodeAddress(node)}>{node.name ?? node.uuid.slice(0, 8)}</a> },
  { title: 'State', sort: 'provision_state', of: (node) => <State is={node.provision_state} /> },
  { title: 'Power', sort: 'power_state', of: (node) => <State is={node.power_state ?? 'unknown'} /> },
  { title: 'Trouble', of: (node) => <NodeTrouble node={node} /> },
  { title: 'Owner', sort: 'owner', of: ({ owner }) => owner ?? '–' },
  { title: 'Lessee', sort: 'lessee', of: ({ lessee }) => lessee ?? '–' },
  { title: 'Class', sort: 'resource_class', of: (node) => node.resource_class ?? '–' },
  { title: 'Driver', sort: 'driver', of: ({ driver }) => driver },
  { title: 'In this state', sort: 'provision_updated_at', of: (node) => <Time at={node.provision_updated_at} /> },
];

const any = [['', 'any']] as const;

const Filters = ({ query }: { query: PageQuery }) => (
  <form method="get" action="/nodes" class="row" aria-label="Filters">
    <Choice
      label="State"
      name="provision_state"
      value={query.provision_state}
      options={[...any, ...Object.keys(states).map((state) => [state, state] as const)]}
    />
    <Choice
      label="Maintenance"
      name="maintenance"
      value={query.maintenance}
      options={[...any, ['true', 'in maintenance'], ['false', 'not in maintenance']]}
    />
    <Field label="Owner" name="owner" value={query.owner} />
    <Field label="Lessee" name="lessee" value={query.lessee} />
    <Field label="Class" name="resource_class" value={query.resource_class} />
    <button type="submit">Filter</button>
    <a href="/nodes">All nodes</a>
  </form>
);

type Summary = { readonly nodes: { readonly provision_state: Readonly<Record<string, number>> } };

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

const wanted = (query: PageQuery): PageQuery => Object.fromEntries(nodeFilters.map((name) => [name, query[name]]));

export const nodesPage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const [{ nodes }, summary] = await Promise.all([
    api.get<{ nodes: readonly NodeView[] }>('/v1/nodes', {
      ...wanted(query),
      fields: listedFields,
      limit: pageSize + 1,
    }),
    api.find<Summary>('/temper/v1/summary'),
  ]);
  const { shown, next } = pageOf(nodes, pageSize, ({ uuid }) => uuid);
  const filtered = nodeFilters.some((name) => query[name] !== undefined && !name.startsWith('sort'));
  const body: VNode = (
    <>
      <h1>Nodes</h1>
      <Filters query={query} />
      <Live id="nodes" events="/live" path="/nodes" query={query}>
        <NodeCounts summary={summary} query={query} />
        <Table
          caption="Nodes"
          rows={shown}
          keyOf={({ uuid }) => uuid}
          columns={listedColumns}
          path="/nodes"
          query={wanted(query)}
          empty={
            filtered ? (
              <>
                No node that you may see is so. <a href="/nodes">Show all nodes.</a>
              </>
            ) : (
              'There is no node that you may see. An operator enrols nodes, and gives them an owner or a lessee; then they are shown here.'
            )
          }
        />
        <Pager path="/nodes" query={wanted(query)} next={next} />
      </Live>
    </>
  );
  return { title: 'Nodes', body };
};
