/** What every request meets before a resource does: discovery, versions, paths, bodies, and the forms of errors. */
import { faultOf, startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const v = {
  chosen: 'x-openstack-ironic-api-version',
  min: 'x-openstack-ironic-api-minimum-version',
  max: 'x-openstack-ironic-api-maximum-version',
};

describe('discovery', () => {
  test('/ says name and version range to every caller', async () => {
    const reply = await api.as(null, 'GET', '/', { minor: null });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect(reply.body).toMatchObject({
      name: 'OpenStack Ironic API',
      default_version: { id: 'v1', status: 'CURRENT', min_version: '1.1', version: '1.115' },
      versions: [{ id: 'v1', links: [{ href: `${api.url}/v1/`, rel: 'self' }] }],
    });
    expect([v.min, v.max, v.chosen].map((name) => reply.headers.get(name))).toEqual(['1.1', '1.115', '1.1']);
  });

  test.each(['/v1', '/v1/'])('%s lists the resources of the version asked for', async (path) => {
    const old = await api.as(null, 'GET', path, { minor: 22 });
    expect(old.body.nodes).toEqual([
      { href: `${api.url}/v1/nodes/`, rel: 'self' },
      { href: `${api.url}/nodes/`, rel: 'bookmark' },
    ]);
    expect([old.body.lookup !== undefined, old.body.portgroups, old.body.runbooks]).toEqual([
      true,
      undefined,
      undefined,
    ]);
    expect(old.body.version).toMatchObject({ id: 'v1', version: '1.115' });
    expect(old.body.media_types).toEqual({
      base: 'application/json',
      type: 'application/vnd.openstack.ironic.v1+json',
    });
    const latest = await api.as(null, 'GET', path);
    expect(latest.body.runbooks).toHaveLength(2);
  });

  test('other methods on the discovery documents are refused without asking who', async () => {
    expect((await api.as(null, 'POST', '/v1', { body: {} })).status).toBe(405);
  });
});

describe('versions', () => {
  test.each([
    // legacy header         service header                             status  chosen
    [undefined, undefined, 200, '1.1'],
    ['1.1', undefined, 200, '1.1'],
    ['1.50', undefined, 200, '1.50'],
    ['1.115', undefined, 200, '1.115'],
    ['latest', undefined, 200, '1.115'],
    ['LATEST', undefined, 200, '1.115'],
    ['1.10, 1.20', undefined, 200, '1.20'],
    [undefined, 'baremetal 1.40', 200, '1.40'],
    ['1.10', 'baremetal 1.40', 200, '1.40'],
    ['1.10', 'compute 2.1', 200, '1.10'],
    ['1.10', 'compute 2.1, baremetal 1.33', 200, '1.33'],
    [undefined, 'baremetal 1.33, baremetal 1.34', 200, '1.34'],
    [undefined, 'baremetal latest', 200, '1.115'],
    ['1.116', undefined, 406, null],
    ['1.0', undefined, 406, null],
    ['2.1', undefined, 406, null],
    ['abc', undefined, 406, null],
    ['1', undefined, 406, null],
    [undefined, 'baremetal 1.999', 406, null],
    [undefined, 'baremetal', 406, null],
  ] as const)('legacy %s, service %s: %s, answered as %s', async (legacy, service, status, chosen) => {
    for (const path of ['/', '/v1', '/v1/nodes', '/v1/no/such/path']) {
      const reply = await api.as('operator', 'GET', path, {
        minor: null,
        headers: {
          ...(legacy === undefined ? {} : { 'x-openstack-ironic-api-version': legacy }),
          ...(service === undefined ? {} : { 'openstack-api-version': service }),
        },
      });
      expect(reply.status).toBe(path.includes('such') && status === 200 ? 404 : status);
      expect([v.min, v.max, v.chosen].map((name) => reply.headers.get(name))).toEqual(['1.1', '1.115', chosen]);
    }
  });

  test('an unsupported version is refused with a titled body that names the range', async () => {
    const reply = await api.as('operator', 'GET', '/v1/nodes', { minor: 999 });
    const inner = JSON.parse(reply.body.error_message);
    expect(inner).toEqual({ code: 406, title: 'Not Acceptable', description: expect.stringContaining('1.1 to 1.115') });
  });
});

describe('errors', () => {
  test('without credentials the answer is 401 with a challenge, and no version headers', async () => {
    for (const path of ['/v1/nodes', '/v1/no/such/path', '/nodes/n1']) {
      const reply = await api.as(null, 'GET', path);
      expect(reply.status).toBe(401);
      expect(reply.headers.get('www-authenticate')).toBe('Keystone uri="http://identity.example.org"');
      expect(reply.body).toEqual({
        error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' },
      });
      expect([v.min, v.max, v.chosen].map((name) => reply.headers.get(name))).toEqual([null, null, null]);
      expect(reply.headers.get('x-openstack-request-id')).toMatch(/^req-/);
    }
  });

  test('a fault inside a handler is a JSON text inside error_message', async () => {
    const reply = await api.as('operator', 'GET', '/v1/nodes/missing');
    expect(reply.status).toBe(404);
    expect(reply.text).toBe(
      JSON.stringify({
        error_message: JSON.stringify({
          faultcode: 'Client',
          faultstring: 'Node missing could not be found.',
          debuginfo: null,
        }),
      }),
    );
    expect(reply.headers.get(v.chosen)).toBe('1.115');
  });

  test.each([
    ['GET', '/v1/no/such/path', 404, 'Not Found'],
    ['GET', '/v1/nodes/a/b/c/d', 404, 'Not Found'],
    ['DELETE', '/v1/nodes', 405, 'Method Not Allowed'],
    ['POST', '/v1/nodes/n1', 405, 'Method Not Allowed'],
    ['PATCH', '/v1/nodes', 405, 'Method Not Allowed'],
  ] as const)('%s %s is %s with a titled body', async (method, path, status, title) => {
    const reply = await api.as('operator', method, path);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.body.error_message)).toEqual({ code: status, title, description: expect.any(String) });
  });

  test.each([
    ['DELETE', '/v1/nodes', 115, 'GET, HEAD, POST'],
    ['POST', '/v1/nodes/n1', 115, 'GET, HEAD, DELETE, PATCH'],
    ['PATCH', '/v1/nodes/n1/traits', 115, 'GET, HEAD, PUT, DELETE'],
    ['PATCH', '/v1/nodes/n1/traits', 36, ''],
    ['POST', '/v1/runbooks', 91, ''],
  ] as const)('%s %s at 1.%s is refused with what is offered instead: %j', async (method, path, minor, allow) => {
    const reply = await api.as('operator', method, path, { minor });
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow]);
  });

  test('every answer carries one request id under both names', async () => {
    const replies = await Promise.all([
      api.as('operator', 'GET', '/'),
      api.as('operator', 'GET', '/v1/nodes'),
      api.as('operator', 'GET', '/v1/nodes/missing'),
    ]);
    const ids = replies.map((reply) => reply.headers.get('x-openstack-request-id'));
    expect(ids).toEqual(replies.map((reply) => reply.headers.get('openstack-request-id')));
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toMatch(/^req-[0-9a-f-]{36}$/);
  });

  test('what was not expected is a 500 that names the request and nothing else, and is logged', async () => {
    const spy = jest
      .spyOn(api.inventory.nodes, 'find')
      .mockRejectedValueOnce(new Error('password=hunter2 in a driver'));
    const reply = await api.as('operator', 'GET', '/v1/nodes/n1');
    spy.mockRestore();
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('hunter2');
    const id = reply.headers.get('x-openstack-request-id');
    expect(faultOf(reply)).toContain(id);
    expect(JSON.parse(reply.body.error_message).faultcode).toBe('Server');
    expect(api.log).toContainEqual(
      expect.objectContaining({ level: 'error', facts: expect.objectContaining({ request_id: id }) }),
    );
  });
});

describe('paths', () => {
  test.each(['/v1/nodes', '/v1/nodes/', '/nodes', '/nodes/', '//nodes', '/v1/nodes/?limit=5', '/nodes?limit=5'])(
    '%s is the list of nodes',
    async (path) => {
      const reply = await api.as('operator', 'GET', path);
      expect([reply.status, reply.body]).toEqual([200, { nodes: [] }]);
    },
  );

  test('below 1.91 a .json suffix is dropped, unless the name really ends in it', async () => {
    for (const name of ['plain', 'ends.json'])
      await api.as('operator', 'POST', '/v1/nodes', { body: { name, driver: 'fake-hardware' } });
    const show = async (path: string, minor: number) => (await api.as('operator', 'GET', path, { minor })).body?.name;
    expect(await show('/v1/nodes/plain.json', 90)).toBe('plain');
    expect(await show('/v1/nodes/plain.json', 91)).toBeUndefined();
    expect(await show('/v1/nodes/ends.json', 90)).toBe('ends.json');
    expect(await show('/v1/nodes/ends.json', 91)).toBe('ends.json');
    expect((await api.as('operator', 'GET', '/v1/nodes.json', { minor: 90 })).status).toBe(200);
    expect((await api.as('operator', 'GET', '/v1/nodes/gone.json', { minor: 90 })).status).toBe(404);
    await api.sql`delete from nodes`;
  });

  test('a path with a broken escape is a bad request', async () => {
    expect((await api.as('operator', 'GET', '/v1/nodes/%E0%A4%A')).status).toBe(400);
  });

  test('an unknown query argument is a bad request that names it', async () => {
    const reply = await api.as('operator', 'GET', '/v1/nodes?colour=red');
    expect([reply.status, faultOf(reply)]).toEqual([400, 'Unexpected arguments: colour.']);
  });
});

describe('bodies', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

  test('malformed JSON is a bad request that does not repeat the body', async () => {
    const reply = await api.as('operator', 'POST', '/v1/nodes', { raw: '{"password": "hunter2' });
    expect(reply.status).toBe(400);
    expect(reply.text).not.toContain('hunter2');
  });

  test('a body may be 25 levels deep, and not 26', async () => {
    const deepest = await api.as('operator', 'POST', '/v1/nodes', {
      body: { driver: 'fake-hardware', extra: nested(24) },
    });
    expect(deepest.status).toBe(201);
    const reply = await api.as('operator', 'POST', '/v1/nodes', {
      body: { driver: 'fake-hardware', extra: nested(25) },
    });
    expect([reply.status, reply.body]).toEqual([400, { faultcode: 'Client', faultstring: expect.any(String) }]);
    await api.sql`delete from nodes`;
  });

  test.each([
    ['half an object', '{"password": "hunter2', {}, /^The request body is not valid JSON: look for a missing/],
    ['another charset', '{}', { 'content-type': 'application/json; charset=klingon' }, /could not be read: .*charset/],
    ['another encoding', '{}', { 'content-encoding': 'hunter2' }, /could not be read: its Content-Encoding is not/],
    [
      'an encoding that it is not in',
      'hunter2',
      { 'content-encoding': 'gzip' },
      /could not be read: it is not encoded/,
    ],
  ])('%s as a body is refused in plain words', async (_, raw, headers, says) => {
    const reply = await api.as('operator', 'POST', '/v1/nodes', { raw, headers: headers as Record<string, string> });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringMatching(says)]);
    expect(reply.text).not.toMatch(/hunter2|entity\.|\.unsupported/);
  });

  test.each([7_998, 7_999])('a list of %i values in an object: at most 8000 values make a body', async (length) => {
    const reply = await api.as('operator', 'POST', '/v1/nodes', { body: { list: Array.from({ length }, () => 0) } });
    expect(reply.status).toBe(400);
    if (length === 7_998) expect(faultOf(reply)).toBe('driver: is missing');
    else expect(reply.body.faultstring).toBe('The request body holds more than 8000 values.');
  });

  test('a body may have 1 MiB, a provision request’s too', async () => {
    const large = JSON.stringify({ driver: 'fake-hardware', extra: { text: 'x'.repeat(1024 * 1024) } });
    const reply = await api.as('operator', 'POST', '/v1/nodes', { raw: large });
    expect([reply.status, reply.body]).toEqual([413, { faultcode: 'Client', faultstring: expect.any(String) }]);
    const drive = (bytes: number) => JSON.stringify({ target: 'active', configdrive: 'x'.repeat(bytes) });
    const provision = (raw: string) => api.as('operator', 'PUT', '/v1/nodes/n1/states/provision', { raw });
    expect((await provision(drive(1024 * 1024))).status).toBe(413);
    expect((await provision(drive(1000 * 1000))).status).toBe(404);
  });

  test.each(['nul \0', 'half a pair \ud800'])('a text that no store takes is a bad request: %j', async (text) => {
    const ask = (extra: unknown) =>
      api.as('operator', 'POST', '/v1/nodes', { body: { driver: 'fake-hardware', extra } });
    for (const [extra, field] of [
      [{ text }, 'extra.text'],
      [{ list: [1, { text }] }, 'extra.list.1.text'],
      [{ [text]: 1 }, 'extra.a key'],
    ] as const) {
      const reply = await ask(extra);
      expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(`${field}: holds a NUL`)]);
    }
  });

  test('a body is JSON whatever its content type says', async () => {
    const reply = await api.as('operator', 'POST', '/v1/nodes', {
      raw: '{"driver": "fake-hardware"}',
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(reply.status).toBe(201);
    await api.sql`delete from nodes`;
  });

  test('DELETE with the content type of the command line client and no body is served', async () => {
    const reply = await api.as('operator', 'DELETE', '/v1/nodes/n1', {
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(reply.status).toBe(404);
  });
});

test.each([
  ['/v1/chassis', 'baremetal:chassis:create'],
  ['/v1/deploy_templates', 'baremetal:deploy_template:create'],
  ['/v1/inspection_rules', 'baremetal:inspection_rule:create'],
])('POST %s is refused by its rule before its body is looked at', async (path, rule) => {
  for (const request of [{ body: { nonsense: 1 } }, { raw: '{', headers: { 'content-type': 'application/json' } }]) {
    const refused = await api.as('owner-admin', 'POST', path, request);
    expect([refused.status, faultOf(refused)]).toEqual([403, expect.stringContaining(rule)]);
    expect((await api.as('operator', 'POST', path, request)).status).toBe(400);
  }
});

test('/v1.json is nowhere, with a login and without, at every version', async () => {
  for (const who of [null, 'operator'] as const)
    for (const minor of [null, 1, 90, 91, 115])
      expect([who, minor, (await api.as(who, 'GET', '/v1.json', { minor })).status]).toEqual([who, minor, 404]);
});
