/** A thousand machines without a node report themselves at once, beside one sender that plays a thousand more. */
import { setImmediate as immediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { discoveryLimits } from '../../src/model/boot/discovery';
import { startTestApi, type TestApi } from '../support/api';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const machines = 1_000;
const hostile = '203.0.113.66';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ settings: { trustedProxies: ['127.0.0.0/8'], discovery: true } });
});
afterAll(() => api?.close());

const hex = (n: number) => n.toString(16).padStart(4, '0').replace(/^../, '$&:');
/** As long as a small machine's inventory is. */
const notes = 'x'.repeat(20_000);

type Sending = { readonly mac: string; readonly from: string };
type Answer = { readonly status: number; readonly text: string };

const report = async ({ mac, from }: Sending): Promise<Answer> => {
  const { status, body } = await api.as(null, 'POST', '/v1/continue_inspection', {
    body: { inventory: { interfaces: [{ name: 'eth0', mac_address: mac }], notes } },
    headers: { 'x-forwarded-for': from },
  });
  return { status, text: JSON.stringify(body) };
};

/** Sends all, so many at once, each again after a 503, as the agent does. @returns the last answer to each */
const sendAll = async (all: readonly Sending[], atOnce: number): Promise<Map<string, Answer>> => {
  const left = [...all];
  const answers = new Map<string, Answer>();
  const send = async (): Promise<void> => {
    for (let one = left.shift(); one; one = left.shift()) {
      const answer = await report(one);
      if (answer.status === 503) left.push(one);
      else answers.set(one.mac, answer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, send));
  return answers;
};

const heap = async (): Promise<number> => {
  await immediate();
  collect();
  return process.memoryUsage().heapUsed;
};

test('each is answered plainly, none that was accepted is lost, and one sender takes no more than its share', async () => {
  await sendAll([{ mac: '02:ff:00:00:00:01', from: '203.0.113.1' }], 1);
  const before = await heap();
  const theirs = Array.from({ length: machines }, (_, n) => ({
    mac: `02:01:00:00:${hex(n)}`,
    from: `198.51.${100 + (n >> 8)}.${n & 255}`,
  }));
  const pretended = Array.from({ length: machines }, (_, n) => ({ mac: `02:02:00:00:${hex(n)}`, from: hostile }));
  // More at once than the API reads.
  const [answers, refusals] = await Promise.all([sendAll(theirs, 48), sendAll(pretended, 8)]);

  expect([...new Set([...answers.values()].map(({ status }) => status))]).toEqual([202]);
  const [taken, refused] = [202, 400].map((wanted) => [...refusals.values()].filter(({ status }) => status === wanted));
  expect([taken!.length, refused!.length]).toEqual([discoveryLimits.ofSender, machines - discoveryLimits.ofSender]);
  for (const { text } of refused!) expect(text).toContain('reports from its address have made');

  const rows = await api.sql<{ mac: string }[]>`
    select macs[1] as mac from discovered_machines where sender <> '203.0.113.1'`;
  const accepted = [...answers, ...refusals].filter(([, { status }]) => status === 202).map(([mac]) => mac);
  expect(rows.map(({ mac }) => mac).sort()).toEqual(accepted.sort());
  expect(rows).toHaveLength(machines + discoveryLimits.ofSender);
  const reported = await api.sql`select 1 from events where kind = 'discovered_machine.reported'`;
  expect(reported).toHaveLength(rows.length + 1);

  // Their reports are 40 MB; what stays of each address are counters.
  expect((await heap()) - before).toBeLessThan(20_000_000);
});
