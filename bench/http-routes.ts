/** The routes that are measured beside the bare process, and the rows that they are asked of. */
import type { BareRead } from './bare';
import { inTurn } from './nodes';
import { type Statement, statementsOf } from './plans/statements';
import { ask, type System } from './system';

export type Route = {
  readonly name: string;
  /** One row, or a list: each has a goal of its own. */
  readonly kind: 'row' | 'list';
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Taken in turn. */
  readonly paths: readonly string[];
  readonly body?: string;
};

/** Rows of a list; nodes with one port each, beside those. */
const [listed, withPorts] = [1_000, 10_000];

const node = (name: string) => ({
  name,
  driver: 'fake-hardware',
  driver_info: {},
  resource_class: 'baremetal',
  properties: { cpus: 64, memory_mb: 262_144, local_gb: 1_787, cpu_arch: 'x86_64' },
  extra: { rack: 'r17', unit: 12, asset: 'A-004711' },
});

/** Enrolled as a caller does it; ports and allocations by hand. @returns UUIDs of the nodes, and of an allocation */
export const fillForRoutes = async (system: System): Promise<{ nodes: readonly string[]; allocation: string }> => {
  const nodes = await inTurn(
    Array.from({ length: listed }),
    8,
    async (_, index) => JSON.parse(await ask(system, 'POST', '/v1/nodes', node(`bench-${index}`))).uuid as string,
  );
  const { sql } = system;
  await sql`
    with enrolled as (
      insert into nodes (name, driver) select 'bench-ports-' || n, 'fake-hardware' from generate_series(1, ${withPorts}::int) n
      returning uuid, id)
    insert into ports (node_uuid, address, local_link_connection)
    select uuid, regexp_replace(lpad(to_hex(id + (1 << 24)), 12, '0'), '(..)(..)(..)(..)(..)(..)', '\\1:\\2:\\3:\\4:\\5:\\6'),
      '{"switch_id": "00:00:5e:00:53:01", "port_id": "eth0"}' from enrolled`;
  const allocations = await sql<{ uuid: string }[]>`
    insert into allocations (name, resource_class, state, last_error)
    select 'bench-http-' || n, 'none', 'error', 'no node' from generate_series(1, ${listed}::int) n returning uuid`;
  await sql`vacuum analyze`;
  return { nodes, allocation: allocations[0]!.uuid };
};

/** Takes away what was made by hand. */
export const emptyForRoutes = async ({ sql }: System): Promise<void> => {
  await sql`delete from nodes where name like 'bench-ports-%'`;
  await sql`delete from allocations where name like 'bench-http-%'`;
};

export const routesOn = ({ nodes, allocation }: { nodes: readonly string[]; allocation: string }): Route[] => {
  const get = (kind: Route['kind'], name: string, path: string): Route => ({
    name,
    kind,
    method: 'GET',
    paths: [path],
  });
  return [
    get('row', 'node show', `/v1/nodes/${nodes[0]}`),
    {
      name: 'node create',
      kind: 'row',
      method: 'POST',
      paths: ['/v1/nodes'],
      body: JSON.stringify(node('bench-%id%')),
    },
    {
      name: 'node patch',
      kind: 'row',
      method: 'PATCH',
      paths: nodes.map((uuid) => `/v1/nodes/${uuid}`),
      body: JSON.stringify([{ op: 'add', path: '/extra/asset', value: 'bench-%id%' }]),
    },
    get('row', 'allocation show', `/v1/allocations/${allocation}`),
    get('list', '1,000 nodes', `/v1/nodes?limit=${listed}`),
    get('list', '1,000 nodes, two fields', `/v1/nodes?fields=uuid,name&limit=${listed}`),
    get('list', '1,000 nodes in detail', `/v1/nodes?detail=True&limit=${listed}`),
    get('list', '1,000 ports of 10,000', `/v1/ports?limit=${listed}`),
    get('list', '1,000 allocations', `/v1/allocations?limit=${listed}`),
  ];
};

const statementsFor = async ({ postgresUrl, api }: System, path: string): Promise<Statement[]> =>
  (await statementsOf(postgresUrl, [{ as: 'operator', path }], api)).map(({ text, values }) => ({ text, values }));

/** What the bare process needs for the reading routes: the API's own statements, and answers to learn their fields from. */
export const readsFor = async (system: System, routes: readonly Route[]): Promise<BareRead[]> => {
  const reads: BareRead[] = [];
  for (const { paths } of routes.filter(({ method }) => method === 'GET')) {
    const [path] = paths as [string];
    reads.push({
      path,
      statements: await statementsFor(system, path),
      sample: JSON.parse(await ask(system, 'GET', path)),
    });
  }
  return reads;
};
