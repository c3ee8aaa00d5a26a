/** What may be sent without a login: it is bounded, counted and budgeted before it is read, unpacked or parsed. */
import { once } from 'node:events';
import { connect as dial, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { maxDepth, maxValues, parseBody } from '../../src/api/body/body';
import { linesAMinute } from '../../src/model/bounded-lines';
import { structureFault } from '../../src/model/json-structure';
import { startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    settings: { trustedProxies: ['127.0.0.0/8'], openBudget: { atOnce: 3, ofOne: 2, withinMs: 60_000 } },
  });
});
afterAll(() => api.close());

const inspection = { inventory: { interfaces: [{ mac_address: '52:54:00:00:00:01' }] } };
const limits = { depth: maxDepth, values: maxValues };

test('an open route takes no content encoding, a caller who is known may use one', async () => {
  const raw = gzipSync(JSON.stringify(inspection));
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
  for (const path of ['/v1/continue_inspection', '/v1/heartbeat/x'])
    expect([path, (await api.as(null, 'POST', path, { raw, headers })).status]).toEqual([path, 415]);
  const chassis = gzipSync(JSON.stringify({ description: 'packed' }));
  expect((await api.as('operator', 'POST', '/v1/chassis', { raw: chassis, headers })).status).toBe(201);
});

test.each([
  ['/v1/heartbeat/x', 512],
  ['/v1/continue_inspection', 16 * 1024],
])('%s takes the %i kB of its own limit, and no byte more', async (path, kilobytes) => {
  const send = async (bytes: number) =>
    (await api.as(null, 'POST', path, { raw: '{}'.padEnd(bytes), headers: { 'content-type': 'application/json' } }))
      .status;
  const most = kilobytes * 1024;
  expect([await send(most), await send(most + 1)]).toEqual([400, 413]);
});

describe('structure is counted in the bytes', () => {
  const parse = jest.spyOn(JSON, 'parse');
  beforeEach(() => parse.mockClear());
  afterAll(() => parse.mockRestore());

  test.each([
    ['nested lists', '['.repeat(4_000_000) + ']'.repeat(4_000_000), 'BodyTooDeep'],
    ['nested objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'BodyTooDeep'],
    ['many values', `[${'0,'.repeat(1_000_000)}0]`, 'BodyTooManyValues'],
    ['many lists', `[${'[],'.repeat(1_000_000)}[]]`, 'BodyTooManyValues'],
    ['no JSON at all', '['.repeat(100), 'BodyTooDeep'],
  ])('%s are refused, and nothing is parsed', (_what, text, code) => {
    expect(() => parseBody(Buffer.from(text), limits, 'any')).toThrow(expect.objectContaining({ code }));
    expect(parse.mock.calls.filter(([given]) => given === text)).toEqual([]);
  });

  test('what stands in texts is no structure', () => {
    const texts = ['[[[', '{{{', '\\', '\\"[', 'a,b,c', '"'.repeat(50), '\\'.repeat(51)];
    const document = { texts, 'a"[': '\u2028[' };
    expect(parseBody(Buffer.from(JSON.stringify(document)), { depth: 2, values: 12 }, 'storable')).toEqual(document);
    expect(structureFault(Buffer.from('"unended [[['), { depth: 1, values: 1 })).toBeUndefined();
  });

  test('the limits themselves are within them', () => {
    const bytes = (text: string) => Buffer.from(text);
    expect(structureFault(bytes('[[1]]'), { depth: 2, values: 9 })).toBeUndefined();
    expect(structureFault(bytes('[[[1]]]'), { depth: 2, values: 9 })).toBe('depth');
    expect(structureFault(bytes('[1,2,3]'), { depth: 9, values: 4 })).toBeUndefined();
    expect(structureFault(bytes('[1,2,3,4]'), { depth: 9, values: 4 })).toBe('values');
  });
});

describe('a budget is spent before the body is read', () => {
  /** Begins a request and keeps its body back. */
  const begin = async (from: string, path = '/v1/continue_inspection'): Promise<Socket & { said: () => string }> => {
    const socket = dial(Number(new URL(api.url).port), '127.0.0.1');
    let said = '';
    socket.on('data', (bytes) => {
      said += String(bytes);
    });
    await once(socket, 'connect');
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${from}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    return Object.assign(socket, { said: () => said });
  };
  const status = async (from: string): Promise<number> =>
    (
      await api.as(null, 'POST', '/v1/continue_inspection', {
        body: inspection,
        minor: 1,
        headers: { 'x-forwarded-for': from },
      })
    ).status;
  const until = async (met: () => Promise<boolean>): Promise<void> => {
    while (!(await met())) await new Promise((resolve) => setImmediate(resolve));
  };

  test('one address and all of them have so many at once; the others, and callers who are known, are served meanwhile', async () => {
    const held = [await begin('192.0.2.1'), await begin('192.0.2.1')];
    await until(async () => (await status('192.0.2.1')) === 503);
    expect(await status('192.0.2.2')).toBe(404);
    held.push(await begin('192.0.2.3'));
    await until(async () => (await status('192.0.2.2')) === 503);
    expect((await api.as('operator', 'POST', '/v1/chassis', { body: {} })).status).toBe(201);
    expect((await api.as('operator', 'GET', '/v1/nodes')).status).toBe(200);
    // A sender that goes gives its place back.
    for (const socket of held) socket.destroy();
    await until(async () => (await status('192.0.2.1')) === 404);
  });

  test('a refusal comes before the body has', async () => {
    const held = [await begin('192.0.2.1'), await begin('192.0.2.1')];
    await until(async () => (await status('192.0.2.1')) === 503);
    const third = await begin('192.0.2.1');
    await until(async () => third.said() !== '');
    expect(third.said()).toMatch(/^HTTP\/1\.1 503 /);
    for (const socket of [...held, third]) socket.destroy();
    await until(async () => (await status('192.0.2.1')) === 404);
  });

  test('a sender that is too slow loses its place', async () => {
    const quick = await startTestApi({ settings: { openBudget: { atOnce: 1, ofOne: 1, withinMs: 100 } } });
    try {
      const socket = dial(Number(new URL(quick.url).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write('POST /v1/continue_inspection HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{');
      await once(socket, 'close');
      await until(
        async () =>
          (await quick.as(null, 'POST', '/v1/continue_inspection', { body: inspection, minor: 1 })).status === 404,
      );
    } finally {
      await quick.close();
    }
  });

  test('what is refused to a sender without a login is a few lines of the log', async () => {
    const full = await startTestApi({ settings: { openBudget: { atOnce: 0, ofOne: 0, withinMs: 60_000 } } });
    try {
      for (let at = 0; at < linesAMinute + 5; at += 1)
        expect((await full.as(null, 'POST', '/v1/continue_inspection', { body: inspection, minor: 1 })).status).toBe(
          503,
        );
      expect(full.log.filter((line) => (line as { says: string }).says === 'request failed')).toHaveLength(
        linesAMinute,
      );
    } finally {
      await full.close();
    }
  });

  test('with a limit of requests, those that need no login count by address before they are looked at', async () => {
    const limited = await startTestApi({ settings: { rateLimitPerMinute: 2 } });
    try {
      const send = async () =>
        (await limited.as(null, 'POST', '/v1/continue_inspection', { raw: 'x'.repeat(100_000), minor: 1 })).status;
      expect([await send(), await send(), await send()]).toEqual([400, 400, 429]);
    } finally {
      await limited.close();
    }
  });
});
