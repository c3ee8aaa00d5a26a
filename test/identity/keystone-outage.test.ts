/** Keystone that stops answering: whose tokens go on, for how long, and what it is spared meanwhile. */
import { createKeystone, type KeystoneOptions } from '../../src/identity';
import { clock, ownLogin, presenting, startScriptedKeystone, tokenBody } from './support';

const self = { username: 'temper', password: 'own-password', scope: { system: 'all' } } as const;
const closers: (() => Promise<void> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const minute = 60_000;
const hour = 60 * minute;

/** A service that can be switched off, and whose tokens can be revoked; tokens live for an hour of its clock. */
const started = async (more: Partial<KeystoneOptions> = {}) => {
  const now = clock();
  const state = { down: false, revoked: new Set<string>() };
  const ends = new Date(now() + hour).toISOString();
  const service = await startScriptedKeystone(({ method, headers }) => {
    if (state.down) return 'hang up';
    if (method === 'POST') return ownLogin();
    if (state.revoked.has(String(headers['x-subject-token']))) return { status: 404 };
    return { status: 200, body: tokenBody({ expires_at: ends, roles: [{ id: 's', name: 'service' }] }) };
  });
  closers.push(service.close);
  const told: string[] = [];
  const strategy = createKeystone({ identityUrl: service.url, self, now, onOutage: (why) => told.push(why), ...more });
  closers.push(() => strategy.close?.());
  const ask = async (token: string, serviceToken: string | null = null) =>
    (await strategy.identify(presenting({ token, serviceToken }))).is;
  return { now, state, service, strategy, told, ask };
};

test('a known token goes on until its end, a new one is a 503', async () => {
  const { now, state, ask } = await started();
  expect(await ask('known')).toBe('known');
  state.down = true;
  now.pass(30 * minute);
  expect([await ask('known'), await ask('new')]).toEqual(['known', 'unavailable']);
  now.pass(30 * minute - 1);
  expect(await ask('known')).toBe('known');
  now.pass(1);
  expect(await ask('known')).toBe('unavailable');
});

test('the operator may say how long beyond the cache time it goes on, or that it does not', async () => {
  const some = await started({ outageMs: 10 * minute });
  const none = await started({ outageMs: 0 });
  for (const { now, state, ask } of [some, none]) {
    await ask('known');
    state.down = true;
    now.pass(15 * minute - 1);
  }
  expect([await some.ask('known'), await none.ask('known')]).toEqual(['known', 'unavailable']);
  some.now.pass(1);
  expect(await some.ask('known')).toBe('unavailable');
});

test('where tokens are not cached at all, no caller goes on', async () => {
  const { state, service, ask } = await started({ cacheMs: 0 });
  expect([await ask('known'), await ask('known')]).toEqual(['known', 'known']);
  expect(service.count('GET')).toBe(2);
  state.down = true;
  expect(await ask('known')).toBe('unavailable');
});

test('a token that was refused does not come back when the service goes', async () => {
  const { now, state, ask } = await started();
  await ask('revoked');
  state.revoked.add('revoked');
  now.pass(5 * minute);
  expect(await ask('revoked')).toBe('refused');
  state.down = true;
  now.pass(minute);
  expect(await ask('revoked')).toBe('unavailable');
});

test('a revocation that could not be read counts as soon as the service is back', async () => {
  const { now, state, ask } = await started();
  await ask('revoked');
  state.down = true;
  state.revoked.add('revoked');
  now.pass(10 * minute);
  expect(await ask('revoked')).toBe('known');
  state.down = false;
  now.pass(10_000);
  expect(await ask('revoked')).toBe('refused');
});

test('a service that does not answer is asked every ten seconds, not at every request, and said to be down once', async () => {
  const { now, state, service, told, ask } = await started();
  for (const token of ['a', 'b', 'c']) await ask(token);
  state.down = true;
  now.pass(10 * minute);
  const before = service.asked.length;
  for (const token of ['a', 'b', 'c', 'a', 'b', 'c']) expect(await ask(token)).toBe('known');
  const once = service.asked.length - before;
  expect(once).toBeGreaterThan(0);
  now.pass(10_000);
  for (const token of ['a', 'b', 'c']) expect(await ask(token)).toBe('known');
  expect(service.asked.length - before).toBe(2 * once);
  expect(told).toEqual([expect.stringContaining('did not answer')]);
});

test('a second outage is said again', async () => {
  const { now, state, told, ask } = await started();
  await ask('a');
  for (const _ of [1, 2]) {
    state.down = true;
    now.pass(6 * minute);
    await ask('a');
    state.down = false;
    now.pass(10_000);
    await ask('a');
  }
  expect(told).toHaveLength(2);
});

test('the token of a service that acts for others goes on as well, and one past its end is not carried along', async () => {
  const { now, state, ask } = await started();
  expect(await ask('known', 'service')).toBe('known');
  state.down = true;
  now.pass(30 * minute);
  expect(await ask('known', 'service')).toBe('known');
  now.pass(30 * minute);
  expect(await ask('known', 'service')).toBe('unavailable');
});

test('a token of which nothing is known spends the budget of its sender before the service is asked', async () => {
  const { strategy, service } = await started();
  const spent = new Error('spent');
  const spend = async () => Promise.reject(spent);
  await expect(strategy.identify({ ...presenting({ token: 'guess', serviceToken: null }), spend })).rejects.toBe(spent);
  await expect(strategy.identify({ ...presenting({ token: 'x', serviceToken: 'guess' }), spend })).rejects.toBe(spent);
  expect(service.asked).toEqual([]);
  expect((await strategy.identify(presenting({ token: 'good', serviceToken: null }))).is).toBe('known');
  expect((await strategy.identify({ ...presenting({ token: 'good', serviceToken: null }), spend })).is).toBe('known');
});
