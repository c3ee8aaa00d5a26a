/** How a request says which version it wants, and how every answer says which it got: headers, paths, and what is no version. */
import { maxMinor, maxVersion } from '../../../src/model/resources/microversions';
import { faultOf, type Reply } from '../../support/api';
import { ask, type Bench, fresh, freshMac, startBench } from './bench';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.api.close());

const names = ['minimum-version', 'maximum-version', 'version'].map((name) => `x-openstack-ironic-api-${name}`);
const headersOf = ({ headers }: Reply) => names.map((name) => headers.get(name));
const get = (path: string, headers: Readonly<Record<string, string>>) =>
  bench.api.as('operator', 'GET', path, { minor: null, headers });
const byVersion = (version: string) => ({ 'x-openstack-ironic-api-version': version });
const byService = (version: string) => ({ 'openstack-api-version': version });

describe('every answer names its version', () => {
  test.each(Array.from({ length: maxMinor }, (_, at) => at + 1))(
    '1.%i, whichever header asks for it',
    async (minor) => {
      for (const headers of [byVersion(`1.${minor}`), byService(`baremetal 1.${minor}`)])
        for (const [path, status] of [
          ['/v1/nodes', 200],
          ['/v1/nodes/11111111-2222-4333-8444-555555555555', 404],
        ] as const) {
          const reply = await get(path, headers);
          expect([reply.status, ...headersOf(reply)]).toEqual([status, '1.1', maxVersion, `1.${minor}`]);
        }
    },
  );

  const node = '/v1/nodes/{node}';
  test.each([
    ['GET /v1/nodes', 200, undefined],
    ['GET /v1', 200, undefined],
    ['POST /v1/ports', 201, { node_uuid: '{node}', address: freshMac() }],
    [`PATCH ${node}`, 200, [{ op: 'add', path: '/extra/a', value: 1 }]],
    [`PUT ${node}/states/power`, 202, { target: 'power on' }],
    [`PUT ${node}/states/provision`, 202, { target: 'provide' }],
    [`PUT ${node}/maintenance`, 202, {}],
    [`PUT ${node}/traits`, 204, { traits: [] }],
    [`PUT ${node}/management/boot_device`, 204, { boot_device: 'pxe' }],
    [`PUT ${node}/states/raid`, 204, {}],
    ['DELETE /v1/ports/{port}', 204, undefined],
    [`DELETE ${node}`, 204, undefined],
    ['GET /v1/nodes?colour=red', 400, undefined],
    ['GET /v1/conductors/nobody', 404, undefined],
    ['DELETE /v1/nodes', 405, undefined],
    [`GET ${node}?fields=health`, 406, undefined],
    ['POST /v1/nodes', 409, { driver: 'fake-hardware', uuid: '{node}' }],
  ] as const)('%s, answered %i', async (request, status, body) => {
    const fill = bench.world({ raid_interface: 'redfish' });
    const reply = await ask(bench, 77, await fill(request), await fill(body));
    expect([reply.status, ...headersOf(reply)]).toEqual([status, '1.1', maxVersion, '1.77']);
    if (status === 202 || status === 204) {
      expect([reply.text, reply.headers.get('content-type')]).toEqual(['', null]);
      if (status === 204) expect(reply.headers.get('content-length')).toBeNull();
    }
  });
});

describe('asking for a version', () => {
  test('without a header it is 1.1', async () => {
    expect(headersOf(await get('/v1/nodes', {}))).toEqual(['1.1', maxVersion, '1.1']);
  });

  test.each(['latest', 'LATEST', 'Latest'])('"%s" is the newest, by either header', async (latest) => {
    for (const headers of [byVersion(latest), byService(`baremetal ${latest}`)])
      expect(headersOf(await get('/v1/nodes', headers))[2]).toBe(maxVersion);
  });

  test('the header of services is read first, its last entry for this one counts, and others are passed over', async () => {
    const older = byVersion('1.20');
    for (const [service, chosen] of [
      ['baremetal 1.50', '1.50'],
      ['compute 2.90, baremetal 1.50', '1.50'],
      ['baremetal 1.50, compute 2.90', '1.50'],
      ['baremetal 1.50, baremetal 1.51', '1.51'],
      ['compute 2.90', '1.20'],
    ] as const)
      expect([service, headersOf(await get('/v1/nodes', { ...older, ...byService(service) }))[2]]).toEqual([
        service,
        chosen,
      ]);
  });

  test.each([
    '1.0',
    '1.116',
    '1.9999',
    '0.5',
    '2.1',
    '1',
    '1.',
    '1.x',
    '1.1.1',
    '-1.5',
    '1.-5',
    'v1.5',
    'newest',
    '1.5 1.6',
  ])('"%s" is no version: 406, with the range and without a version', async (version) => {
    for (const path of ['/', '/v1', '/v1/', '/v1/nodes', '/nodes', '/v1/nothing/here'])
      for (const headers of [byVersion(version), byService(`baremetal ${version}`)]) {
        if (version.includes(' ') && 'openstack-api-version' in headers) continue; // there a second word ends the entry
        const reply = await get(path, headers);
        expect([version, path, reply.status, ...headersOf(reply)]).toEqual([
          version,
          path,
          406,
          '1.1',
          maxVersion,
          null,
        ]);
        expect(faultOf(reply)).toContain(`1.1 to ${maxVersion}`);
      }
  });

  test('a path that cannot be read is answered in the version all the same', async () => {
    const reply = await get('/v1/nodes/%E0%A4%A', byVersion('1.50'));
    expect([reply.status, ...headersOf(reply)]).toEqual([400, '1.1', maxVersion, '1.50']);
    expect(headersOf(await get('/v1/nodes/%E0%A4%A', byVersion('1.0')))).toEqual(['1.1', maxVersion, null]);
  });

  test('what is no version changes nothing', async () => {
    const name = `unversioned-${fresh()}`;
    const made = await bench.api.as('operator', 'POST', '/v1/nodes', {
      minor: 116,
      body: { name, driver: 'fake-hardware' },
    });
    expect(made.status).toBe(406);
    expect((await ask(bench, 115, `GET /v1/nodes/${name}`)).status).toBe(404);
  });
});

describe('a method that a path never had', () => {
  test.each([
    ['PUT /v1/runbooks', 91, 405, ''],
    ['PUT /v1/runbooks', 92, 405, 'GET, HEAD, POST'],
    ['PUT /v1/allocations', 51, 405, ''],
    ['PUT /v1/inspection_rules/x', 95, 405, ''],
    ['PATCH /v1/nodes/x/traits', 36, 405, ''],
    ['PUT /v1/portgroups', 22, 404, null],
    ['PUT /v1/portgroups', 23, 405, 'GET, HEAD, POST'],
    ['PUT /v1/conductors', 48, 404, null],
    ['PUT /v1/conductors', 49, 405, 'GET, HEAD'],
  ] as const)('%s at 1.%i is answered %i, allowed are "%s"', async (request, minor, status, allow) => {
    const reply = await ask(bench, minor, request);
    expect([reply.status, reply.headers.get('allow')]).toEqual([status, allow]);
  });
});

describe('a path', () => {
  test.each([1, 50, 115])('may leave out /v1 and end in slashes at 1.%i', async (minor) => {
    const uuid = await bench.world()('{node}');
    const wanted = (await ask(bench, minor, `GET /v1/nodes/${uuid}`)).body;
    for (const path of [`/nodes/${uuid}`, `/v1/nodes/${uuid}/`, `/nodes/${uuid}/`, `//v1//nodes//${uuid}//`]) {
      const reply = await ask(bench, minor, `GET ${path}`);
      expect([path, reply.status, reply.body]).toEqual([path, 200, wanted]);
    }
    const listed = await ask(bench, minor, `GET /nodes/?limit=1`);
    expect(listed.body.nodes).toHaveLength(1);
    expect((await ask(bench, minor, `PUT /nodes/${uuid}/states/power/`, { target: 'power on' })).status).toBe(202);
  });

  test.each([
    // A version that only the header of services asks for does not decide about the suffix.
    ['1.90', undefined, 200],
    ['1.91', undefined, 404],
    ['latest', undefined, 404],
    [undefined, 'baremetal 1.91', 200],
    ['1.90', 'baremetal 1.115', 200],
    ['1.91', 'baremetal 1.5', 404],
    [undefined, undefined, 200],
  ] as const)('that ends in .json, at %s and %s for the service, is answered %i', async (version, service, status) => {
    const headers = { ...(version && byVersion(version)), ...(service && byService(service)) };
    expect((await get('/v1/nodes.json', headers)).status).toBe(status);
  });
});
