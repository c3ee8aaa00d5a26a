/** Hosts of every BMC URL scheme of Metal3 are enrolled as its operator enrols them, and may be deployed by custom-agent. */
import { addWorker, startTestApi, type TestApi } from '../support/api';
import { metal3Hosts } from '../support/metal3-hosts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await addWorker(api.sql);
});
afterAll(() => api.close());

const masked = '******';

test.each(metal3Hosts.map((host) => [host.scheme, host] as const))(
  'a host of %s:// is enrolled',
  async (scheme, host) => {
    const { driver, driver_info, interfaces } = host;
    const body = { name: `metal3~${scheme.replace('+', '-')}`, driver, driver_info, ...interfaces };
    const made = await api.as('operator', 'POST', '/v1/nodes', { body, minor: 89 });
    expect([made.status, made.body.faultstring ?? null]).toEqual([201, null]);
    const shown = Object.fromEntries(
      Object.entries(driver_info).map(([key, value]) => [key, /_password$/.test(key) ? masked : value]),
    );
    expect(made.body).toMatchObject({ driver, driver_info: shown, ...interfaces });

    const patch = [
      { op: 'add', path: '/driver_info/deploy_iso', value: 'http://images.example.org/ramdisk.iso' },
      { op: 'add', path: '/deploy_interface', value: 'custom-agent' },
    ];
    const changed = await api.as('operator', 'PATCH', `/v1/nodes/${made.body.uuid}`, { body: patch, minor: 89 });
    expect([changed.status, changed.body.deploy_interface]).toEqual([200, 'custom-agent']);
    const valid = await api.as('operator', 'GET', `/v1/nodes/${made.body.uuid}/validate`, { minor: 89 });
    const failed = Object.entries(valid.body as Record<string, { result: boolean | null }>).filter(
      ([, { result }]) => result === false,
    );
    expect(failed).toEqual([]);
  },
);
