/** Workers that stand still and wake late: whatever line they stood at, what they send and write then does not count. */
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { RunActInput } from '../../src/activities/bmc';
import type { Act } from '../../src/bmc/contract';
import { sendOnce } from '../../src/bmc/once';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import { heldAct, runActOf } from '../support/held-act';
import { recordingDriver } from '../support/recording-driver';
import { openStores } from '../support/stores';
import { testVault } from '../support/vault';

const vault = testVault;

let owner: Sql;
let api: Inventory;
let bmc: Inventory;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, api, bmc, close } = await openStores());
});
afterAll(() => close());

/** One attempt as the engine hands it out: numbered from 1, each scheduled after the one before. */
const perform = (
  input: RunActInput,
  act: Act,
  attempt: number,
  engine: { activityId?: string; runId?: string } = {},
) => {
  const { driver } = recordingDriver({ power_on: act });
  const { activityId = 'step-00-power.power_on-power_on', runId = '11111111-1111-4111-8111-111111111111' } = engine;
  return new MockActivityEnvironment({
    attempt,
    activityId,
    workflowExecution: { workflowId: 'w', runId },
    heartbeatTimeoutMs: 3_000,
    currentAttemptScheduledTimestampMs: 1_000_000 * attempt,
  }).run(runActOf(bmc, driver), input);
};

/** A line at which a worker stands until it is let go. */
const stall = () => {
  let go = (): void => undefined;
  let reached = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    go = resolve;
  });
  const there = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const here = async () => {
    reached();
    await until;
  };
  return { here, there, go: () => go() };
};

const nothing = async () => {};

/** What sends a command that must not be sent twice, and writes down which attempt sent it. */
const sender = (
  sent: string[],
  name: string,
  pauses: { look?: () => Promise<void>; sent?: () => Promise<void> } = {},
) =>
  (async (node, _args, context) => {
    const facts = (more?: object) => ({ node: node.uuid, bmc: 'b', ...more });
    await sendOnce(
      { node, context, facts },
      {
        what: 'inject a non-maskable interrupt',
        desired: { nmi: true },
        prepare: async () => {
          await (pauses.look ?? nothing)();
          const command = async () => {
            sent.push(name);
            await (pauses.sent ?? nothing)();
            return { is: 'accepted' as const };
          };
          return { command };
        },
      },
    );
    return { is: 'done', note: name };
  }) satisfies Act;

const rowsOf = async ({ lock: { run, node_uuid } }: RunActInput) => ({
  nodes: await owner`select * from nodes where uuid = ${node_uuid}`,
  runs: await owner`select * from runs where id = ${run}`,
  steps: await owner`select * from run_steps where run_id = ${run}`,
  intents: await owner`select * from intents where run_id = ${run}`,
  events: await owner`select * from events where run_id = ${run} order by seq`,
});

test('a worker that stands still between its look and its intent does not send what the next attempt has sent', async () => {
  const input = await heldAct({ api, owner, vault });
  const sent: string[] = [];
  const line = stall();
  const late = perform(input, sender(sent, 'attempt 1', { look: line.here }), 1);
  await line.there;
  await perform(input, sender(sent, 'attempt 2'), 2);
  const before = await rowsOf(input);
  line.go();
  await expect(late).rejects.toMatchObject({ type: 'StaleOperation', nonRetryable: true });
  expect(sent).toEqual(['attempt 2']);
  expect(await rowsOf(input)).toEqual(before);
});

test('a confirmation, a note and an end that come late change nothing', async () => {
  const input = await heldAct({ api, owner, vault });
  const sent: string[] = [];
  const line = stall();
  const late = perform(input, sender(sent, 'attempt 1', { sent: line.here }), 1);
  await line.there;
  await expect(perform(input, sender(sent, 'attempt 2'), 2)).rejects.toMatchObject({ type: 'StepOutcomeUnknown' });
  const before = await rowsOf(input);
  line.go();
  await expect(late).rejects.toMatchObject({ type: 'StaleOperation' });
  expect(sent).toEqual(['attempt 1']);
  expect(await rowsOf(input)).toEqual(before);
});

test('a command may leave for a while after its intent, counted from before the intent was written', async () => {
  const input = await heldAct({ api, owner, vault });
  let later = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => later);
  const may: boolean[] = [];
  await perform(
    input,
    async (_node, _args, context) => {
      may.push(context.mayStillSend());
      const writing = context.intents.record({ desired: 'power on' });
      later = input.timing.settleMs; // it stood still before the store had written it
      await writing;
      may.push(context.mayStillSend());
      await context.intents.renew();
      may.push(context.mayStillSend());
      later *= 3;
      may.push(context.mayStillSend());
      await context.intents.record({ desired: 'power on', withdrawn: true });
      may.push(context.mayStillSend());
      return { is: 'done' };
    },
    1,
  ).finally(() => clock.mockRestore());
  expect(may).toEqual([true, false, true, false, true]);
});

test('an attempt that begins after the next one has begun finds no row, and stops nothing', async () => {
  const input = await heldAct({ api, owner, vault });
  const sent: string[] = [];
  const line = stall();
  const second = perform(input, sender(sent, 'attempt 2', { look: line.here }), 2);
  await line.there;
  await expect(perform(input, sender(sent, 'attempt 1'), 1)).rejects.toMatchObject({ type: 'StaleOperation' });
  line.go();
  await expect(second).resolves.toMatchObject({ is: 'done', note: 'attempt 2' });
  expect(sent).toEqual(['attempt 2']);
});

test('an act that a person had tried again is not overtaken by what is left of the one before', async () => {
  const input = await heldAct({ api, owner, vault });
  const sent: string[] = [];
  const line = stall();
  const late = perform({ ...input, nth: 1 }, sender(sent, 'first', { look: line.here }), 1);
  await line.there;
  await perform({ ...input, nth: 2 }, sender(sent, 'again'), 1, { activityId: 'step-00-power.power_on-power_on-2' });
  line.go();
  await expect(late).rejects.toMatchObject({ type: 'StaleOperation' });
  await expect(perform({ ...input, nth: 1 }, sender(sent, 'first, late'), 1)).rejects.toMatchObject({
    type: 'StaleOperation',
  });
  expect(sent).toEqual(['again']);
});

test('an activity that an operator has reset in the engine counts anew, and goes on', async () => {
  const input = await heldAct({ api, owner, vault });
  const silent: Act = async () => Promise.reject(new Error('away'));
  await expect(perform(input, silent, 3)).rejects.toThrow('away');
  const { driver } = recordingDriver();
  const reset = new MockActivityEnvironment({
    attempt: 1,
    activityId: 'step-00-power.power_on-power_on',
    workflowExecution: { workflowId: 'w', runId: '11111111-1111-4111-8111-111111111111' },
    currentAttemptScheduledTimestampMs: 9_000_000,
  });
  await expect(reset.run(runActOf(bmc, driver), input)).resolves.toMatchObject({ is: 'done' });
});

test('an engine whose clock was set back does not stop the run: attempts and acts are counted', async () => {
  const input = await heldAct({ api, owner, vault });
  const engine = { activityId: 'step-00-power.power_on-power_off' };
  await perform({ ...input, nth: 1, last: false }, async () => ({ is: 'done' }), 5, engine);
  await expect(perform({ ...input, nth: 2 }, async () => ({ is: 'done' }), 1)).resolves.toMatchObject({ is: 'done' });
});

test('the acts of an execution that the run has left find no row', async () => {
  const input = await heldAct({ api, owner, vault });
  await perform({ ...input, nth: 7 }, async () => ({ is: 'done' }), 2);
  const next = '22222222-2222-4222-8222-222222222222';
  await expect(api.runs.claim(input.lock, next, '11111111-1111-4111-8111-111111111111')).resolves.toBe(true);
  await perform({ ...input, nth: 1 }, async () => ({ is: 'done' }), 1, { runId: next });
  const sent: string[] = [];
  await expect(perform({ ...input, nth: 7 }, sender(sent, 'late'), 1)).rejects.toMatchObject({
    type: 'StaleOperation',
  });
  expect(sent).toEqual([]);
});

/** A ramdisk that has called back since the late worker fell asleep. */
const ramdiskOf = async ({ lock: { node_uuid } }: RunActInput) => {
  await owner`
    insert into agents (node_uuid, token_hash, token_secret) values (${node_uuid}, 'h', ${randomUUID()})`;
  return async () => (await owner`select 1 from agents where node_uuid = ${node_uuid}`).length;
};

test.each([
  [
    'the run after it',
    async ({ lock }: RunActInput) => {
      await owner`update nodes set reservation = ${randomUUID()}, fence = fence + 1 where uuid = ${lock.node_uuid}`;
    },
  ],
  [
    'the attempt after it',
    async (input: RunActInput) => {
      await perform({ ...input, act: 'power_on' }, async () => ({ is: 'done' }), 2);
    },
  ],
])('a power off that ends late does not forget the ramdisk of %s', async (_, goOn) => {
  const input: RunActInput = { ...(await heldAct({ api, owner, vault })), act: 'power_off' };
  const line = stall();
  const { driver } = recordingDriver({
    power_off: async () => {
      await line.here();
      return { is: 'done' };
    },
  });
  const late = new MockActivityEnvironment({ attempt: 1, currentAttemptScheduledTimestampMs: 1 }).run(
    runActOf(bmc, driver),
    input,
  );
  await line.there;
  await goOn(input);
  const ramdisks = await ramdiskOf(input);
  line.go();
  await expect(late).rejects.toMatchObject({ type: 'StaleOperation' });
  expect(await ramdisks()).toBe(1);
});
