/** Inspection rules: what one may hold, what a sensitive one never shows, and how they are listed. */
import { faultOf, startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from inspection_rules`;
});

const path = '/v1/inspection_rules';
const actions = [{ op: 'set-attribute', args: { path: '/extra/found', value: 'geheim' } }];
const conditions = [{ op: '!eq', args: ['{node.driver}', 'redfish'], multiple: 'any' }];

const create = (more: object = {}) => api.as('operator', 'POST', path, { body: { actions, conditions, ...more } });
const patch = (uuid: string, ops: unknown) => api.as('operator', 'PATCH', `${path}/${uuid}`, { body: ops });

test('stores what came, and what it leaves out as the wire has it', async () => {
  const { body } = await create();
  expect(body).toMatchObject({ phase: 'main', priority: 0, sensitive: false, description: null, actions, conditions });
  expect((await create({ phase: null, conditions: null })).body).toMatchObject({ phase: 'main', conditions: [] });
});

test.each([
  [{ actions: [] }, 'at least one action'],
  [{ actions: undefined }, 'actions'],
  [{ actions: [{ op: 'reboot', args: {} }] }, 'op'],
  [{ actions: [{ op: 'fail', colour: 'red' }] }, 'colour'],
  [{ actions: [{ op: 'fail', args: 'text' }] }, 'args'],
  [{ conditions: [{ op: '!!eq', args: [] }] }, 'op'],
  [{ conditions: [{ op: 'eq', args: [1, 1], multiple: 'some' }] }, 'multiple'],
  [{ conditions: [{ op: 'eq' }] }, 'conditions.0: eq lacks values'],
  [{ actions: [{ op: 'log', args: {} }] }, 'actions.0: log lacks msg'],
  [{ actions: [{ op: 'log', args: { msg: 'x', tone: 'high' } }] }, 'log does not take tone'],
  [{ actions: [{ op: 'api-call', args: { url: 'https://x.example.org' } }] }, 'api-call is not offered'],
  [
    { actions: [{ op: 'set-attribute', args: ['driver_info/redfish_address', 'https://198.51.100.1'] }] },
    'cannot set driver_info of a node; it can set properties, extra',
  ],
  [{ priority: 10_000 }, 'priority'],
  [{ priority: -1 }, 'priority'],
  [{ description: 'x'.repeat(256) }, 'description'],
])('with %j is refused, naming the place', async (more, says) => {
  const refused = await create(more);
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining(says)]);
});

describe('a sensitive rule', () => {
  test('never shows its conditions and actions: not when made, read, listed, changed, nor in the record', async () => {
    const made = await create({ sensitive: true });
    const uuid = made.body.uuid;
    const changed = await patch(uuid, [
      { op: 'replace', path: '/actions', value: [{ op: 'fail', args: { msg: 'geheim' } }] },
    ]);
    const replies = [
      made.body,
      changed.body,
      (await api.as('operator', 'GET', `${path}/${uuid}`)).body,
      (await api.as('operator', 'GET', `${path}?detail=True`)).body.inspection_rules[0],
      (await api.as('operator', 'GET', `${path}?fields=actions,conditions`)).body.inspection_rules[0],
    ];
    for (const shown of replies) expect(shown).toMatchObject({ actions: null, conditions: null });
    const told = await api.sql`
      select data::text as text from audit where resource_id = ${uuid}
      union all select data::text from events where data ->> 'inspection_rule_uuid' = ${uuid}`;
    expect(told).toHaveLength(4);
    for (const { text } of told) expect(text).not.toContain('geheim');
  });

  test.each([[{ op: 'replace', path: '/sensitive', value: false }], [{ op: 'remove', path: '/sensitive' }]])(
    'stays so: %j is refused',
    async (op) => {
      const { uuid } = (await create({ sensitive: true })).body;
      expect((await patch(uuid, [op])).status).toBe(400);
      expect((await api.as('operator', 'GET', `${path}/${uuid}`)).body.actions).toBeNull();
    },
  );

  test('can be made of one that was not', async () => {
    const { uuid } = (await create()).body;
    const { body } = await patch(uuid, [{ op: 'replace', path: '/sensitive', value: true }]);
    expect(body).toMatchObject({ sensitive: true, actions: null });
  });
});

test.each([
  [{ op: 'log', args: { msg: 'see https://u:geheim@x.example' } }],
  [{ op: 'set-attribute', args: { path: 'extra/login', value: { password: 'geheim' } } }],
])('a secret in arguments is refused, for nothing that runs rules could read it: %j', async (action) => {
  const refused = await create({ actions: [action] });
  expect([refused.status, faultOf(refused)]).toEqual([400, expect.stringContaining('actions.0: holds a secret')]);
  expect(refused.text).not.toContain('geheim');
});

test('secrets of a rule that was stored with them are shown masked', async () => {
  const { uuid } = (await create()).body;
  const kept = [{ op: 'set-attribute', args: { path: 'extra/login', value: { password: { $secret: uuid } } } }];
  await api.sql`update inspection_rules set actions = ${api.sql.json(kept)} where uuid = ${uuid}`;
  const { body } = await api.as('operator', 'GET', `${path}/${uuid}`);
  expect(body.actions[0].args.value).toEqual({ password: '******' });
});

test('a list is filtered by phase and sorted by priority', async () => {
  await create({ phase: 'preprocess', priority: 5 });
  await create({ priority: 20 });
  await create({ priority: 10 });
  const priorities = async (query: string) =>
    (await api.as('operator', 'GET', `${path}?${query}`)).body.inspection_rules.map(
      (one: { priority: number }) => one.priority,
    );
  expect(await priorities('phase=main&sort_key=priority')).toEqual([10, 20]);
  expect(await priorities('phase=preprocess')).toEqual([5]);
  expect((await api.as('operator', 'GET', `${path}?sort_key=actions`)).status).toBe(400);
});

test('a list needs both rules that the original names for it', async () => {
  for (const rule of ['get', 'list_all']) {
    api.setPolicy({ set: 'temper', overrides: { [`baremetal:inspection_rule:${rule}`]: '!' } });
    const refused = await api.as('operator', 'GET', path);
    expect([refused.status, faultOf(refused)]).toEqual([403, expect.stringContaining(`inspection_rule:${rule}`)]);
  }
  api.setPolicy({ set: 'temper' });
});
