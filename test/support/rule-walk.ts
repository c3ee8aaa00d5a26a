/** Walks one row of the table of rules: who is refused reads by which rule, or nothing, and who is admitted is answered. */
import { ruleNames } from '../../src/policy';
import { addWorker, faultOf, type Reply, startTestApi, type TestApi } from './api';
import type { RuleRow } from './rule-table';
import { privateImage, worldOf } from './rule-world';
import type { Persona } from './world';

const looks: Readonly<Record<string, unknown>> = {
  read_boot_device: { boot_device: 'pxe', persistent: false },
  read_indicators: [],
  read_media: [],
};

/** @param identity another way of knowing callers than by the names of the personas */
export const startRuleApi = async (identity?: TestApi['rooms']['identity']): Promise<TestApi> => {
  const api = await startTestApi({
    identity,
    webhooks: true,
    settings: {
      projectAdminCanManageOwnNodes: true,
      operatorTraitPrefix: 'CUSTOM_OPERATOR_',
      allowDeletingAvailableNodes: true,
      webhookOrigins: ['https://hooks.example.org'],
      lookup: async () => ['192.0.2.1'],
    },
    glance: { find: async () => privateImage, isMember: async () => false },
    runs: { call: async ({ act }) => looks[act] },
  });
  await addWorker(api.sql);
  return api;
};

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

export const walkRule = async (api: TestApi, one: RuleRow): Promise<void> => {
  const { may, mayNot } = one;
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
};
