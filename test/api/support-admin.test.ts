/** A support administrator of several projects: one token, whose lists hold what each of them has and nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createIdentity, createStaticTokens, type Identity } from '../../src/identity';
import { anonymous, type Caller } from '../../src/model/access/callers';
import { readPolicy } from '../../src/policy';
import { addWorker, faultOf, type Reply, startTestApi, type TestApi } from '../support/api';

const profile = readPolicy(
  readFileSync(join(__dirname, '../../deploy/policies/support-admin.yaml'), 'utf8'),
  'support-admin.yaml',
);
const one = 'project-one';
const two = 'project-two';
const three = 'project-three';
const home = 'project-support';

const padded = (name: string): string => name.padEnd(16, '-');
const tokensFile = {
  tokens: [
    { user: 'sue', token: padded('support'), roles: ['admin'], project: home, admin_projects: [one, two] },
    { user: 'hal', token: padded('home-only'), roles: ['admin'], project: home },
    { user: 'max', token: padded('member'), roles: ['member'], project: one },
    { user: 'root', token: padded('operator'), roles: ['admin'], system: 'all' },
  ],
};

let api: TestApi;
let nodes: Readonly<Record<string, string>>;
const ask = (who: string, method: string, path: string, body?: unknown): Promise<Reply> =>
  api.as(padded(who) as never, method, path, { body });
const made = async (path: string, body: object): Promise<string> => {
  const reply = await ask('operator', 'POST', path, body);
  if (reply.status !== 201) throw new Error(`${path}: ${reply.text}`);
  return reply.body.uuid;
};

/** A caller whose projects are not known. */
const adrift: Caller = { ...anonymous, user_id: 'adrift', roles: ['admin', 'member', 'reader'], project_id: home };

const identity = async (): Promise<Pick<Identity, 'identify'>> => {
  const source = { name: 'tokens', load: async () => JSON.stringify(tokensFile) };
  const known = createIdentity([await createStaticTokens({ tokens: source })]);
  return {
    identify: async (presented) =>
      presented.token === padded('adrift')
        ? { ...adrift, admin_projects: null, strategy: 'keystone' }
        : known.identify(presented),
  };
};

beforeAll(async () => {
  api = await startTestApi({ identity: await identity(), policy: { set: 'temper', ...profile } });
  await addWorker(api.sql);
  const node = (name: string, owner: string | null, lessee: string | null = null) =>
    made('/v1/nodes', { name, driver: 'fake-hardware', owner, lessee });
  nodes = {
    one: await node('one', one),
    two: await node('two', two),
    leased: await node('leased', three, two),
    three: await node('three', three),
    nobodys: await node('nobodys', null),
    home: await node('home', home),
  };
  for (const [at, node_uuid] of Object.values(nodes).entries())
    await made('/v1/ports', { node_uuid, address: `52:54:00:00:00:0${at}` });
  for (const owner of [one, two, three, home])
    await api.sql`insert into allocations (name, resource_class, owner) values (${`a-${owner}`}, 'x', ${owner})`;
});
afterAll(() => api.close());

const names = async (who: string, path: string, key = 'nodes'): Promise<string[]> => {
  const { status, body, text } = await ask(who, 'GET', path);
  if (status !== 200) throw new Error(text);
  return body[key].map((row: { name?: string; address?: string }) => row.name ?? row.address).sort();
};

describe('lists', () => {
  test('of nodes hold those of every project in which the caller is admin, and no others', async () => {
    expect(await names('support', '/v1/nodes')).toEqual(['home', 'leased', 'one', 'two']);
    expect(await names('support', '/v1/nodes/detail')).toEqual(['home', 'leased', 'one', 'two']);
    expect(await names('home-only', '/v1/nodes')).toEqual(['home']);
    expect(await names('member', '/v1/nodes')).toEqual(['one']);
  });

  test('go on from page to page', async () => {
    const found: string[] = [];
    for (let path = '/v1/nodes?limit=1'; path !== ''; ) {
      const { body } = await ask('support', 'GET', path);
      found.push(...body.nodes.map(({ name }: { name: string }) => name));
      path = body.next ? new URL(body.next).pathname + new URL(body.next).search : '';
    }
    expect(found.sort()).toEqual(['home', 'leased', 'one', 'two']);
  });

  test('can be narrowed to one of these projects, and to no other', async () => {
    expect(await names('support', `/v1/nodes?project=${two}`)).toEqual(['leased', 'two']);
    expect(await names('support', `/v1/allocations?owner=${one}`, 'allocations')).toEqual([`a-${one}`]);
    for (const [path, rule] of [
      [`/v1/nodes?project=${three}`, 'baremetal:node:list_all'],
      [`/v1/allocations?owner=${three}`, 'baremetal:allocation:list_all'],
    ] as const) {
      const reply = await ask('support', 'GET', path);
      expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining(rule)]);
      expect((await ask('home-only', 'GET', path.replace(three, one))).status).toBe(403);
    }
  });

  test('of ports and allocations hold what belongs to these projects', async () => {
    expect(await names('support', '/v1/ports', 'ports')).toHaveLength(4);
    expect(await names('home-only', '/v1/ports', 'ports')).toHaveLength(1);
    const theirs = [`a-${one}`, `a-${home}`, `a-${two}`].sort();
    expect(await names('support', '/v1/allocations', 'allocations')).toEqual(theirs);
    expect(await names('home-only', '/v1/allocations', 'allocations')).toEqual([`a-${home}`]);
  });
});

describe('a single node', () => {
  test.each([
    ['one', 200],
    ['two', 200],
    ['leased', 200],
    ['home', 200],
    ['three', 404],
    ['nobodys', 404],
  ] as const)('%s answers %i', async (name, status) => {
    expect((await ask('support', 'GET', `/v1/nodes/${nodes[name]}`)).status).toBe(status);
  });

  test('is helped, on behalf of its owner and of its lessee', async () => {
    for (const name of ['one', 'leased']) {
      expect((await ask('support', 'PUT', `/v1/nodes/${name}/states/power`, { target: 'power on' })).status).toBe(202);
      const uncleaned = [{ op: 'replace', path: '/automated_clean', value: false }];
      expect((await ask('support', 'PATCH', `/v1/nodes/${name}`, uncleaned)).status).toBe(200);
    }
    const own = [{ op: 'replace', path: '/automated_clean', value: false }];
    expect((await ask('member', 'PATCH', '/v1/nodes/one', own)).status).toBe(403);
  });

  test('is not deployed, rewritten or deleted without a token of its project', async () => {
    for (const [method, path, body, rule] of [
      ['PUT', '/states/provision', { target: 'manage' }, 'baremetal:node:set_provision_state'],
      ['PATCH', '', [{ op: 'add', path: '/description', value: 'x' }], 'baremetal:node:update'],
      ['PATCH', '', [{ op: 'add', path: '/owner', value: home }], 'baremetal:node:update:owner'],
      ['DELETE', '', undefined, 'baremetal:node:delete'],
    ] as const) {
      const reply = await ask('support', method, `/v1/nodes/one${path}`, body);
      expect([reply.status, faultOf(reply)]).toEqual([403, expect.stringContaining(rule)]);
      expect((await ask('support', method, `/v1/nodes/three${path}`, body)).status).toBe(404);
    }
  });
});

test('the service stays closed', async () => {
  for (const [method, path, body] of [
    ['GET', '/v1/drivers'],
    ['GET', '/v1/conductors'],
    ['GET', '/v1/chassis'],
    ['POST', '/v1/chassis', {}],
    ['GET', '/v1/deploy_templates'],
    ['GET', '/temper/v1/audit'],
    ['POST', '/temper/v1/nodes/one/freezes', { reason: 'x' }],
  ] as const)
    expect([path, (await ask('support', method, path, body)).status]).toEqual([path, 403]);
});

test('under the built-in rules a token is for one project, whatever its holder is elsewhere', async () => {
  api.setPolicy({ set: 'temper' });
  try {
    expect(await names('support', '/v1/nodes')).toEqual(['home']);
    expect(await names('support', '/v1/allocations', 'allocations')).toEqual([`a-${home}`]);
    expect((await ask('support', 'GET', '/v1/nodes/one')).status).toBe(404);
    expect(await names('support', `/v1/nodes?project=${one}`)).toEqual([]);
  } finally {
    api.setPolicy({ set: 'temper', ...profile });
  }
});

test('where it is not known which projects they are, no list is shorter for it: it is refused as an outage', async () => {
  for (const path of ['/v1/nodes', '/v1/ports', '/v1/allocations', '/v1/nodes/one'])
    expect([path, (await ask('adrift', 'GET', path)).status]).toEqual([path, 503]);
  // What the token's own project admits needs no more.
  expect((await ask('adrift', 'GET', '/v1/nodes/home')).status).toBe(200);
  expect((await ask('adrift', 'PUT', '/v1/nodes/home/states/power', { target: 'power on' })).status).toBe(202);
  api.setPolicy({ set: 'temper' });
  try {
    expect(await names('adrift', '/v1/nodes')).toEqual(['home']);
  } finally {
    api.setPolicy({ set: 'temper', ...profile });
  }
});
