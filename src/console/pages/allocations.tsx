/** Page of allocations and leased nodes. */
import { Pager, pageOf, pageSize, Table } from '../parts/tables';
import { Id, NodeLink, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { Fields, NodeView } from '../views';

type Allocation = Fields<'uuid' | 'state' | 'created_at', string> &
  Fields<'name' | 'owner' | 'resource_class' | 'node_uuid' | 'last_error', string | null>;

export const allocationsPage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const [listed = [], leased = []] = await Promise.all([
    api.findList<Allocation>('/v1/allocations', { limit: pageSize + 1, marker: query.marker }),
    api.findList<NodeView>('/v1/nodes', {
      provision_state: 'active',
      fields: 'uuid,name,provision_state,owner,lessee,provision_updated_at',
      limit: 200,
    }),
  ]);
  const { shown, next } = pageOf(listed, ({ uuid }) => uuid);
  const title = 'Allocations and leases';
  const body = (
    <>
      <h1>{title}</h1>
      <Table
        heading
        caption="Allocations"
        rows={shown}
        columns={[
          { title: 'Allocation', of: ({ uuid, name }) => name ?? <Id id={uuid} /> },
          { title: 'State', of: ({ state }) => <State is={state} /> },
          { title: 'Owner', of: ({ owner }) => owner },
          { title: 'Class', of: (one) => one.resource_class },
          { title: 'Node', of: ({ node_uuid: node }) => node && <Id id={node} href={`/nodes/${node}`} /> },
          { title: 'Made', of: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Last error', of: (one) => one.last_error },
        ]}
        empty="There is no allocation that you may see. One asks for a node of a class with traits: POST /v1/allocations, or `baremetal allocation create`."
      />
      <Pager path="/allocations" query={query} next={next} />
      <Table
        heading
        caption="Nodes in use under lease"
        rows={leased.filter(({ lessee }) => lessee)}
        columns={[
          { title: 'Node', of: NodeLink },
          { title: 'Owner', of: ({ owner }) => owner },
          { title: 'Lessee', of: ({ lessee }) => lessee },
          { title: 'In use since', of: (node) => <Time at={node.provision_updated_at} /> },
        ]}
        empty="No node that you may see is leased and in use."
      />
    </>
  );
  return { title, body };
};
