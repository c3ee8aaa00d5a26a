/** Power events for Nova: settings that cannot work are refused at start, and `temper doctor` says whether Nova takes events. */
import { checksOf } from '../../src/process/command/checks';
import { ownLogin, startScriptedKeystone, tokenBody } from '../identity/support';
import { good, run } from './support/entries';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Script = Parameters<typeof startScriptedKeystone>[0];
const scripted = async (script: Script) => {
  const server = await startScriptedKeystone(script);
  closers.push(server.close);
  return server;
};

const checked = async (answer: Script, more: Record<string, string> = {}) => {
  const nova = await scripted(answer);
  const endpoints = [{ interface: 'public', region: 'one', url: nova.url }];
  const catalog = [{ type: 'compute', endpoints }];
  const keystone = await scripted(() => ({ ...ownLogin(), body: tokenBody({ catalog }) }));
  const env = {
    TEMPER_NOVA_POWER_EVENTS: 'true',
    TEMPER_IDENTITY_URL: keystone.url,
    TEMPER_IDENTITY_USERNAME: 'temper',
    TEMPER_IDENTITY_PASSWORD: 'secret',
    ...more,
  };
  const check = checksOf(env).find(({ name }) => name === 'Nova');
  return { found: await check!.find(), asked: nova.asked };
};

test('temper doctor asks Nova with a server that it cannot know', async () => {
  const { found, asked } = await checked(() => ({ status: 207, body: { events: [] } }));
  expect(found).toEqual({ is: 'ok', says: 'takes power events' });
  expect(asked.map(({ method, url }) => [method, url])).toEqual([['POST', '/v2.1/os-server-external-events']]);
  expect(asked[0]!.headers).toMatchObject({ 'openstack-api-version': 'compute 2.76', 'x-auth-token': 'own-token' });
});

test.each([
  [403, 'Give user temper of Keystone the role service.'],
  [404, 'Correct TEMPER_NOVA_URL'],
  [500, 'Correct TEMPER_NOVA_URL'],
])('an answer of %i is a finding with what to do', async (status, todo) => {
  const { found } = await checked(() => ({ status }));
  expect(found).toMatchObject({
    is: 'failed',
    says: `answered ${status} to a power event`,
    todo: expect.stringContaining(todo),
  });
});

test('a Nova that hangs up is a finding, and so is a catalogue without it', async () => {
  const { found } = await checked(() => 'hang up');
  expect(found).toMatchObject({ is: 'failed', says: expect.stringContaining('the compute service did not answer') });
  const other = await checked(() => ({ status: 200 }), { TEMPER_OPENSTACK_REGION: 'two' });
  expect(other.found).toMatchObject({ is: 'failed', says: expect.stringContaining('in region two') });
});

test('without the setting Nova is not asked', async () => {
  const { found, asked } = await checked(() => ({ status: 200 }), { TEMPER_NOVA_POWER_EVENTS: 'false' });
  expect([found.is, asked]).toEqual(['skipped', []]);
});

test('a control worker does not start if it is to tell Nova and has no account', async () => {
  const { status, err } = await run('worker control', { ...good.control, TEMPER_NOVA_POWER_EVENTS: 'true' });
  expect(status).toBe(78);
  expect(err).toContain('TEMPER_IDENTITY_PASSWORD: is not set, and TEMPER_NOVA_POWER_EVENTS needs it');
});
