/** Where the command goes and as whom, and how it ends when it is refused or no service answers. */
import { demoApplicationCredentials, startDemoIdentity } from '../../emulator/identity/index';
import { stop } from '../../src/cli';
import { temper } from './support/command';
import { type Double, fault, type Handler, nowhere, startDouble } from './support/double';

let api: Double;
let answer: Handler;
const empty: Handler = () => ({ json: { runs: [] } });
beforeAll(async () => {
  api = await startDouble((asked, response) => answer(asked, response));
});
beforeEach(() => {
  answer = empty;
  api.asked.length = 0;
});
afterAll(() => api.close());

const closedPort = 'http://127.0.0.1:9';

describe('the API is found', () => {
  test('by TEMPER_URL, with or without its version, and a token goes with every request', async () => {
    for (const url of [api.url, `${api.url}/`, `${api.url}/v1`]) {
      const { status, out } = await temper('runs list', { env: { TEMPER_URL: url, TEMPER_TOKEN: 't0' } });
      expect({ status, out }).toEqual({ status: 0, out: 'No runs.\n' });
    }
    expect(api.asked.map(({ path, headers }) => [path, headers['x-auth-token']])).toEqual(
      Array(3).fill(['/temper/v1/runs', 't0']),
    );
  });

  test('with a user and a password, for an API that takes them', async () => {
    await temper('runs list', { env: { TEMPER_URL: api.url, TEMPER_USERNAME: 'u', TEMPER_PASSWORD: 'p' } });
    expect(api.asked[0]!.headers.authorization).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`);
  });

  const clouds = (text: string) => ({
    env: { OS_CLIENT_CONFIG_FILE: 'c.yaml' },
    files: { 'c.yaml': text },
  });

  test('by a cloud of clouds.yaml that names it', async () => {
    const cloud = (type: string) =>
      `clouds:\n  x:\n    auth_type: ${type}\n    auth: {endpoint: '${api.url}', username: u, password: p}\n`;
    await temper('--os-cloud x runs list', clouds(cloud('none')));
    await temper('--os-cloud x runs list', clouds(cloud('http_basic')));
    expect(api.asked.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      `Basic ${Buffer.from('u:p').toString('base64')}`,
    ]);
  });

  describe('with what secure.yaml says of the cloud, over clouds.yaml', () => {
    const files = {
      'clouds.yaml': `clouds: {x: {auth_type: http_basic, auth: {endpoint: '${closedPort}', username: u, password: old}}, z: {}}`,
      'secure.yaml': '',
    };
    const secure = () => `clouds: {x: {auth: {endpoint: '${api.url}', password: geheim}}}`;
    const sent = () => api.asked.map(({ headers }) => headers.authorization);
    const basic = [`Basic ${Buffer.from('u:geheim').toString('base64')}`];

    test.each(['secure.yaml', '/home/x/.config/openstack/secure.yaml', '/etc/openstack/secure.yaml'])(
      'at %s',
      async (path) => {
        const { 'secure.yaml': _, ...rest } = files;
        const { status, err } = await temper('--os-cloud x runs list', { files: { ...rest, [path]: secure() } });
        expect({ status, err, sent: sent() }).toEqual({ status: 0, err: '', sent: basic });
      },
    );

    test('at OS_CLIENT_SECURE_FILE, before all others and with a clouds.yaml elsewhere', async () => {
      const env = { OS_CLIENT_SECURE_FILE: 's', OS_CLIENT_CONFIG_FILE: 'c', OS_CLOUD: 'x' };
      await temper('runs list', {
        env,
        files: { c: files['clouds.yaml'], s: secure(), 'secure.yaml': 'clouds: {x: 1}' },
      });
      expect(sent()).toEqual(basic);
    });

    test('and one that may not be read is passed over, unless the caller named it', async () => {
      const text = files['clouds.yaml'].replace(closedPort, api.url);
      const readFile = (path: string) =>
        path === '/etc/openstack/secure.yaml'
          ? stop('usage', 'may not be read')
          : path === 'clouds.yaml'
            ? text
            : undefined;
      await temper('--os-cloud x runs list', { readFile });
      expect(sent()).toHaveLength(1);
      const env = { OS_CLIENT_SECURE_FILE: '/etc/openstack/secure.yaml' };
      expect((await temper('--os-cloud x runs list', { env, readFile })).status).toBe(2);
    });

    test('and an empty one says nothing', async () => {
      const text = files['clouds.yaml'].replace(closedPort, api.url);
      await temper('--os-cloud x runs list', { files: { ...files, 'clouds.yaml': text } });
      expect(sent()).toEqual([`Basic ${Buffer.from('u:old').toString('base64')}`]);
    });

    test('and one that is no YAML is named, without what is in it', async () => {
      const done = await temper('--os-cloud x runs list', {
        files: { ...files, 'secure.yaml': 'a: geheim: x\n\t- {' },
      });
      expect(done).toMatchObject({ status: 2, err: expect.stringContaining('secure.yaml is not valid YAML') });
      expect(done.err).not.toContain('geheim');
    });
  });

  test.each([
    ['when nothing says where', {}, 'set TEMPER_URL'],
    [
      'when the cloud is not there',
      { env: { OS_CLOUD: 'y', OS_CLIENT_CONFIG_FILE: 'c' }, files: { c: 'clouds: {x: {}}' } },
      'has no cloud y; it has x',
    ],
    ['when there is no clouds.yaml', { env: { OS_CLOUD: 'y' } }, 'there is no clouds.yaml'],
    [
      'when clouds.yaml is none',
      { env: { OS_CLOUD: 'y', OS_CLIENT_CONFIG_FILE: 'c' }, files: { c: 'password: geheim: x\n\t- {' } },
      'not valid YAML',
    ],
    ['when the password is missing', { env: { OS_AUTH_URL: closedPort, OS_USERNAME: 'u' } }, 'OS_PASSWORD'],
    [
      'when the way to log in is not known',
      { env: { OS_AUTH_TYPE: 'v3kerberos', OS_AUTH_URL: closedPort } },
      'v3kerberos is not known',
    ],
  ])('or not, %s: that is wrong usage and no service is asked', async (_, world, says) => {
    const { status, err } = await temper('runs list', world);
    expect(status).toBe(2);
    expect(err).toContain(says);
    expect(err).not.toContain('geheim');
    expect(api.asked).toEqual([]);
  });
});

describe('at Keystone', () => {
  let identity: Awaited<ReturnType<typeof startDemoIdentity>>;
  beforeAll(async () => {
    identity = await startDemoIdentity({ port: 0, host: '127.0.0.1', catalogUrl: api.url });
  });
  afterAll(() => identity.close());

  const operator = () => ({
    OS_AUTH_URL: `${identity.url}/v3`,
    OS_USERNAME: 'operator',
    OS_PASSWORD: 'demo-operator',
    OS_SYSTEM_SCOPE: 'all',
  });

  test('a password is good for a token and the address of the API', async () => {
    expect((await temper('runs list', { env: operator() })).status).toBe(0);
    expect(api.asked[0]!.headers['x-auth-token']).toMatch(/./);
  });

  test('an application credential is, too, and takes no scope', async () => {
    const { id, secret } = demoApplicationCredentials[0]!;
    const env = {
      OS_AUTH_URL: identity.url,
      OS_APPLICATION_CREDENTIAL_ID: id,
      OS_APPLICATION_CREDENTIAL_SECRET: secret,
    };
    expect(await temper('runs list', { env })).toMatchObject({ status: 0, err: '' });
    expect(api.asked).toHaveLength(1);
  });

  test('a cloud of clouds.yaml logs in to its project', async () => {
    const text = `clouds:\n  o:\n    auth: {auth_url: '${identity.url}', username: owner-member, password: demo-owner-member, user_domain_id: default, project_name: owner-project, project_domain_id: default}\n`;
    const world = { env: { OS_CLOUD: 'o', OS_CLIENT_CONFIG_FILE: 'c.yaml' }, files: { 'c.yaml': text } };
    expect((await temper('runs list', world)).status).toBe(0);
  });

  test('a wrong password is refused, and not repeated in what is said', async () => {
    const { status, err } = await temper('runs list', { env: { ...operator(), OS_PASSWORD: 'hunter2' } });
    expect(status).toBe(1);
    expect(err).toContain('refused these credentials');
    expect(err).not.toContain('hunter2');
    expect(api.asked).toEqual([]);
  });

  test('a token that has ended is renewed once, and a second refusal is meant', async () => {
    let refusals = 1;
    answer = () => (refusals-- > 0 ? { status: 401, json: { error: { message: 'no' } } } : { json: { runs: [] } });
    expect((await temper('runs list', { env: operator() })).status).toBe(0);
    expect(new Set(api.asked.map(({ headers }) => headers['x-auth-token'])).size).toBe(2);
    answer = () => ({ status: 401, json: { error: { message: 'no' } } });
    api.asked.length = 0;
    expect(await temper('runs list', { env: operator() })).toMatchObject({
      status: 1,
      err: expect.stringMatching(
        /^temper: no\. Set OS_CLOUD, .* to whom the API knows, or run "temper login"\. \(HTTP 401\)\n$/,
      ),
    });
    expect(api.asked).toHaveLength(2);
  });

  const within = (body: unknown): string => JSON.stringify(body);
  test.each([
    ['a body of the API', within({ faultstring: 'It is locked.' }), 'It is locked.'],
    ['a plain string', 'It is locked.', 'It is locked.'],
    ['JSON within JSON', within({ error_message: within({ faultstring: 'It is locked.' }) }), 'It is locked.'],
    ['a number', '7', '7'],
  ])('of an error_message that is %s only the sentence is shown', async (_, error_message, says) => {
    answer = () => ({ status: 409, json: { error_message } });
    expect(await temper('runs list', { env: operator() })).toMatchObject({ err: `temper: ${says} (HTTP 409)\n` });
  });

  test.each([
    [401, /^temper: These credentials or this token are not accepted, .*: sign in again\. Set OS_CLOUD, /],
    [404, /^temper: There is no such thing, or this is not the address of the API\. \(HTTP 404\)/],
  ])('a bare %d is a sentence that says what to do', async (status, says) => {
    answer = () => ({ status, json: {} });
    expect(await temper('runs list', { env: operator() })).toMatchObject({
      status: 1,
      err: expect.stringMatching(says),
    });
  });

  test('no listener means not reachable', async () => {
    const { status, err } = await temper('runs list', { env: { ...operator(), OS_AUTH_URL: await nowhere() } });
    expect(status).toBe(3);
    expect(err).toContain('did not answer: ECONNREFUSED');
  });
});

describe('the command ends', () => {
  const env = () => ({ TEMPER_URL: api.url, TEMPER_TOKEN: 't0' });

  test('with 1 and the API’s own words where it is refused', async () => {
    answer = () => fault(403, 'Access was denied to the following resource: temper:run:get');
    expect(await temper('runs list', { env: env() })).toEqual({
      status: 1,
      out: '',
      err: 'temper: Access was denied to the following resource: temper:run:get (HTTP 403)\n',
    });
  });

  test('with 3 where no service answers, or something that is no API', async () => {
    const silent = await temper('runs list', { env: { TEMPER_URL: await nowhere() } });
    expect(silent.status).toBe(3);
    expect(silent.err).toContain('did not answer: ECONNREFUSED');
    answer = () => ({ text: '<html>hello</html>' });
    expect(await temper('runs list', { env: env() })).toMatchObject({
      status: 3,
      err: expect.stringContaining('no JSON'),
    });
    answer = () => ({ status: 502, text: '<html>bad gateway</html>' });
    expect(await temper('runs list', { env: env() })).toMatchObject({ status: 3, err: expect.stringContaining('502') });
  });

  test('without taking a token to another address', async () => {
    const elsewhere = await startDouble(empty);
    answer = () => ({ status: 302, headers: { location: `${elsewhere.url}/temper/v1/runs` } });
    expect((await temper('runs list', { env: env() })).status).toBe(3);
    expect(elsewhere.asked).toEqual([]);
    await elsewhere.close();
  });

  test.each([
    [['frobnicate']],
    [['runs', 'frobnicate']],
    [['runs', 'show']],
    [['--nonsense']],
    [['runs', 'abort', 'x']],
  ])('with 2 for %j, which it does not understand', async (line) => {
    const { status, err } = await temper(line, { env: env() });
    expect(status).toBe(2);
    expect(err).not.toBe('');
    expect(api.asked).toEqual([]);
  });

  test('with 0 where help was asked for, which names every command', async () => {
    const { status, out } = await temper('--help');
    expect(status).toBe(0);
    for (const part of ['runs', 'freezes', 'doctor', 'replay', 'TEMPER_URL', 'Exit status'])
      expect(out).toContain(part);
  });
});

test.each(['localhost:6385', 'api.example.org', 'ftp://x'])('TEMPER_URL=%s is said to be no address', async (url) => {
  const { status, err } = await temper('runs list', { env: { TEMPER_URL: url, TEMPER_TOKEN: 't' } });
  expect(status).toBe(2);
  expect(err).toContain(`${url} is no address of an API: it must begin with http:// or https://`);
});
