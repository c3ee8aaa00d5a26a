/** Every rule over HTTP: a caller whom it admits is answered, and one whom it refuses reads by which rule, or nothing. */
import { routes } from '../../src/api';
import { ruleNames } from '../../src/policy';
import { addWorker, faultOf, type Reply, startTestApi, type TestApi } from '../support/api';
import { leftOut, type RuleRow, ruleRows } from '../support/rule-table';
import { worldOf } from '../support/rule-world';
import type { Persona } from '../support/world';

let api: TestApi;
const looks: Readonly<Record<string, unknown>> = {
  read_boot_device: { boot_device: 'pxe', persistent: false },
  read_indicators: [],
  read_media: [],
};
beforeAll(async () => {
  api = await startTestApi({
    webhooks: true,
    settings: {
      projectAdminCanManageOwnNodes: true,
      operatorTraitPrefix: 'CUSTOM_OPERATOR_',
      allowDeletingAvailableNodes: true,
      webhookOrigins: ['https://hooks.example.org'],
      lookup: async () => ['192.0.2.1'],
    },
    runs: { call: async ({ act }) => looks[act] },
  });
  await addWorker(api.sql);
});
afterAll(() => api.close());
afterEach(() => api.setPolicy({ set: 'temper' }));

test('every rule of the product is walked or left out for a reason, and none twice', () => {
  const walked = ruleRows.map(({ rule }) => rule);
  expect([...walked, ...Object.keys(leftOut)].sort()).toEqual([...ruleNames].sort());
});

test('every rule that is left out as guarding nothing is named by no route', () => {
  const named = routes.flatMap(({ rules }) => (rules === 'public' ? [] : rules));
  const silent = Object.entries(leftOut).filter(([, why]) => /no route/.test(why));
  expect(silent.map(([rule]) => rule).filter((rule) => named.includes(rule))).toEqual([]);
});

/** Rules that a refusal names. */
const namedIn = (reply: Reply): string[] =>
  [...faultOf(reply).matchAll(/\b(?:baremetal|temper):[\w:]+(?:\.\w+)*/g)]
    .map(([name]) => name)
    .filter((name) => ruleNames.includes(name));

const refusedAsTold = (one: RuleRow, reply: Reply): void => {
  if (one.hidden) {
    expect(reply.status).toBe(404);
    return;
  }
  if (reply.status === 403) expect([faultOf(reply), namedIn(reply).length]).toEqual([faultOf(reply), 1]);
  expect([reply.status, faultOf(reply)]).toEqual([one.refused ?? 403, expect.stringContaining(one.names ?? one.rule)]);
};

test.each(ruleRows.map((one) => [one.rule, one.may, one.mayNot, one] as const))(
  '%s admits %s and refuses %s',
  async (_rule, may, mayNot, one) => {
    const fill = worldOf(api, one.node ?? {});
    const node = await fill('{node}');
    const [method, path] = (await fill(one.ask)).split(' ') as [string, string];
    const body = await fill(one.body);
    await fill(one.has);
    const policy = (texts: RuleRow['opens']) =>
      api.setPolicy({ set: 'temper', overrides: texts, elevatedServiceProject: one.elevated });
    const ask = (who: RuleRow['may']) => api.as(who as Persona, method, path, { body, headers: one.headers });

    policy({ ...one.opens, ...one.shuts });
    const refused = await ask(mayNot);
    if (one.shows) expect([refused.status, one.shows(refused.body, node)]).toEqual([200, false]);
    else refusedAsTold(one, refused);
    policy(one.opens);
    const granted = await ask(may);
    expect([granted.status < 300, granted.status < 300 ? '' : granted.text]).toEqual([true, '']);
    if (one.shows) expect(one.shows(granted.body, node)).toBe(true);
  },
);
