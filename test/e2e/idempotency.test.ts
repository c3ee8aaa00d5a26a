/** The API is killed with -9 amid requests that carry an Idempotency-Key: asked again, each has done its work once. */
import { randomUUID } from 'node:crypto';
import { powerOn, rests, until } from '../../demo/nodes';
import type { Person, Reply } from '../../demo/system';
import {
  acceptedSince,
  commandOf,
  ended,
  journalNow,
  manageable,
  newestOf,
  patient,
  repeated,
  withinMs,
} from './support/nodes';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

let system: System;
let operator: Person;
let nodes: string[];

beforeAll(async () => {
  system = await startSystem(4, { TEMPER_POLL_MS: '300', TEMPER_RETRY_MS: '500' });
  operator = await system.person('operator');
  const calm = patient(operator);
  nodes = await manageable(system, calm, 0, 1, 2, 3);
  await Promise.all(nodes.map((node) => powerOn(calm, node, withinMs)));
});
afterAll(() => system?.stop());

type Work = { readonly key: string; send(): Promise<Reply> };

const keyed = (method: string, path: string, body: object, key: string = randomUUID()): Work => ({
  key,
  send: () => operator.ask(method, path, body, { 'Idempotency-Key': key }),
});

const enrolment = (): Work => {
  const key = randomUUID();
  return keyed('POST', '/v1/nodes', { driver: 'fake-hardware', extra: { key } }, key);
};

const cleaning = (node: string): Work =>
  keyed('PUT', `/v1/nodes/${node}/states/provision`, {
    target: 'clean',
    clean_steps: [
      { interface: 'management', step: 'set_boot_device', args: { boot_device: 'pxe' } },
      { interface: 'power', step: 'reboot' },
    ],
  });

/** Asks again as long as no process answers, or the answer is to come again. */
const insisted = ({ key, send }: Work): Promise<Reply> =>
  until(`an answer under key ${key}`, withinMs, async () => {
    const reply = await send().catch(() => undefined);
    const later = reply === undefined || reply.status === 503 || /still being served/.test(reply.says);
    return later ? undefined : reply;
  });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends each a little after the one before, so that the end finds them at different lines. */
const sendAndKill = async (works: readonly Work[]): Promise<void> => {
  const sent = works.map(async ({ send }, at) => {
    await pause(at * 4);
    await send().catch(() => {});
  });
  await pause(works.length * 2);
  const pid = system.kill('api');
  await Promise.all(sent);
  await system.back('api', pid);
};

test('every node is enrolled once, and every run started once', async () => {
  const since = await Promise.all(nodes.map((node) => journalNow(system, node)));
  const enrolments = Array.from({ length: 12 }, enrolment);
  const cleanings = nodes.map(cleaning);
  const works = enrolments.flatMap((one, at) => (at % 3 === 0 ? [cleanings[at / 3]!, one] : [one]));
  await sendAndKill(works);

  const replies = await Promise.all(enrolments.map(insisted));
  expect(replies.map(({ status }) => status)).toEqual(enrolments.map(() => 201));
  const { nodes: all } = await operator.must('GET', '/v1/nodes?fields=uuid,extra');
  const made = new Map(enrolments.map(({ key }, at) => [key, replies[at]!.body.uuid]));
  const found = all.filter(({ extra }: { extra: { key?: string } }) => extra.key !== undefined);
  expect(found).toHaveLength(enrolments.length);
  for (const { uuid, extra } of found) expect(uuid).toBe(made.get(extra.key));

  const accepted = await Promise.all(cleanings.map(insisted));
  expect(accepted.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  await Promise.all(
    nodes.map(async (node, at) => {
      expect(await ended(operator, await newestOf(operator, node))).toMatchObject({ state: 'succeeded' });
      await rests(operator, node, 'manageable', withinMs);
      const { runs } = await operator.must('GET', `/temper/v1/nodes/${node}/runs`);
      expect([node, runs.filter(({ verb }: { verb: string }) => verb === 'clean')]).toEqual([
        node,
        [expect.anything()],
      ]);
      expect(repeated((await acceptedSince(system, node, since[at]!)).map(commandOf))).toEqual([]);
    }),
  );
  // And once more: each is answered what it was answered.
  const again = await Promise.all([...enrolments, ...cleanings].map(insisted));
  expect(again.map(({ status }) => status)).toEqual([...enrolments.map(() => 201), ...cleanings.map(() => 202)]);
  expect(again.slice(0, 12).map(({ body }) => body.uuid)).toEqual(replies.map(({ body }) => body.uuid));
});
