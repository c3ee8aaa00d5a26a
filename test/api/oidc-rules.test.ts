/** The table of rules with tokens of a real OIDC server: each caller may and may not what the same caller with any other token may. */
import { createIdentity, createOidc } from '../../src/identity';
import { textSource } from '../identity/support';
import type { TestApi } from '../support/api';
import { audience, type OidcServer, startOidcServer } from '../support/oidc-provider';
import { ruleRows } from '../support/rule-table';
import { startRuleApi, walkRule } from '../support/rule-walk';
import { passersBy, personas } from '../support/world';

const people = Object.entries({ ...personas, ...passersBy });

let server: OidcServer;
let oidc: Awaited<ReturnType<typeof createOidc>>;
let api: TestApi;
let tokens: Readonly<Record<string, string>>;

const grantOf = ([value, { roles, system_scope, project_id }]: (typeof people)[number]) => ({
  claim: 'groups',
  value,
  // A grant has a role; no rule knows this one.
  roles: roles.length > 0 ? roles : ['guest'],
  ...(system_scope ? { system: 'all' } : { project: project_id }),
});

beforeAll(async () => {
  server = await startOidcServer(Object.fromEntries(people.map(([name]) => [name, [name]])));
  const issuers = [{ issuer: server.issuer, audience, grants: people.map(grantOf) }];
  oidc = await createOidc({ issuers: textSource(JSON.stringify({ issuers })) });
  tokens = Object.fromEntries(
    await Promise.all(people.map(async ([name]) => [name, await server.tokenOf(name)] as const)),
  );
  const { identify } = createIdentity([oidc]);
  api = await startRuleApi({
    // The walk names personas; the API hears of them by their tokens alone.
    identify: (presented) => identify({ ...presented, token: tokens[presented.token ?? ''] ?? null }),
  });
});
afterAll(async () => {
  await api?.close();
  await oidc?.close?.();
  await server?.close();
});
afterEach(() => api.setPolicy({ set: 'temper' }));

test.each(ruleRows.map((one) => [one.rule, one.may, one.mayNot, one] as const))(
  '%s admits %s and refuses %s',
  (_rule, _may, _mayNot, one) => walkRule(api, one),
);

test.each([
  ['Authorization: Bearer', (token: string) => ({ authorization: `Bearer ${token}` })],
  ['X-Auth-Token', (token: string) => ({ 'x-auth-token': token })],
  ['both headers', (token: string) => ({ 'x-auth-token': token, authorization: `bearer ${token}` })],
])('a token counts by %s', async (_, headers) => {
  Object.assign(api.rooms, { identity: createIdentity([oidc]) });
  const get = (given: Record<string, string>) => fetch(`${api.url}/v1/nodes`, { headers: given });
  expect((await get(headers(tokens.operator!))).status).toBe(200);
  const other = await get({ 'x-auth-token': tokens.operator!, authorization: `Bearer ${tokens['owner-admin']}` });
  expect([other.status, other.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Baremetal API"']);
});
