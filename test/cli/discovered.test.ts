/** `temper discovered`: what is sent, and that a record is enrolled as it was read. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const record = {
  uuid: 'u1',
  state: 'waiting',
  macs: ['02:00:00:00:00:01', '02:00:00:00:00:02'],
  boot_mac: null,
  arch: 'x86_64',
  bmc_address: '192.0.2.10',
  vendor: 'Maker\u001b[2J',
  product: 'Box',
  sender: '198.51.100.1',
  revision: 'r1',
  contested: false,
  last_seen_at: 'now',
  inventory: { cpu: { count: 4 } },
};

let api: Double;
beforeAll(async () => {
  api = await startDouble(({ method, path }) => ({
    json:
      method === 'POST' && path.endsWith('/enroll')
        ? { node_uuid: 'n1', name: 'metal-9', provision_state: 'enroll' }
        : path.startsWith('/temper/v1/discovered-machines?')
          ? { discovered_machines: [record] }
          : record,
  }));
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (...line: string[]) =>
  temper(['discovered', ...line], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });
const path = '/temper/v1/discovered-machines';

test('the list shows what a machine claims, and none of its control characters', async () => {
  const { out } = await does('list', '--state', 'waiting');
  expect(out).toMatch(
    /u1\s+waiting\s+02:00:00:00:00:01\s+2\s+x86_64\s+192\.0\.2\.10\s+Maker.*Box\s+198\.51\.100\.1\s+no/,
  );
  expect(out).not.toContain('\u001b');
  expect((await does('show', 'u1')).out).toContain('inventory: {"cpu":{"count":4}}');
  expect(api.asked.map((one) => one.path)).toEqual([`${path}?state=waiting`, `${path}/u1`]);
});

test('a machine is enrolled by the revision that was read, else by the present one', async () => {
  const info = ['--driver-info', 'redfish_address=https://192.0.2.10/?a=b', '--driver-info', 'redfish_username=root'];
  const enrolled = await does('enroll', 'u1', '--driver', 'redfish', '--name', 'metal-9', ...info);
  expect(enrolled.out).toContain('Node n1 is enrolled (enroll).');
  await does('enroll', 'u1', '--driver', 'ipmi', '--revision', 'r0');
  expect(api.asked.map(({ method, body }) => ({ method, body }))).toEqual([
    { method: 'GET', body: undefined },
    {
      method: 'POST',
      body: {
        revision: 'r1',
        driver: 'redfish',
        name: 'metal-9',
        driver_info: { redfish_address: 'https://192.0.2.10/?a=b', redfish_username: 'root' },
      },
    },
    { method: 'POST', body: { revision: 'r0', driver: 'ipmi', driver_info: {} } },
  ]);
});

test('what is no pair is refused before anything is sent; refusing and removing say what they did', async () => {
  expect((await does('enroll', 'u1', '--driver', 'ipmi', '--driver-info', 'address')).status).toBe(2);
  expect(api.asked).toEqual([]);
  expect((await does('refuse', 'u1', '--reason', 'a printer')).out).toBe('u1 is refused.\n');
  expect((await does('remove', 'u1')).out).toBe('The record of u1 is removed.\n');
  expect(api.asked).toMatchObject([
    { method: 'POST', path: `${path}/u1/refuse`, body: { reason: 'a printer' } },
    { method: 'DELETE', path: `${path}/u1` },
  ]);
});
