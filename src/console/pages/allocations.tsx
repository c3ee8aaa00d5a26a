/** Page of allocations and leased nodes. */
import { Pager, pageOf, pageSize, Table } from '../parts/tables';
import { Empty, Id, NodeLink, Project, State, Time, Title } from '../parts/texts';
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
  const title = 'Allocations';
  const body = (
    <>
      <Title text={title} />
      <Table
        caption="Allocations"
        rows={shown}
        columns={[
          { title: 'Allocation', of: ({ uuid, name }) => name ?? <Id id={uuid} /> },
          { title: 'State', of: ({ state }) => <State is={state} /> },
          { title: 'Owner', of: ({ owner }) => owner && <Project id={owner} /> },
          { title: 'Class', of: (one) => one.resource_class },
          { title: 'Node', of: ({ node_uuid: node }) => node && <Id id={node} href={`/nodes/${node}`} /> },
          { title: 'Created', of: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Last error', long: true, of: (one) => one.last_error },
        ]}
        empty={
          <Empty icon="key-round" title="No allocations yet">
            <p>An allocation requests a node of a class with traits.</p>
            <code>baremetal allocation create --resource-class CLASS</code>
          </Empty>
        }
      />
      <Pager path="/allocations" query={query} next={next} />
      <Table
        heading
        caption="Leased nodes in use"
        rows={leased.filter(({ lessee }) => lessee)}
        columns={[
          { title: 'Node', of: NodeLink },
          { title: 'Owner', of: ({ owner }) => owner && <Project id={owner} /> },
          { title: 'Lessee', of: ({ lessee }) => lessee && <Project id={lessee} /> },
          { title: 'In use since', of: (node) => <Time at={node.provision_updated_at} /> },
        ]}
        empty="No leased nodes in use"
      />
    </>
  );
  return { title, body };
};
