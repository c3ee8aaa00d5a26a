/** gophercloud: every call of its bare-metal packages on a machine of the rack, by each way to sign in. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { endAll } from '../bin/support/entries';
import { secondApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { suiteOf } from '../support/found';
import { type Door, goMissing, libraryCalls, type Walked, walkInGo } from '../support/go';
import { machineOf, tell } from './go-machines';

const whenThere = suiteOf('gophercloud', goMissing);

whenThere('gophercloud', () => {
  let system: System;
  const username = 'robot';
  const password = randomBytes(9).toString('hex');

  const walks = new Map<string, Promise<Walked>>();

  beforeAll(async () => {
    system = await startSystem(6, { TEMPER_RACK_SPEED: '50' });
    for (const [way, bmc, door] of ways) walks.set(way, walk(bmc, door));
    await Promise.allSettled(walks.values());
  });
  afterAll(async () => {
    await endAll();
    await system?.stop();
  });

  const byPassword = async (): Promise<Door> => {
    const [htpasswd, users] = ['htpasswd', 'users.yaml'].map((name) => join(dirname(system.data), name));
    writeFileSync(htpasswd!, `${username}:${hashSync(password, 4)}\n`, { mode: 0o600 });
    writeFileSync(users!, JSON.stringify({ users: { [username]: { roles: ['admin'], system: 'all' } } }));
    const files = { TEMPER_HTPASSWD_FILE: htpasswd!, TEMPER_USERS_FILE: users! };
    const endpoint = await secondApi(system, { TEMPER_AUTH_STRATEGY: 'http_basic', ...files });
    return { auth: 'http_basic', endpoint: `${endpoint}/v1`, username, password };
  };
  const byKeystone = async (): Promise<Door> => {
    const { identity } = system.record().addresses;
    return { auth: 'keystone', identity_url: identity, username: 'operator', password: 'demo-operator' };
  };
  const openly = async (): Promise<Door> => ({
    auth: 'noauth',
    endpoint: `${await secondApi(system, { TEMPER_AUTH_STRATEGY: 'noauth' })}/v1`,
  });

  const ways = [
    ['Keystone', 2, byKeystone],
    ['http_basic', 4, byPassword],
    ['noauth', 5, openly],
  ] as const;

  const walk = async (bmc: number, door: () => Promise<Door>): Promise<Walked> =>
    walkInGo('gophercloud', await door(), await machineOf(system, bmc, `go-${bmc}`), '1.115');

  test.each(ways)('every call works for a user signed in by %s', async (way) => {
    const walked = await walks.get(way)!;
    tell(`gophercloud by ${way}`, walked);
    expect(walked.failed).toEqual([]);
    expect(libraryCalls().filter((call) => !walked.steps.includes(call))).toEqual([]);
  });

  test('a wrong password is refused, and nothing is done', async () => {
    const door = { ...(await byPassword()), password: 'wrong' } as Door;
    const { failed, requests } = await walkInGo('gophercloud', door, await machineOf(system, 0, 'go-wrong'), '1.115');
    expect(failed).toContainEqual(expect.stringMatching(/^nodes\.Create: .*got 401 instead/));
    expect(requests.filter((request) => !/ (401|404)$/.test(request) && !request.startsWith('GET /'))).toEqual([]);
  });
});
