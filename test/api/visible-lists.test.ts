/**
 * A list holds the rows whose own GET is answered, and no others: for every resource, under any file of rules. A line of the
 * file for lists of nodes adds the nodes of the caller's project to them, and to nothing else. Explanations of a list say what it holds.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createInventory } from '../../src/inventory';
import type { SelectedNode } from '../../src/model/rollouts/domains';
import {
  allocationTarget,
  createPolicy,
  explainAnswer,
  nodeTarget,
  type PolicyOptions,
  runbookTarget,
  runTarget,
  type Target,
} from '../../src/policy';
import { startTestApi, type TestApi } from '../support/api';
import { runningRollout } from '../support/rollouts';
import { lessee, owner, type Persona, passersBy, personas, stranger } from '../support/world';

let api: TestApi;

type Row = Readonly<Record<string, unknown>>;

const step = { interface: 'power', step: 'reboot', args: {} };
const tenants: readonly Row[] = [
  { owner, lessee, lease_id: randomUUID() },
  { owner },
  { owner: stranger },
  { owner: null },
  { owner: 'None' },
];

const madeBy = async (path: string, body: object): Promise<string> => {
  const reply = await api.as('operator', 'POST', path, { body });
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return String(reply.body.uuid);
};

const writeRun = async (node_uuid: string, tenant: Row): Promise<string> => {
  const id = randomUUID();
  const leased = tenant.lease_id ? { lease_id: tenant.lease_id, lessee } : {};
  const row = { id, node_uuid, fence: 1, kind: 'service', verb: 'service', state: 'running', ...leased };
  const rest = { requester: api.sql.json({}), input: api.sql.json({ steps: [] }), rule_set: 'x', workflow_id: 'w' };
  await api.sql`insert into runs ${api.sql({ ...row, ...rest } as never)}`;
  return id;
};

const ids: Record<string, string[]> = {};
const keep = (path: string, id: string): void => {
  ids[path] = [...(ids[path] ?? []), id];
};

/** A rollout of some of the nodes, whose it is, as the store has it. */
const writeRollout = async (project: string | null, nodes: readonly string[]): Promise<void> => {
  const chosen = await api.sql<SelectedNode[]>`select * from nodes where uuid in ${api.sql(nodes)}`;
  const { id } = await runningRollout(createInventory(api.sql), chosen);
  await api.sql`update rollouts set project = ${project}, summary = '{"waves": []}' where id = ${id}`;
  keep('/temper/v1/rollouts', id);
};

/** One of each resource for one node. */
const writeNode = async (tenant: Row, nth: number): Promise<void> => {
  const hidden = { driver_info: api.sql.json({ kept: 'kept' }), last_error: 'kept' };
  const columns = { name: `n${nth}`, driver: 'fake-hardware', power_state: 'power off', ...hidden, ...tenant };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns as never)} returning uuid`;
  const node_uuid = row!.uuid;
  keep('/v1/nodes', node_uuid);
  const portgroup_uuid = await madeBy('/v1/portgroups', { node_uuid });
  keep('/v1/portgroups', portgroup_uuid);
  keep('/v1/ports', await madeBy('/v1/ports', { node_uuid, portgroup_uuid, address: `52:54:00:00:00:0${nth}` }));
  const connector = { node_uuid, type: 'ip', connector_id: String(nth) };
  keep('/v1/volume/connectors', await madeBy('/v1/volume/connectors', connector));
  const target = { node_uuid, volume_type: 'iscsi', volume_id: String(nth), boot_index: 0 };
  keep('/v1/volume/targets', await madeBy('/v1/volume/targets', target));
  keep('/temper/v1/runs', await writeRun(node_uuid, tenant));
};

beforeAll(async () => {
  api = await startTestApi();
  for (const [nth, tenant] of tenants.entries()) await writeNode(tenant, nth);
  for (const project of [owner, stranger, null]) {
    const [allocation] = await api.sql<{ uuid: string }[]>`
      insert into allocations (name, resource_class, owner)
      values (${`a-${project}`}, 'x', ${project}) returning uuid`;
    keep('/v1/allocations', allocation!.uuid);
    const runbook = {
      name: `CUSTOM_${ids['/v1/allocations']!.length}`,
      owner: project,
      steps: [{ ...step, order: 1 }],
    };
    keep('/v1/runbooks', await madeBy('/v1/runbooks', runbook));
  }
  const open = { name: 'CUSTOM_OPEN', public: true, steps: [{ ...step, order: 1 }] };
  keep('/v1/runbooks', await madeBy('/v1/runbooks', open));
  for (const project of [owner, lessee, stranger]) {
    const [budget] = await api.sql<{ uuid: string }[]>`
      insert into disruption_budgets (project, max_unavailable) values (${project}, '1') returning uuid`;
    keep('/temper/v1/disruption-budgets', budget!.uuid);
  }
  const nodes = ids['/v1/nodes']!;
  await writeRollout(null, nodes);
  await writeRollout(owner, nodes.slice(0, 2));
  await writeRollout(stranger, nodes.slice(2));
  keep('/v1/chassis', await madeBy('/v1/chassis', {}));
  const template = { name: 'CUSTOM_T', steps: [{ ...step, priority: 1 }] };
  keep('/v1/deploy_templates', await madeBy('/v1/deploy_templates', template));
  keep('/v1/inspection_rules', await madeBy('/v1/inspection_rules', { actions: [{ op: 'fail' }] }));
});
afterAll(() => api.close());

type Who = Persona | keyof typeof passersBy;

/** The collection of an answer: what is neither a link nor a number. */
const listed = (body: Row): string[] =>
  (Object.values(body).find(Array.isArray) as Row[]).map((one) => String(one.uuid)).sort();

const listRule = 'baremetal:node:list';

/** Nodes of the caller's project for which a line of the file admits it to lists; none without a line. */
const openedInLists = (who: Who, options: PolicyOptions): string[] => {
  const caller = { ...personas, ...passersBy }[who];
  const policy = createPolicy(options);
  if (!policy.isWritten(listRule)) return [];
  const own = (tenant: Row) => caller.project_id !== null && [tenant.owner, tenant.lessee].includes(caller.project_id);
  return tenants.flatMap((tenant, nth) => {
    const target = nodeTarget({ owner: null, lessee: null, ...tenant });
    return own(tenant) && policy.allows(listRule, caller, target) ? [ids['/v1/nodes']![nth]!] : [];
  });
};

type Found = { readonly list: string; readonly listed: readonly string[]; readonly shown: readonly string[] };

const get = (who: Who, path: string) => api.as(who as Persona, 'GET', path);

/** Which rows of a resource this caller is shown one by one. */
const shownOf = async (who: Who, path: string): Promise<string[]> => {
  const replies = await Promise.all(
    ids[path]!.map(async (id) => [id, (await get(who, `${path}/${id}`)).status] as const),
  );
  expect(replies.filter(([, status]) => ![200, 403, 404].includes(status))).toEqual([]);
  return replies.flatMap(([id, status]) => (status === 200 ? [id] : [])).sort();
};

/** Below a node or a portgroup, by the place of the parent among those that were made. */
const below: readonly (readonly [parent: string, child: string, path: string])[] = [
  ['/v1/nodes', 'ports', '/v1/ports'],
  ['/v1/nodes', 'portgroups', '/v1/portgroups'],
  ['/v1/nodes', 'volume/connectors', '/v1/volume/connectors'],
  ['/v1/nodes', 'volume/targets', '/v1/volume/targets'],
  ['/v1/portgroups', 'ports', '/v1/ports'],
];

/** What a list shows beside what it should; nothing where the list itself is refused. */
const compared = async (who: Who, path: string, opened: readonly string[]): Promise<Found[]> => {
  const shown = await shownOf(who, path);
  const inList = path === '/v1/nodes' ? [...new Set([...shown, ...opened])].sort() : shown;
  const nested = below
    .filter(([, , of]) => of === path)
    .flatMap(([parent, child]) =>
      ids[parent]!.map(
        (id, nth) => [`${parent}/${id}/${child}`, shown.filter((one) => one === ids[path]![nth])] as const,
      ),
    );
  const answers = await Promise.all(
    [[path, inList] as const, ...nested].map(async ([list, expected]) => {
      const reply = await get(who, list);
      expect([200, 403, 404]).toContain(reply.status);
      return reply.status === 200 ? [{ list, listed: listed(reply.body), shown: expected }] : [];
    }),
  );
  return answers.flat();
};

const allocationOwners = [owner, stranger, null];
const runbookRows: readonly Pick<Row, 'owner' | 'public'>[] = [
  ...allocationOwners.map((one) => ({ owner: one, public: false })),
  { owner: null, public: true },
];
const targetsOfNodes = tenants.map((tenant) => nodeTarget({ owner: null, lessee: null, ...tenant }));

/** The rule of each list, and what it asks about each row that was made. */
const explained: Readonly<Record<string, readonly [rule: string, targets: readonly Target[]]>> = {
  '/v1/nodes': [listRule, targetsOfNodes],
  '/v1/ports': ['baremetal:port:list', targetsOfNodes],
  '/v1/portgroups': ['baremetal:portgroup:list', targetsOfNodes],
  '/v1/volume/connectors': ['baremetal:volume:list', targetsOfNodes],
  '/v1/volume/targets': ['baremetal:volume:list', targetsOfNodes],
  '/v1/allocations': ['baremetal:allocation:list', allocationOwners.map((one) => allocationTarget({ owner: one }))],
  '/v1/runbooks': ['baremetal:runbook:list', runbookRows.map((one) => runbookTarget(one as never))],
};

/** What of explanations the lists do not bear out. */
const misexplained = async (who: Who, options: PolicyOptions): Promise<string[]> => {
  const [policy, caller] = [createPolicy(options), { ...personas, ...passersBy }[who]];
  const found = await Promise.all(
    Object.entries(explained).map(async ([path, [rule, targets]]) => {
      const { status, body } = await get(who, path);
      const rows = status === 200 ? listed(body) : [];
      return targets.flatMap((target, nth) => {
        const held = rows.includes(ids[path]![nth]!) ? 'allowed' : 'missing';
        const answer = status === 403 ? 'refused' : held;
        const said = explainAnswer(policy, rule, caller, target).answer;
        return said === answer ? [] : [`${path} ${nth}: the API ${answer}, explained as ${said}`];
      });
    }),
  );
  return found.flat();
};

const differing = async (who: Who, options?: PolicyOptions): Promise<Found[]> => {
  const opened = options ? openedInLists(who, options) : [];
  const found = await Promise.all(Object.keys(ids).map((path) => compared(who, path, opened)));
  return found.flat().filter((one) => JSON.stringify(one.listed) !== JSON.stringify(one.shown));
};

const callers: readonly Who[] = [
  'system-reader',
  'owner-reader',
  'lessee-admin',
  'stranger-admin',
  'service-elsewhere',
];

const atoms = [
  '@',
  '!',
  'role:reader',
  'role:admin',
  'role:service',
  'system_scope:all',
  'rule:is_node_owner',
  'rule:is_node_lessee',
  'rule:is_admin',
  'project_id:%(runbook.owner)s',
  'project_id:%(allocation.owner)s',
  'project_id:%(run.tenant)s',
  'project_id:%(rollout.project)s',
  'project_id:%(disruption_budget.project)s',
  'True:%(runbook.public)s',
  'None:%(node.owner)s',
  "'project-stranger':%(node.owner)s",
];
const text = fc.letrec<{ rule: string }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...atoms),
    fc.tuple(tie('rule'), fc.constantFrom('and', 'or'), tie('rule')).map(([a, how, b]) => `((${a}) ${how} (${b}))`),
    tie('rule').map((of) => `not (${of})`),
  ),
})).rule;

const resources = ['node', 'port', 'portgroup', 'volume', 'allocation', 'runbook', 'inspection_rule'];
const names = [
  ...resources.flatMap((what) => ['get', 'list', 'list_all'].map((act) => `baremetal:${what}:${act}`)),
  'baremetal:chassis:get',
  'baremetal:deploy_template:get',
  'temper:run:get',
  'temper:rollout:get',
  'temper:rollout_target:get',
  'temper:disruption_budget:get',
].filter((name) => name !== 'baremetal:inspection_rule:list');

const files = fc.record(Object.fromEntries(names.map((name) => [name, text])), { requiredKeys: [] });
const policies = fc.record({
  set: fc.constantFrom('temper', 'ironic', 'closed'),
  mode: fc.constantFrom('strict', 'compat'),
  overrides: files,
}) as fc.Arbitrary<PolicyOptions>;

/** Whether the policy can be used: in strict mode, some of these texts are refused. */
const used = (options: PolicyOptions): boolean => {
  try {
    api.setPolicy(options);
    return true;
  } catch {
    return false;
  }
};

test.each(['temper', 'ironic', 'closed'] as const)('under set %s as it is', async (set) => {
  api.setPolicy({ set });
  for (const who of callers) {
    expect([who, await differing(who)]).toEqual([who, []]);
    expect([who, await misexplained(who, { set })]).toEqual([who, []]);
  }
});

const guide = 'rule:is_admin or rule:is_observer or rule:is_node_owner or rule:is_node_lessee';

test.each(['port', 'portgroup', 'volume'])(
  'a rule for one %s that is true for every caller opens no list of hidden nodes',
  async (what) => {
    api.setPolicy({ set: 'temper', overrides: { [`baremetal:${what}:get`]: guide } });
    expect(await differing('stranger-admin')).toEqual([]);
  },
);

test('a rule for lists that is wider than the rule for one shows nothing more', async () => {
  const wide = resources
    .filter((what) => what !== 'inspection_rule')
    .map((what) => [`baremetal:${what}:list_all`, '@']);
  api.setPolicy({ set: 'temper', mode: 'compat', overrides: Object.fromEntries(wide) });
  for (const who of callers) expect([who, await differing(who)]).toEqual([who, []]);
});

test('under set closed, a list follows the rule of its rows where a file opens that alone', async () => {
  const opened = { 'baremetal:node:get': 'rule:is_node_owner', 'baremetal:port:get': 'rule:is_node_owner' };
  api.setPolicy({ set: 'closed', overrides: opened });
  const found = await Promise.all(
    ['/v1/nodes', '/v1/ports'].map(async (path) => listed((await get('owner-reader', path)).body).length),
  );
  expect(found).toEqual([2, 2]);
  expect((await get('owner-reader', '/v1/portgroups')).status).toBe(403);
  expect(await differing('owner-reader')).toEqual([]);
});

describe('a line for lists of nodes alone, over set closed', () => {
  const opened: PolicyOptions = { set: 'closed', overrides: { [listRule]: '' } };
  beforeEach(() => api.setPolicy(opened));
  const nodesOf = async (who: Who, query = '') => listed((await get(who, `/v1/nodes${query}`)).body);
  const nodes = (...nths: number[]) => nths.map((nth) => ids['/v1/nodes']![nth]!).sort();

  test('lists the nodes of the caller’s project, owned or leased, and no other', async () => {
    for (const path of ['', '/detail', '?fields=uuid,extra', '?detail=true']) {
      expect(await nodesOf('owner-reader', path)).toEqual(nodes(0, 1));
      expect(await nodesOf('lessee-admin', path)).toEqual(nodes(0));
      expect(await nodesOf('stranger-admin', path)).toEqual(nodes(2));
      expect(await nodesOf('service-elsewhere', path)).toEqual([]);
    }
    expect(await nodesOf('system-reader')).toEqual(ids['/v1/nodes']!.toSorted());
    expect(await nodesOf('owner-reader', `?project=${owner}`)).toEqual(nodes(0, 1));
    expect((await get('owner-reader', `/v1/nodes?project=${stranger}`)).status).toBe(403);
    expect((await get('owner-reader', `/v1/nodes?marker=${nodes(2)[0]}`)).status).toBe(404);
  });

  test('shows no node one by one, nothing behind one, and no field that is hidden', async () => {
    for (const who of ['owner-reader', 'lessee-admin'] as const) expect(await differing(who, opened)).toEqual([]);
    const [mine] = nodes(0);
    for (const path of ['', '/states', '/ports', '/history', '/firmware', '/children'])
      expect([path, (await get('owner-reader', `/v1/nodes/${mine}${path}`)).status]).toEqual([path, 404]);
    const [first] = (await get('owner-reader', '/v1/nodes/detail')).body.nodes;
    expect(JSON.stringify([first.driver_info, first.driver_internal_info, first.last_error])).not.toContain('kept');
    expect(first.driver_info).toEqual({ content: expect.stringContaining('driver_info') });
    expect((await get('owner-reader', '/v1/nodes?sort_key=reservation')).status).toBe(403);
  });

  test('opens no more than it says', async () => {
    api.setPolicy({ set: 'closed', overrides: { [listRule]: 'role:reader and rule:is_node_lessee' } });
    expect([await nodesOf('lessee-admin'), await nodesOf('owner-reader')]).toEqual([nodes(0), []]);
  });

  test('that repeats the default of its set opens none', async () => {
    for (const [line, opened] of [
      ['role:reader or role:service', []],
      ['role:member or role:service', nodes(0)],
    ] as const) {
      const narrow = { 'baremetal:node:get': 'role:reader and system_scope:all' };
      api.setPolicy({ set: 'temper', overrides: { ...narrow, [listRule]: line } });
      expect(await nodesOf('lessee-admin')).toEqual(opened);
    }
  });

  test.each(['temper', 'ironic'] as const)(
    'is no default of set %s: a file that narrows get narrows lists',
    async (set) => {
      api.setPolicy({ set, overrides: { 'baremetal:node:get': 'role:reader and system_scope:all' } });
      expect([await nodesOf('owner-reader'), await nodesOf('lessee-admin')]).toEqual([[], []]);
    },
  );
});

test('what is asked about a run is explained as it is answered: one that is hidden is missing', async () => {
  const abort = 'temper:run:abort';
  for (const see of ['!', 'role:reader and rule:is_node_owner']) {
    const options: PolicyOptions = {
      set: 'closed',
      overrides: { [abort]: 'role:reader and rule:is_node_owner', 'temper:run:get': see },
    };
    api.setPolicy(options);
    for (const who of callers) {
      const { status } = await api.as(who as Persona, 'POST', `/temper/v1/runs/${ids['/temper/v1/runs']![1]}/abort`, {
        body: { reason: 'x' },
      });
      const caller = { ...personas, ...passersBy }[who];
      const said = explainAnswer(
        createPolicy(options),
        abort,
        caller,
        runTarget({ owner, lessee: null, tenant: null }),
      ).answer;
      expect([see, who, said]).toEqual([see, who, { 202: 'allowed', 403: 'refused', 404: 'missing' }[status]]);
    }
  }
});

describe('what is asked about one node is explained as it is answered', () => {
  const rules = {
    'baremetal:node:vif:list': (who: Who, node: string) => get(who, `/v1/nodes/${node}/vifs`),
    'baremetal:node:traits:list': (who: Who, node: string) => get(who, `/v1/nodes/${node}/traits`),
    'baremetal:port:create': (who: Who, node_uuid: string) =>
      api.as(who as Persona, 'POST', '/v1/ports', { body: { node_uuid, address: 'no address' } }),
    'temper:freeze:create': (who: Who, node: string) =>
      api.as(who as Persona, 'POST', `/temper/v1/nodes/${node}/freezes`, {
        body: { reason: 'x', until: '2020-01-01T00:00:00Z' },
      }),
  };
  // What comes after the rules finds a fault in what these requests bring.
  const answers: Readonly<Record<number, string>> = { 200: 'allowed', 400: 'allowed', 403: 'refused', 404: 'missing' };
  const opened = Object.fromEntries(Object.keys(rules).map((rule) => [rule, 'role:reader and rule:is_node_owner']));

  test.each(Object.entries(rules))('%s', async (rule, request) => {
    for (const see of ['!', 'role:reader and rule:is_node_owner']) {
      const options: PolicyOptions = { set: 'closed', overrides: { ...opened, 'baremetal:node:get': see } };
      api.setPolicy(options);
      for (const who of callers)
        for (const [nth, target] of targetsOfNodes.entries()) {
          const { status } = await request(who, ids['/v1/nodes']![nth]!);
          const caller = { ...personas, ...passersBy }[who];
          const said = explainAnswer(createPolicy(options), rule, caller, target).answer;
          expect([who, nth, status, said]).toEqual([who, nth, status, answers[status]]);
        }
    }
  });
});

test('under files of rules that no operator would write', async () => {
  await fc.assert(
    fc.asyncProperty(policies, fc.constantFrom(...callers), async (options, who) => {
      fc.pre(used(options));
      expect(await differing(who, options)).toEqual([]);
      expect(await misexplained(who, options)).toEqual([]);
    }),
    { seed: 20261122, numRuns: 60 },
  );
});
