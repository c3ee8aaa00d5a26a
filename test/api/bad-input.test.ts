/** Every route, walked with every kind of wrong request: each is refused in the form of errors, and changes nothing. */
import { type Route, routes } from '../../src/api';
import { type Reply, startTestApi, type TestApi } from '../support/api';
import { type Wrong, wrongRequests } from '../support/bad-input';
import { filledPath, realThings, thingsSettings } from '../support/real-things';
import type { Fill } from '../support/rule-world';

let api: TestApi;
let fill: Fill;
let sent = 0;

beforeAll(async () => {
  api = await startTestApi({ webhooks: true, settings: thingsSettings });
  fill = await realThings(api);
});
afterAll(async () => {
  process.stdout.write(`bad input: ${sent} requests to ${routes.length} routes\n`);
  await api.close();
});

/** All that is stored, as one text per table. Of the audit trail, what was granted: refusals belong there. */
const stored = async (): Promise<Record<string, string>> => {
  const tables = await api.sql<{ name: string; judged: boolean }[]>`
    select table_name as name, exists (
      select 1 from information_schema.columns c
      where c.table_schema = 'public' and c.table_name = t.table_name and c.column_name = 'verdict') as judged
    from information_schema.tables t where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const found: Record<string, string> = {};
  for (const { name, judged } of tables) {
    const where = judged ? api.sql`where verdict = 'granted'` : api.sql``;
    const [row] = await api.sql<{ rows: number; hash: string }[]>`
      select count(*)::int as rows, md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash
      from ${api.sql(name)} t ${where}`;
    found[name] = `${row!.rows} rows, ${row!.hash}`;
  }
  return found;
};

const orders = () =>
  Object.fromEntries(Object.entries(api.runs).map(([name, list]) => [name, (list as unknown[]).length]));

/** What is not as it should be about a refusal; undefined where it is right. */
const fault = (reply: Reply): string | undefined => {
  if (reply.status < 400 || reply.status > 499 || reply.status === 401) return `answered ${reply.status}`;
  if (reply.headers.get('content-type') !== 'application/json') return 'is not JSON';
  const said = reply.body.error_message === undefined ? reply.body : JSON.parse(reply.body.error_message);
  if (!(said.faultstring ?? said.description)) return `says nothing: ${reply.text}`;
  return said.faultcode === 'Client' || said.code === reply.status ? undefined : `is of no form: ${reply.text}`;
};

/** What looks wrong and is answered all the same, and why. */
const fine: readonly { readonly route: RegExp; readonly wrong: RegExp; readonly why: string }[] = [
  {
    route: /^DELETE \/v1\/runbooks\/:\w+\/traits\/:trait$/,
    wrong: /^:trait is/,
    why: 'a trait that the runbook has not is gone already: the wire’s own answer is 204',
  },
];

const isFine = ({ method, path }: Route, what: string): boolean =>
  fine.some(({ route, wrong }) => route.test(`${method} ${path}`) && wrong.test(what));

/** What is not as it should be about the refusal of one request. */
const faultOfOne = async (route: Route, { wrong, path, method, ...request }: Wrong): Promise<string[]> => {
  sent += 1;
  const reply = await api.as('operator', method ?? route.method, path, request);
  const found = fault(reply);
  return found ? [`${wrong}: ${found} ${reply.text.slice(0, 200)}`] : [];
};

const atOnce = 8;

const walk = async (route: Route, wrong: readonly Wrong[]): Promise<string[]> => {
  const faults: string[] = [];
  for (let at = 0; at < wrong.length; at += atOnce) {
    const asked = wrong.slice(at, at + atOnce).map((one) => faultOfOne(route, one));
    faults.push(...(await Promise.all(asked)).flat());
  }
  return faults;
};

test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s refuses whatever is wrong, and nothing changes',
  async (_, route) => {
    const wrong = wrongRequests(route, await filledPath(fill, route.path)).filter((one) => !isFine(route, one.wrong));
    const before = { ...(await stored()), ...orders() };
    expect(await walk(route, wrong)).toEqual([]);
    expect({ ...(await stored()), ...orders() }).toEqual(before);
    expect(wrong.length).toBeGreaterThan(8);
  },
);

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'] as const;

test('a method that is not offered is refused with those that are', async () => {
  for (const path of new Set(routes.map((route) => route.path))) {
    const offered = routes.filter((route) => route.path === path).map(({ method }) => method as string);
    const target = await filledPath(fill, path);
    for (const method of methods.filter((one) => !offered.includes(one))) {
      sent += 1;
      const reply = await api.as('operator', method, target);
      const allowed = reply.headers
        .get('allow')
        ?.split(', ')
        .filter((one) => one !== 'HEAD');
      expect([method, path, reply.status, allowed?.sort()]).toEqual([method, path, 405, [...offered].sort()]);
      expect(fault(reply)).toBeUndefined();
    }
  }
});

test.each([
  ['GET', '/v1/no/such/path?limit=1'],
  ['POST', '/v1/no/such/path'],
  ['PUT', '/temper/v1/no-such-thing'],
  ['OPTIONS', '/v1/no/such/path'],
  ['DELETE', '/no-such-thing?no_such_parameter=1'],
] as const)('%s %s is found nowhere, whatever it carries', async (method, path) => {
  sent += 1;
  const reply = await api.as('operator', method, path, method === 'POST' ? { raw: '{"half' } : {});
  expect([reply.status, fault(reply)]).toEqual([404, undefined]);
});
