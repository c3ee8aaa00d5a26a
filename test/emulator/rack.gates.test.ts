/** Gates: what is on its way to a machine is held where it was asked for, and nothing is lost or done by that. */
import type { Rack } from '../../emulator/rack';
import { type Client, clientOf, testRack } from './rack-client';

let rack: Rack;
let client: Client;

beforeEach(async () => {
  rack = await testRack({ bmcs: 1, profiles: ['openbmc'] });
  client = clientOf(rack.bmcs[0]!);
});
afterEach(() => rack.close());

const held = async (): Promise<string> => {
  for (;;) {
    const [one] = rack.gate(0).look().held;
    if (one) return `${one.method} ${one.answer ? 'answer' : 'request'}`;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
const accepted = () => rack.journal({ session: false, accepted: true }).map(({ path }) => path.split('/').at(-1));
const look = () => client.get(client.system);

test('a gate after one write lets that pass and holds what follows, until it is opened', async () => {
  rack.gate(0).set({ after: 1 });
  expect((await look()).status).toBe(200);
  await client.reset('On');
  const second = client.reset('ForceOff');
  expect(await held()).toBe('POST request');
  expect(accepted()).toEqual(['ComputerSystem.Reset']);
  rack.gate(0).open();
  await second;
  expect(accepted()).toHaveLength(2);
});

test('a held answer belongs to a command that was executed', async () => {
  rack.gate(0).set({ after: 1, answer: true });
  const command = client.reset('On');
  expect(await held()).toBe('POST answer');
  expect(accepted()).toEqual(['ComputerSystem.Reset']);
  rack.gate(0).open();
  expect((await command).status).toBe(204);
});

test('a step lets one pass and holds the next', async () => {
  rack.gate(0).set({ after: 0 });
  const first = look();
  await held();
  rack.gate(0).step();
  expect((await first).status).toBe(200);
  const second = look();
  expect(await held()).toBe('GET request');
  expect(rack.gate(0).look().passed).toBe(1);
  rack.gate(0).open();
  await second;
});

test('a command whose sender has left while it was held is never executed', async () => {
  rack.gate(0).set({ after: 0 });
  const { address, username, password } = rack.bmcs[0]!;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const leaving = new AbortController();
  const command = fetch(`${address}${client.system}/Actions/ComputerSystem.Reset`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ ResetType: 'On' }),
    signal: leaving.signal,
  });
  expect(await held()).toBe('POST request');
  leaving.abort();
  await expect(command).rejects.toThrow();
  while (rack.gate(0).look().held.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  rack.gate(0).open();
  await look();
  expect(accepted()).toEqual([]);
});

test('a BMC as new keeps who is logged in and forgets what was set', async () => {
  await client.reset('On');
  await client.powerReaches('On');
  rack.renew(0, 'Off');
  expect(rack.state(0)).toMatchObject({ power: { shows: 'Off' }, boot: { boots: 1 }, tasks: [] });
});
