/** Who has what: allocations, and nodes under lease. */
import type { VNode } from 'preact';
import { Pager, pageOf, pageSize, Table } from '../parts/tables';
import { Id, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { NodeView } from '../views';
import { nodeAddress } from './nodes';

type Allocation = {
  readonly uuid: string;
  readonly name: string | null;
  readonly state: string;
  readonly owner: string | null;
  readonly resource_class: string | null;
  readonly node_uuid: string | null;
  readonly last_error: string | null;
  readonly created_at: string;
};

export const allocationsPage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const [listed, leased] = await Promise.all([
    api.find<{ allocations: readonly Allocation[] }>('/v1/allocations', { limit: pageSize + 1, marker: query.marker }),
    api.find<{ nodes: readonly NodeView[] }>('/v1/nodes', {
      provision_state: 'active',
      fields: 'uuid,name,provision_state,owner,lessee,provision_updated_at',
      limit: 200,
    }),
  ]);
  const { shown, next } = pageOf(listed?.allocations ?? [], pageSize, ({ uuid }) => uuid);
  const nodes = (leased?.nodes ?? []).filter(({ lessee }) => lessee);
  const body: VNode = (
    <>
      <h1>Allocations and leases</h1>
      <h2>Allocations</h2>
      <Table
        caption="Allocations"
        rows={shown}
        keyOf={({ uuid }) => uuid}
        columns={[
          { title: 'Allocation', of: ({ uuid, name }) => name ?? <Id id={uuid} /> },
          { title: 'State', of: ({ state }) => <State is={state} /> },
          { title: 'Owner', of: ({ owner }) => owner ?? '–' },
          { title: 'Class', of: (one) => one.resource_class ?? '–' },
          { title: 'Node', of: ({ node_uuid: node }) => (node ? <Id id={node} href={`/nodes/${node}`} /> : '–') },
          { title: 'Made', of: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Last error', of: (one) => one.last_error },
        ]}
        empty="There is no allocation that you may see. One asks for a node of a class with traits: POST /v1/allocations, or `baremetal allocation create`."
      />
      <Pager path="/allocations" query={query} next={next} />
      <h2>Nodes in use under lease</h2>
      <Table
        caption="Nodes in use under lease"
        rows={nodes}
        keyOf={({ uuid }) => uuid}
        columns={[
          { title: 'Node', of: (node) => <a href={nodeAddress(node)}>{node.name ?? node.uuid.slice(0, 8)}</a> },
          { title: 'Owner', of: ({ owner }) => owner ?? '–' },
          { title: 'Lessee', of: ({ lessee }) => lessee },
          { title: 'In use since', of: (node) => <Time at={node.provision_updated_at} /> },
        ]}
        empty="No node that you may see is leased and in use."
      />
    </>
  );
  return { title: 'Allocations and leases', body };
};
