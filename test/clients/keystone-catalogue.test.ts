/** Services found in the catalogue of a real Keystone, asked with a token that it gave and knows. */
import { createServiceSession } from '../../src/identity';
import { startScriptedKeystone } from '../identity/support';
import { suiteOf } from '../support/found';
import { type Keystone, keystoneMissing, populate, startKeystone } from '../support/keystone';

const whenThere = suiteOf('the catalogue of a real Keystone', keystoneMissing);

whenThere('a service of the catalogue', () => {
  let keystone: Keystone;
  let nova: Awaited<ReturnType<typeof startScriptedKeystone>>;
  let other: typeof nova;

  beforeAll(async () => {
    keystone = await startKeystone();
    [nova, other] = [
      await startScriptedKeystone(() => ({ status: 207 })),
      await startScriptedKeystone(() => ({ status: 200 })),
    ];
    const { admin } = keystone;
    const people = await populate(keystone);
    const user = await people.makeUser('temper');
    await people.grant('service', user, `projects/${await people.makeProject('service')}`);
    const { service } = await admin('POST', '/services', { service: { type: 'compute', name: 'nova' } });
    const at = async (region_id: string, name: string, url: string): Promise<void> => {
      const endpoint = { service_id: service.id, interface: name, region_id, url };
      await admin('POST', '/endpoints', { endpoint });
    };
    for (const id of ['one', 'two']) await admin('POST', '/regions', { region: { id } });
    await at('one', 'internal', `${nova.url}/v2.1`);
    await at('one', 'public', `${other.url}/v2.1`);
    await at('two', 'internal', other.url);
  });
  afterAll(async () => {
    await keystone?.close();
    await Promise.all([nova?.close(), other?.close()]);
  });

  const asked = async (more: object = {}) => {
    const self = { username: 'temper', password: 'temper-secret', scope: { project: { name: 'service' } } } as const;
    const options = {
      identityUrl: `${keystone.url}/v3`,
      self,
      interfaces: ['internal', 'public'],
      region: 'one',
      ...more,
    };
    const session = createServiceSession(options);
    try {
      const service = { type: 'compute', version: 'v2.1', timeoutMs: 10_000 };
      return await session.ask(service, { method: 'POST', path: '/os-server-external-events', body: '{}' });
    } finally {
      await session.close();
    }
  };

  test('gets requests at the preferred endpoint of its region, with a token that Keystone knows', async () => {
    expect(await asked()).toMatchObject({ is: 'answer', status: 207 });
    const [{ url, headers }] = nova.asked as [(typeof nova.asked)[number]];
    expect(url).toBe('/v2.1/os-server-external-events');
    const token = String(headers['x-auth-token']);
    const { projects } = await keystone.as(token, 'GET', '/auth/projects');
    expect(projects).toEqual([expect.objectContaining({ name: 'service' })]);
  });

  test('gets requests at another endpoint for another region or interface, with the version that the endpoint leaves out', async () => {
    expect(await asked({ region: 'two' })).toMatchObject({ status: 200 });
    expect(await asked({ interfaces: ['public'] })).toMatchObject({ status: 200 });
    expect(other.asked.map(({ url }) => url)).toEqual(Array(2).fill('/v2.1/os-server-external-events'));
  });

  test('is not found in a region that has none, nor with a wrong password', async () => {
    expect(await asked({ region: 'three' })).toEqual({
      is: 'down',
      reason: expect.stringContaining('in region three'),
    });
    const self = { username: 'temper', password: 'wrong', scope: { project: { name: 'service' } } };
    expect(await asked({ self })).toEqual({ is: 'down', reason: expect.stringContaining('refused the credentials') });
  });
});
