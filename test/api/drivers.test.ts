/** Drivers: those that a live worker serves, for callers with system scope. */
import { addWorker, startTestApi, type TestApi } from '../support/api';
import type { Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.sql`delete from workers`;
  await addWorker(api.sql, { hostname: 'worker-2', drivers: ['fake-hardware', 'redfish'] });
  await addWorker(api.sql, { hostname: 'worker-1', drivers: ['redfish', 'unheard-of'] });
});

const get = (path: string, who: Persona = 'operator', minor?: number) => api.as(who, 'GET', path, { minor });
const names = (reply: { body: { drivers: { name: string }[] } }) => reply.body.drivers.map((one) => one.name);

test('are listed with the hosts that serve them', async () => {
  expect((await get('/v1/drivers', 'operator', 29)).body).toEqual({
    drivers: [
      {
        name: 'fake-hardware',
        hosts: ['worker-2'],
        properties: [
          { href: `${api.url}/v1/drivers/fake-hardware/properties`, rel: 'self' },
          { href: `${api.url}/drivers/fake-hardware/properties`, rel: 'bookmark' },
        ],
        links: [
          { href: `${api.url}/v1/drivers/fake-hardware`, rel: 'self' },
          { href: `${api.url}/drivers/fake-hardware`, rel: 'bookmark' },
        ],
      },
      expect.objectContaining({ name: 'redfish', hosts: ['worker-1', 'worker-2'] }),
    ],
  });
});

test('whose workers all fell silent are neither listed nor shown', async () => {
  await api.sql`update workers set updated_at = now() - interval '1 hour' where hostname = 'worker-2'`;
  expect(names(await get('/v1/drivers'))).toEqual(['redfish']);
  for (const path of ['', '/properties', '/raid/logical_disk_properties'])
    expect((await get(`/v1/drivers/fake-hardware${path}`)).status).toBe(404);
  expect((await get('/v1/drivers/redfish')).body.hosts).toEqual(['worker-1']);
});

test('that this release does not have are missing, even if a worker names them', async () => {
  expect((await get('/v1/drivers/unheard-of')).status).toBe(404);
  expect((await get('/v1/drivers/toString')).status).toBe(404);
});

test('show their interfaces, the default first enabled', async () => {
  const { body } = await get('/v1/drivers/redfish');
  expect(body).toMatchObject({
    type: 'dynamic',
    default_power_interface: 'redfish',
    enabled_bios_interfaces: ['redfish', 'no-bios'],
    default_raid_interface: 'redfish',
  });
  expect((await get('/v1/drivers?detail=True')).body.drivers[1]).toEqual(body);
});

test.each([
  ['properties', 13, 14],
  ['type', 29, 30],
  ['default_power_interface', 29, 30],
  ['enabled_storage_interfaces', 32, 33],
  ['default_rescue_interface', 37, 38],
  ['default_bios_interface', 39, 40],
  ['enabled_firmware_interfaces', 85, 86],
] as const)('%s is unknown at 1.%i and shown at 1.%i', async (name, before, since) => {
  expect((await get('/v1/drivers/redfish', 'operator', before)).body).not.toHaveProperty(name);
  expect((await get('/v1/drivers/redfish', 'operator', since)).body).toHaveProperty(name);
});

test.each([
  ['?type=dynamic', 30, 200],
  ['?type=dynamic', 29, 406],
  ['?type=magic', 30, 400],
  ['?detail=True', 30, 200],
  ['?detail=True', 29, 406],
  ['?fields=name', 77, 200],
  ['?fields=name', 76, 406],
  ['?fields=colour', 77, 400],
  ['?fields=name&detail=True', 77, 400],
  ['?colour=red', 77, 400],
  ['/redfish?fields=name,hosts', 77, 200],
  ['/redfish?fields=name', 76, 406],
  ['/redfish/raid/logical_disk_properties', 11, 406],
] as const)('/v1/drivers%s at 1.%i answers %i', async (path, minor, status) =>
  expect((await get(`/v1/drivers${path}`, 'operator', minor)).status).toBe(status),
);

test('of the classic kind do not exist, and fields leave links', async () => {
  expect(names(await get('/v1/drivers?type=classic'))).toEqual([]);
  expect(Object.keys((await get('/v1/drivers/redfish?fields=name')).body)).toEqual(['name', 'links']);
});

test('say what driver_info may hold', async () => {
  const { body } = await get('/v1/drivers/redfish/properties');
  expect(body.redfish_address).toMatch(/URL of the BMC.*Required\.$/);
  expect(Object.values(body).every((says) => typeof says === 'string')).toBe(true);
});

test.each(['redfish', 'fake-hardware'])('%s says what a logical disk may hold', async (driver) => {
  expect((await get(`/v1/drivers/${driver}/raid/logical_disk_properties`)).body).toMatchObject({
    size_gb: expect.any(String),
    raid_level: expect.any(String),
  });
});

test.each([
  ['operator', 200],
  ['system-reader', 200],
  ['owner-admin', 403],
  ['stranger-admin', 403],
] as const)('as %s every request answers %i', async (who, status) => {
  for (const path of ['', '/fake-hardware', '/fake-hardware/properties', '/fake-hardware/raid/logical_disk_properties'])
    expect([path, (await get(`/v1/drivers${path}`, who)).status]).toEqual([path, status]);
});

test('a caller who may not ask learns nothing of which drivers exist', async () =>
  expect((await get('/v1/drivers/none', 'owner-admin')).status).toBe(403));
