/** ETags: who asks again for one thing is answered "as before", and never is where something is otherwise. */
import { randomUUID } from 'node:crypto';
import { routes } from '../../src/api';
import { isShow, tagOf } from '../../src/api/server/etag';
import { faultOf, type Reply, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

beforeEach(async () => {
  await api.sql`delete from nodes`;
  await api.as('operator', 'POST', '/v1/nodes', { body: { name: 'n1', driver: 'fake-hardware', owner, lessee } });
});

const show = (path: string, { who = 'operator', tag, minor }: { who?: Persona; tag?: string; minor?: number } = {}) =>
  api.as(who, 'GET', path, { minor, headers: tag === undefined ? {} : { 'if-none-match': tag } });
const tagIn = (reply: Reply): string => reply.headers.get('etag')!;

describe('one thing', () => {
  test('is answered once, and then that it is as before, without a body', async () => {
    const first = await show('/v1/nodes/n1');
    const second = await show('/v1/nodes/n1', { tag: tagIn(first) });
    expect([first.status, second.status, second.text]).toEqual([200, 304, '']);
    expect(tagIn(second)).toBe(tagIn(first));
    expect([second.headers.get('content-type'), second.headers.get('content-length')]).toEqual([null, null]);
    expect(second.headers.get('x-openstack-ironic-api-version')).toBe('1.115');
    expect(second.headers.get('x-openstack-request-id')).toMatch(/^req-/);
    for (const reply of [first, second]) {
      expect(reply.headers.get('cache-control')).toBe('private, no-cache');
      expect(reply.headers.get('vary')).toBe(
        'X-Auth-Token, Authorization, X-Temper-Scope, X-OpenStack-Ironic-API-Version, OpenStack-API-Version',
      );
    }
  });

  test.each([
    ['the same among others', (tag: string) => `"a", ${tag}`, 304],
    ['a weak one', (tag: string) => `W/${tag}`, 304],
    ['any', () => '*', 304],
    ['another', () => '"a"', 200],
    ['the same without quotes', (tag: string) => tag.slice(1, -1), 200],
  ])('%s in If-None-Match', async (_, given, status) => {
    expect((await show('/v1/nodes/n1', { tag: given(tagIn(await show('/v1/nodes/n1'))) })).status).toBe(status);
  });

  test('HEAD has the tag of GET', async () => {
    const head = await fetch(`${api.url}/v1/nodes/n1`, {
      method: 'HEAD',
      headers: { 'x-auth-token': 'operator', 'x-openstack-ironic-api-version': '1.115' },
    });
    expect(head.headers.get('etag')).toBe(tagIn(await show('/v1/nodes/n1')));
  });

  test('the states of a node have one, since clients ask for them again and again', async () => {
    const first = await show('/v1/nodes/n1/states');
    expect((await show('/v1/nodes/n1/states', { tag: tagIn(first) })).status).toBe(304);
    await api.sql`update nodes set power_state = 'power on'`;
    const third = await show('/v1/nodes/n1/states', { tag: tagIn(first) });
    expect([third.status, third.body.power_state]).toEqual([200, 'power on']);
  });

  test('what a stranger may not see is not found, whatever tag is named', async () => {
    const tag = tagIn(await show('/v1/nodes/n1'));
    expect((await show('/v1/nodes/n1', { who: 'stranger-admin', tag })).status).toBe(404);
    expect((await show('/v1/nodes/n1', { who: 'stranger-admin', tag: '*' })).status).toBe(404);
  });
});

describe('the tag is another', () => {
  test.each<[string, () => Promise<Reply>]>([
    ['in another version', () => show('/v1/nodes/n1', { minor: 114 })],
    ['with other fields', () => show('/v1/nodes/n1?fields=uuid,name')],
    ['for a caller who sees less of it', () => show('/v1/nodes/n1', { who: 'lessee-member' })],
    [
      'after a change of the row',
      async () => {
        await api.as('operator', 'PATCH', '/v1/nodes/n1', { body: [{ op: 'add', path: '/extra/a', value: 1 }] });
        return show('/v1/nodes/n1');
      },
    ],
    [
      'after what is not in its row has changed',
      async () => {
        await api.sql`insert into workers (hostname, conductor_group, drivers, role)
          values ('w', '', array['fake-hardware'], 'bmc')`;
        return show('/v1/nodes/n1');
      },
    ],
  ])('%s', async (_, ask) => {
    const tag = tagIn(await show('/v1/nodes/n1'));
    const reply = await ask();
    expect([reply.status, tagIn(reply) === tag]).toEqual([200, false]);
    await api.sql`delete from workers`;
  });
});

test('every resource that is shown one by one has tags; lists and discovery have none', async () => {
  const untagged = routes.filter((one) => one.method === 'GET' && /\/:\w+$/.test(one.path) && !isShow(one));
  expect(untagged.every(({ rules }) => rules === 'public')).toBe(true);
  for (const path of ['/v1/nodes', '/v1', '/v1/nodes/detail'])
    expect([path, (await show(path)).headers.get('etag')]).toEqual([path, null]);
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('If-Match on %s is refused rather than ignored', async (method) => {
  const path = { POST: '/v1/nodes', PUT: '/v1/nodes/n1/maintenance' }[method] ?? '/v1/nodes/n1';
  const body = method === 'POST' ? { driver: 'fake-hardware' } : method === 'PATCH' ? [] : undefined;
  const reply = await api.as('operator', method, path, { body, headers: { 'if-match': '"a"' } });
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(/^If-Match: is not supported/)]);
});

test('tagging a full node costs little beside making its text', () => {
  const text = JSON.stringify({ uuid: randomUUID(), extra: 'x'.repeat(8_000) });
  const times = 2_000;
  const began = process.hrtime.bigint();
  for (let at = 0; at < times; at++) tagOf(text, at % 116);
  const microseconds = Number(process.hrtime.bigint() - began) / 1_000 / times;
  console.info(`a tag of ${text.length} bytes: ${microseconds.toFixed(1)} µs`);
  expect(microseconds).toBeLessThan(2_000);
});
