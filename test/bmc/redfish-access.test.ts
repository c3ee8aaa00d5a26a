/** Who a BMC is and who we are to it: addresses, names, redirects, certificates, sessions and passwords. */
import { createDrivers } from '../../src/bmc';
import type { DriverDeps } from '../../src/bmc/contract';
import { isTemperError, type TemperError } from '../../src/model/errors';
import { contextWith, intentsOf, nodeWith, quiet } from './support/context';
import { plainBmc, startDouble } from './support/double';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
const closing: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 80, profiles: ['openbmc', 'idrac9'] });
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});
afterAll(() => racks.close());

const doubled = async (...given: Parameters<typeof startDouble>) => {
  const double = await startDouble(...given);
  closing.push(double);
  return double;
};

/** Verifies a node at this address and answers with the error it ends with, or undefined. */
const verifyAt = async (info: Record<string, unknown>, deps: Partial<DriverDeps> = {}, times = 1) => {
  const drivers = createDrivers({ log: quiet, networks: ['127.0.0.0/8'], ...deps });
  closing.push(drivers);
  const node = nodeWith('redfish', info);
  let failed: TemperError | undefined;
  for (let time = 0; time < times; time += 1)
    failed = await drivers.get('redfish').acts.verify!(node, {}, contextWith(intentsOf('verify'))).then(
      () => undefined,
      (error: unknown) => {
        if (!isTemperError(error)) throw error;
        return error;
      },
    );
  return failed;
};

/** Everything that a reader of an error could see. */
const readable = (error: unknown): string => {
  const thrown = error as TemperError;
  return `${thrown.message} ${JSON.stringify(thrown.facts)} ${thrown.stack} ${thrown.cause ? readable(thrown.cause) : ''}`;
};

test('an iLO is spoken to as its hardware type names it, with its own account and trust', async () => {
  const bmc = racks.take('openbmc');
  const { hostname, port, protocol } = new URL(bmc.address);
  const drivers = createDrivers({ log: quiet, networks: ['127.0.0.0/8'] });
  closing.push(drivers);
  const info = { ilo_address: hostname, client_port: port, ilo_username: bmc.username, ilo_password: bmc.password };
  const node = nodeWith('ilo', { ...info, ilo_verify_ca: '/no/such/file' });
  expect(drivers.get('ilo').laneKey(node)).toBe(`${hostname}:${port}`);
  const attempt = drivers.get('ilo').acts.verify!(node, {}, contextWith(intentsOf('verify')));
  await expect(attempt).rejects.toMatchObject({ code: 'DriverInfoInvalid', facts: { field: 'ilo_verify_ca' } });
  expect(protocol).toMatch(/^https?:$/);
});

describe('networks', () => {
  test('an address outside the allowed networks is never connected to', async () => {
    const double = await doubled(plainBmc());
    expect(await verifyAt({ redfish_address: double.url }, { networks: ['192.0.2.0/24'] })).toMatchObject({
      code: 'BmcAddressRefused',
      facts: { address: '127.0.0.1' },
    });
    expect(double.requests).toHaveLength(0);
  });

  test('a name that resolves outside the allowed networks is never connected to', async () => {
    const double = await doubled(plainBmc());
    const deps = { networks: ['192.0.2.0/24'], lookup: async () => ['127.0.0.1'] };
    const error = await verifyAt({ redfish_address: `http://bmc.example.org:${double.port}` }, deps);
    expect(error).toMatchObject({ code: 'BmcAddressRefused', facts: { address: 'bmc.example.org' } });
    expect(double.requests).toHaveLength(0);
  });

  test('a name of which one address is outside is refused as a whole', async () => {
    const deps = { networks: ['127.0.0.0/8'], lookup: async () => ['127.0.0.1', '203.0.113.9'] };
    expect(await verifyAt({ redfish_address: 'http://bmc.example.org' }, deps)).toMatchObject({
      code: 'BmcAddressRefused',
    });
  });

  test('a name that changes its address after the check is refused at the next connection', async () => {
    const double = await doubled(plainBmc());
    let asked = 0;
    const deps = { lookup: async () => [asked++ < 2 ? '127.0.0.1' : '203.0.113.9'] };
    const error = await verifyAt({ redfish_address: `http://bmc.example.org:${double.port}` }, deps);
    expect(error?.code).toBe('BmcAddressRefused');
    expect(double.requests.length).toBe(2);
  });

  test('a name within the allowed networks is connected to at the address that was checked', async () => {
    const double = await doubled(plainBmc());
    const deps = { lookup: async () => ['127.0.0.1'] };
    expect(await verifyAt({ redfish_address: `http://bmc.example.org:${double.port}` }, deps)).toBeUndefined();
    expect(double.requests[0]!.headers.host).toBe(`bmc.example.org:${double.port}`);
  });

  test('no networks at all means any', async () => {
    const double = await doubled(plainBmc());
    expect(await verifyAt({ redfish_address: double.url }, { networks: [] })).toBeUndefined();
  });

  test('an address that does not resolve may be tried again', async () => {
    const deps = {
      lookup: async () => {
        throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      },
    };
    expect(await verifyAt({ redfish_address: 'bmc.example.org' }, deps)).toMatchObject({
      code: 'BmcUnreachable',
      retry: true,
    });
  });
});

describe('links and redirects', () => {
  test('a redirect to another host is refused, and that host gets no request', async () => {
    const other = await doubled(plainBmc());
    const target = `${other.url}/redfish/v1/Systems/1`;
    const double = await doubled(
      plainBmc({ 'GET /redfish/v1/Systems/1': { status: 302, headers: { location: target } } }),
    );
    expect((await verifyAt({ redfish_address: double.url, redfish_username: 'u', redfish_password: 'p' }))?.code).toBe(
      'BmcRejected',
    );
    expect(other.requests).toHaveLength(0);
  });

  test('a redirect within the BMC is followed', async () => {
    const moved = { status: 308, headers: { location: '/redfish/v1/Systems/' } };
    const list = { status: 200, body: { Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] } };
    const double = await doubled(plainBmc({ 'GET /redfish/v1/Systems': moved, 'GET /redfish/v1/Systems/': list }));
    expect(await verifyAt({ redfish_address: double.url })).toBeUndefined();
  });

  test.each(['http://127.0.0.1:1/x', '//127.0.0.1:1/x'])('a link to another host (%s) is refused', async (to) => {
    const body = { Members: [{ '@odata.id': to }] };
    const double = await doubled(plainBmc({ 'GET /redfish/v1/Systems': { status: 200, body } }));
    expect((await verifyAt({ redfish_address: double.url }))?.code).toBe('BmcRejected');
  });

  test('a session collection on another host gets no password', async () => {
    const other = await doubled(() => ({ status: 201, headers: { 'x-auth-token': 'stolen' } }));
    const Links = { Sessions: { '@odata.id': `${other.url}/redfish/v1/SessionService/Sessions` } };
    const root = { status: 200, body: { Links, Systems: { '@odata.id': '/redfish/v1/Systems' } } };
    const double = await doubled(plainBmc({ 'GET /redfish/v1/': root }));
    await verifyAt({ redfish_address: double.url, redfish_username: 'u', redfish_password: 'secret-password' });
    expect(other.requests).toHaveLength(0);
  });

  test('a BMC with several systems wants one to be named', async () => {
    const Members = ['1', '2'].map((id) => ({ '@odata.id': `/redfish/v1/Systems/${id}` }));
    const double = await doubled(plainBmc({ 'GET /redfish/v1/Systems': { status: 200, body: { Members } } }));
    const error = await verifyAt({ redfish_address: double.url });
    expect(error).toMatchObject({ code: 'DriverInfoInvalid', facts: { field: 'redfish_system_id' } });
    const named = { redfish_address: double.url, redfish_system_id: '/redfish/v1/Systems/1' };
    expect(await verifyAt(named)).toBeUndefined();
  });
});

describe('addresses', () => {
  test('a BMC with a port of its own needs no prefix', async () => {
    const each = await startRackBench({ bmcs: 2, ports: 'each' });
    closing.push(each);
    for (const bmc of each.rack.bmcs)
      expect(
        await verifyAt({
          redfish_address: bmc.address,
          redfish_username: bmc.username,
          redfish_password: bmc.password,
        }),
      ).toBeUndefined();
  });

  test('the system may be named with or without the prefix of the address', async () => {
    const bmc = racks.take('openbmc');
    const info = {
      redfish_address: bmc.address,
      redfish_username: bmc.username,
      redfish_password: bmc.password,
    };
    expect(await verifyAt({ ...info, redfish_system_id: bmc.systemId })).toBeUndefined();
    const plain = bmc.systemId.replace(/^\/bmc\/\d+/, '');
    expect(await verifyAt({ ...info, redfish_system_id: plain })).toBeUndefined();
  });

  test('all systems behind one address share a lane, and BMCs behind different prefixes do not', () => {
    const driver = racks.driverFor();
    const key = (redfish_address: string) => driver.laneKey(nodeWith('redfish', { redfish_address }));
    expect(key('BMC.example.org')).toBe(key('https://bmc.example.org:443/redfish/v1/'));
    expect(key('http://bmc.example.org/bmc/1')).not.toBe(key('http://bmc.example.org/bmc/2'));
  });
});

describe('certificates', () => {
  const secure = (more: Record<string, unknown>) => {
    const bmc = racks.take('openbmc');
    return verifyAt({
      redfish_address: bmc.secureAddress,
      redfish_username: bmc.username,
      redfish_password: bmc.password,
      ...more,
    });
  };

  test('one without an authority is refused, and trying again is no use', async () => {
    expect(await secure({})).toMatchObject({ code: 'BmcTlsFailed', retry: false });
  });

  test('it is accepted when the node names its authority', async () => {
    expect(await secure({ redfish_verify_ca: racks.rack.certificateFile })).toBeUndefined();
  });

  test.each([false, 'False', 'no'])('it is accepted when the node says %p', async (redfish_verify_ca) => {
    expect(await secure({ redfish_verify_ca })).toBeUndefined();
  });

  test('an authority that this worker cannot read is the field’s fault, and its content is not shown', async () => {
    for (const path of [__filename, '/no/such/file']) {
      const error = await secure({ redfish_verify_ca: path });
      expect(error).toMatchObject({ code: 'DriverInfoInvalid', facts: { field: 'redfish_verify_ca' } });
      expect(readable(error)).not.toContain('Who a BMC is');
    }
  });
});

describe('sessions', () => {
  test('many acts at once log in once, and the end logs out', async () => {
    const { run, logins, state, driver } = racks.bench('openbmc');
    await Promise.all(Array.from({ length: 5 }, () => run('verify')));
    expect(logins()).toHaveLength(1);
    expect(state().sessions).toHaveLength(1);
    await driver.close();
    expect(state().sessions).toHaveLength(0);
  });

  test('a session that the BMC has forgotten is renewed once, even for a command', async () => {
    const { run, fault, logins, accepted } = racks.bench('openbmc');
    await run('verify');
    fault({ kind: 'auth-refused', method: 'POST', path: 'ComputerSystem.Reset', remaining: 1 });
    await expect(run('power_on')).resolves.toMatchObject({ is: 'done' });
    expect(logins()).toHaveLength(2);
    expect(accepted()).toHaveLength(1);
  });

  test('a BMC that refuses again after a new login is believed', async () => {
    const { run, failure, fault, logins } = racks.bench('openbmc');
    await run('verify');
    fault({ kind: 'auth-refused', path: 'Systems', seconds: 60 });
    expect(await failure('verify')).toMatchObject({ code: 'BmcAuthFailed', retry: false });
    expect(logins()).toHaveLength(2);
  });

  test('what the account may not see leaves no sessions behind', async () => {
    let sessions = 0;
    const body = { Links: { Sessions: { '@odata.id': '/sessions' } } };
    const double = await doubled((req) => {
      if (req.url === '/redfish/v1/') return { status: 200, body };
      if (req.method === 'POST') {
        sessions += 1;
        return { status: 201, headers: { 'x-auth-token': `token-${sessions}`, location: `/sessions/${sessions}` } };
      }
      if (req.method === 'DELETE') {
        sessions -= 1;
        return { status: 204 };
      }
      return { status: 403 };
    });
    const info = { redfish_address: double.url, redfish_username: 'u', redfish_password: 'p', redfish_system_id: '/1' };
    expect(await verifyAt(info, {}, 3)).toMatchObject({ code: 'BmcAuthFailed' });
    expect(sessions).toBeLessThanOrEqual(1);
  });

  test('with a full session table, auto goes on with basic credentials', async () => {
    const { run, fault, state } = racks.bench('idrac9');
    fault({ kind: 'session-table-full', seconds: 60 });
    await expect(run('verify')).resolves.toMatchObject({ is: 'done' });
    expect(state().sessions).toHaveLength(0);
  });

  test('with a full session table and sessions only, the BMC is busy for as long as it says', async () => {
    const { failure, fault } = racks.bench('idrac9', { redfish_auth_type: 'session' });
    fault({ kind: 'session-table-full', seconds: 60 });
    expect(await failure('verify')).toMatchObject({ code: 'BmcBusy', facts: { retryAfterMs: 30_000 } });
  });

  test('basic never opens a session', async () => {
    const { run, logins } = racks.bench('openbmc', { redfish_auth_type: 'basic' });
    await run('verify');
    expect(logins()).toHaveLength(0);
  });
});

describe('passwords', () => {
  test.each(['auto', 'session', 'basic'])('a wrong one is reported as such, without showing it (%s)', async (kind) => {
    const { failure } = racks.bench('openbmc', { redfish_auth_type: kind, redfish_password: 'not-the-password' });
    const error = await failure('power_on');
    expect(error).toMatchObject({ code: 'BmcAuthFailed', retry: false });
    expect(readable(error)).not.toContain('not-the-password');
  });

  test('a refused login is not tried again right away: accounts lock', async () => {
    const { failure, logins } = racks.bench('openbmc', { redfish_password: 'not-the-password' });
    await failure('verify');
    await failure('verify');
    expect(logins()).toHaveLength(1);
  });

  // Default passwords of vendors have six characters.
  test.each(['secret-password', 'calvin', '1234567', 'adm'])(
    '%s, which the BMC repeats, is masked',
    async (password) => {
      const message = `cannot let in root with ${password} now`;
      const body = { error: { code: 'Base.1.0.GeneralError', message } };
      const double = await doubled(plainBmc({ 'GET /redfish/v1/Systems/1': { status: 400, body } }));
      const info = { redfish_address: double.url, redfish_username: 'root', redfish_password: password };
      const error = await verifyAt(info);
      expect(error).toMatchObject({ code: 'BmcRejected', facts: { reason: 'cannot let in root with ****** now' } });
      expect(readable(error)).not.toContain(password);
    },
  );

  test('a licence that is missing is not a wrong password', async () => {
    const body = {
      error: { '@Message.ExtendedInfo': { MessageId: 'SMC.1.0.OemLicenseNotPassed', Message: 'No license' } },
    };
    const system = { status: 200, body: { PowerState: 'Off', SecureBoot: { '@odata.id': '/redfish/v1/SecureBoot' } } };
    const double = await doubled(
      plainBmc({ 'GET /redfish/v1/Systems/1': system, 'GET /redfish/v1/SecureBoot': { status: 403, body } }),
    );
    expect(
      await verifyAt({ redfish_address: double.url, redfish_username: 'u', redfish_password: 'p' }),
    ).toBeUndefined();
  });
});

test('the requests carry what old BMCs need, and no connection is kept', async () => {
  const double = await doubled(plainBmc());
  await verifyAt({ redfish_address: double.url });
  expect(double.requests[0]!.headers).toMatchObject({
    connection: 'close',
    'accept-encoding': 'identity',
    'odata-version': '4.0',
  });
});
