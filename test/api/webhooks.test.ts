/** Webhooks on the wire: who may have them, where they may go, and that their secret never comes back. */
import { createServer } from 'node:http';
import { createApi } from '../../src/api';
import { createVault } from '../../src/inventory/secrets/vault';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import type { Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    settings: {
      webhookOrigins: ['https://hooks.example.org', 'https://inside.example.org', 'http://127.0.0.1:9999'],
      lookup: async (host) => (host === 'inside.example.org' ? ['192.0.2.7', '169.254.169.254'] : ['192.0.2.7']),
    },
    webhooks: true,
  });
});
afterAll(() => api?.close());

const path = '/temper/v1/webhooks';
const secret = `whsec_${Buffer.alloc(24, 'secret-of').toString('base64')}`;
const another = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;
const wanted = { url: 'https://hooks.example.org/t/42', kinds: ['run.*', 'node.moved'], secret };
const post = (who: Persona, body: object) => api.as(who, 'POST', path, { body });

describe('a webhook', () => {
  test('is made, shown, changed and deleted by a system administrator, each with an audit row', async () => {
    const made = await post('operator', { ...wanted, description: 'ticket system' });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe(`${api.url}${path}/${made.body.uuid}`);
    expect(made.body).toMatchObject({ url: wanted.url, kinds: wanted.kinds, enabled: true, secret: '******' });
    const one = `${path}/${made.body.uuid}`;
    const changed = await api.as('operator', 'PATCH', one, { body: { enabled: false, kinds: ['*'] } });
    expect(changed.body).toMatchObject({ enabled: false, kinds: ['*'], description: 'ticket system' });
    expect((await api.as('operator', 'GET', path)).body.webhooks).toEqual([changed.body]);
    expect((await api.as('operator', 'DELETE', one)).status).toBe(204);
    expect((await api.as('operator', 'GET', one)).status).toBe(404);
    const rows = await api.sql<{ action: string; rule: string }[]>`
      select action, rule from audit where resource_id = ${made.body.uuid} order by seq`;
    expect(rows.map(({ action, rule }) => [action, rule])).toEqual([
      ['webhook.create', 'temper:webhook:create'],
      ['webhook.update', 'temper:webhook:update'],
      ['webhook.delete', 'temper:webhook:delete'],
    ]);
  });

  test('keeps its secret, and the path of its URL, out of replies, events and audit', async () => {
    const { body } = await post('operator', wanted);
    await api.as('operator', 'PATCH', `${path}/${body.uuid}`, { body: { secret: another } });
    const [told] = await api.sql<{ text: string }[]>`
      select (select string_agg(data::text, '') from events) || (select string_agg(data::text, '') from audit) ||
        (select string_agg(to_jsonb(webhooks)::text, '') from webhooks) as text`;
    const shown = (await api.as('operator', 'GET', `${path}/${body.uuid}`)).text;
    for (const text of [told!.text, shown]) expect(text).not.toMatch(/whsec_|secret-of|another/);
    const [events] = await api.sql<{ text: string }[]>`select string_agg(data::text, '') as text from events`;
    expect(events!.text).not.toContain('/t/42');
  });

  test.each(['system-member', 'system-reader', 'owner-member', 'owner-reader'] as const)(
    'is nothing for %s',
    async (who) => {
      const { body } = await post('operator', wanted);
      const one = `${path}/${body.uuid}`;
      const replies = await Promise.all([
        post(who, wanted),
        api.as(who, 'GET', path),
        api.as(who, 'GET', one),
        api.as(who, 'PATCH', one, { body: { enabled: false } }),
        api.as(who, 'DELETE', one),
        api.as(who, 'GET', `${one}/deliveries`),
      ]);
      expect(replies.map((reply) => reply.status)).toEqual([403, 403, 404, 404, 404, 404]);
    },
  );

  test.each([
    ['https://hooks.example.org:8443/x', 'not among the origins'],
    ['http://hooks.example.org/x', 'not among the origins'],
    ['https://hooks.example.org.evil.example/x', 'not among the origins'],
    ['http://127.0.0.1:6385/v1', 'not among the origins'],
    ['https://inside.example.org/x', 'resolves to 169.254.169.254'],
    ['https://me:geheim@hooks.example.org/x', 'must not hold credentials'],
    ['ftp://hooks.example.org/x', 'must begin with https:// or http://'],
    ['nonsense', 'must begin with https:// or http://'],
  ])('is not sent to %s', async (url, says) => {
    const reply = await post('operator', { ...wanted, url });
    expect(reply.status).toBe(400);
    expect(faultOf(reply)).toContain(says);
    expect(reply.text).not.toContain('geheim');
  });

  test('that is switched off is not sent elsewhere for later, to a place where it could not go now', async () => {
    const { body } = await post('operator', wanted);
    for (const url of ['', 'nonsense', 'https://elsewhere.example.org/x']) {
      const reply = await api.as('operator', 'PATCH', `${path}/${body.uuid}`, { body: { url, enabled: false } });
      expect(reply.status).toBe(400);
    }
    expect((await api.as('operator', 'GET', `${path}/${body.uuid}`)).body).toMatchObject({
      url: wanted.url,
      enabled: true,
    });
  });

  test('may go to an address near by that the operator listed as an address', async () => {
    expect((await post('operator', { ...wanted, url: 'http://127.0.0.1:9999/x' })).status).toBe(201);
  });

  test.each([
    [{ kinds: [] }, 'at least one kind'],
    [{ kinds: ['freeze.*'] }, 'families are node, run, step, rollout, allocation, runbook'],
    [{ kinds: ['run.*', 'RUN'] }, 'families are node, run, step'],
    [{ secret: 'a-secret-of-some-length' }, 'must be whsec_ and the base64 of 24 to 64 random bytes'],
    [{ secret: `whsec_${'A'.repeat(31)}=` }, 'must be whsec_'],
    [{ secret: `whsec_${Buffer.alloc(23).toString('base64')}` }, 'must be whsec_'],
    [{ secret: `whsec_${Buffer.alloc(65).toString('base64')}` }, 'must be whsec_'],
    [{ secret: Buffer.alloc(24).toString('base64') }, 'must be whsec_'],
    [{ secret: `${secret}  ${another}` }, 'must be whsec_'],
    [{ secret: `${secret} short` }, 'must be whsec_'],
    [{ secret: [secret, another, secret, another].join(' ') }, 'up to 3 of these'],
    [{ secret: '******' }, 'is the mask of a secret'],
    [{ secret: undefined }, 'secret: is missing'],
    [{ colour: 'red' }, 'colour'],
  ])('with %j is refused', async (change, says) => {
    const reply = await post('operator', { ...wanted, ...change });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(says)]);
  });

  test('that is off can be switched off and on only where its target is still allowed', async () => {
    const { body } = await post('operator', wanted);
    const settings = { ...api.rooms.settings, webhookOrigins: [] };
    const server = createServer(createApi({ ...api.rooms, settings }));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    const patch = (enabled: boolean) =>
      fetch(`http://127.0.0.1:${port}${path}/${body.uuid}`, {
        method: 'PATCH',
        headers: { 'x-auth-token': 'operator' },
        body: JSON.stringify({ enabled }),
      });
    const statuses = [(await patch(false)).status, (await patch(true)).status];
    server.close();
    expect(statuses).toEqual([200, 400]);
  });
});

describe('the secret of a webhook', () => {
  test.each([
    ['64 bytes', `whsec_${Buffer.alloc(64, 1).toString('base64')}`],
    ['several, while receivers change over', `${another} ${secret}`],
  ])('may be %s', async (_, text) => {
    expect((await post('operator', { ...wanted, secret: text })).status).toBe(201);
  });

  test('lies sealed, where the API’s own role cannot read it back', async () => {
    const { body } = await post('operator', wanted);
    const [row] = await api.sql<{ id: string; key_id: string; nonce: Buffer; ciphertext: Buffer }[]>`
      select id, key_id, nonce, ciphertext from webhook_secrets where webhook_uuid = ${body.uuid}`;
    expect(createVault(new Map([['test', Buffer.alloc(32, 9)]])).open(row!)).toBe(secret);
    const rights = await api.sql<{ role: string; may: boolean }[]>`
      select r as role, has_column_privilege(r, 'webhook_secrets', 'ciphertext', 'select') as may
      from unnest(array['temper_api', 'temper_control', 'temper_bmc']) r`;
    expect(Object.fromEntries(rights.map(({ role, may }) => [role, may]))).toEqual({
      temper_api: false,
      temper_control: true,
      temper_bmc: false,
    });
  });
});

test('the log of deliveries is paged, newest first, and names no other webhook’s', async () => {
  const [one, other] = [await post('operator', wanted), await post('operator', wanted)];
  for (const seq of [1, 2, 3])
    await api.sql`
      insert into webhook_deliveries (webhook_uuid, event_seq, kind, state, attempts, status, error)
      values (${one.body.uuid}, ${seq}, 'run.failed', 'pending', 2, 500, 'The receiver answered 500.')`;
  const log = `${path}/${one.body.uuid}/deliveries`;
  const first = (await api.as('operator', 'GET', `${log}?limit=2`)).body.deliveries;
  expect(first.map(({ event_seq }: { event_seq: number }) => event_seq)).toEqual([3, 2]);
  expect(first[0]).toMatchObject({ state: 'pending', attempts: 2, status: 500, next_at: expect.any(String) });
  const rest = (await api.as('operator', 'GET', `${log}?limit=2&marker=${first[1].uuid}`)).body.deliveries;
  expect(rest.map(({ event_seq }: { event_seq: number }) => event_seq)).toEqual([1]);
  expect((await api.as('operator', 'GET', `${path}/${other.body.uuid}/deliveries`)).body.deliveries).toEqual([]);
  const foreign = await api.as('operator', 'GET', `${path}/${other.body.uuid}/deliveries?marker=${first[0].uuid}`);
  expect(foreign.status).toBe(404);
});
