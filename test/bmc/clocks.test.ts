/** A worker whose clock is not the store's: ages of commands are the store's word, and waits run on the monotonic clock. */

import type { AgentClient } from '../../src/bmc/agent/client';
import { type Order, orderDigest } from '../../src/bmc/agent/order';
import { findStanding, trace } from '../../src/bmc/agent/standing';
import { announcements } from '../../src/bmc/announce';
import { untilBack } from '../../src/bmc/bmc-restart';
import { type Converging, converge, type Sent } from '../../src/bmc/converge';
import type { Job } from '../../src/bmc/redfish/jobs/job';
import { openLedger } from '../../src/bmc/redfish/jobs/job-ledger';
import { performJobs } from '../../src/bmc/redfish/jobs/jobs';
import type { Client } from '../../src/bmc/redfish/transport/client';
import { retryAfterMs } from '../../src/bmc/redfish/transport/replies';
import type { NodeUuid } from '../../src/model/ids';
import { contextWith, type Intents, intentsOf, quickTiming } from './support/context';

const second = 1_000;
const skews = [-3_600 * second, -300 * second, -10 * second, 10 * second, 300 * second, 3_600 * second];
const ahead = skews.filter((ms) => ms > 0);
const behind = skews.filter((ms) => ms < 0);

const trueNow = Date.now.bind(Date);
/** From now on this process's wall clock goes wrong by so much; the store of `intentsOf` keeps the true time. */
const skewed = (ms: number): void => {
  jest.spyOn(Date, 'now').mockImplementation(() => trueNow() + ms);
};
afterEach(() => jest.restoreAllMocks());

// Long enough that a command which comes with the third look comes within it.
const timing = { ...quickTiming, settleMs: 500, pollMs: 20 };
const facts = (more = {}) => ({ node: 'n', bmc: 'b', ...more });
/** For what has to happen in time: a stall of this process must not be longer. */
const patient = { ...timing, settleMs: 60 * second, softPowerTimeoutMs: 60 * second };
const clientWith = (intents: Intents, attempt = 1, given = timing): Converging => ({
  node: { uuid: 'n' as NodeUuid },
  context: contextWith(intents, { timing: given, attempt }),
  facts,
});

/** A BMC that shows `on` from the n-th look on, or soon after a command has arrived. */
const bmcOf = (onAtLook: number) => {
  let looks = 0;
  let onFrom = onAtLook;
  const sent: number[] = [];
  return {
    sent,
    goal: {
      what: 'power on',
      desired: { power: 'on' },
      timeoutMs: 30 * second,
      look: async () => ++looks >= onFrom,
      reached: (state: boolean) => state,
      show: (state: boolean) => (state ? 'On' : 'Off'),
      act: async (): Promise<Sent> => {
        sent.push(looks);
        onFrom = looks + 3;
        return { is: 'accepted' };
      },
      again: 'next attempt' as const,
    },
  };
};

/** An earlier attempt announced the goal's command and died. */
const announced = async (intents: Intents) => announcements(contextWith(intents), { power: 'on' }).announce('Off');

test.each(ahead)('a command that is on its way is not sent again by a worker %d ms ahead of the store', async (ms) => {
  const intents = intentsOf('power_on');
  await announced(intents);
  skewed(ms);
  const { sent, goal } = bmcOf(4);
  await converge(clientWith(intents, 2, patient), goal);
  expect(sent).toEqual([]);
});

test.each(behind)('a command that never arrived is sent again by a worker %d ms behind the store', async (ms) => {
  const intents = intentsOf('power_on');
  await announced(intents);
  skewed(ms);
  const { sent, goal } = bmcOf(Number.POSITIVE_INFINITY);
  await converge(clientWith(intents, 2), goal);
  expect(sent).toHaveLength(1);
});

test('a wall clock that jumps while an act waits neither ends nor prolongs the wait', async () => {
  const { sent, goal } = bmcOf(Number.POSITIVE_INFINITY);
  const act = async (): Promise<Sent> => {
    skewed(3_600 * second);
    return goal.act();
  };
  const jumping = { ...goal, act };
  await converge(clientWith(intentsOf('power_on')), jumping);
  expect(sent).toHaveLength(1);
});

test.each(skews)('a restart of the BMC that left no trace is unknown after the settle window, at %d ms', async (ms) => {
  const intents = intentsOf('reset_bmc');
  await announced(intents);
  const earlier = (await announcements(contextWith(intents), { power: 'on' }).last())!;
  skewed(ms);
  let looks = 0;
  const look = async () => ({ good: true, begun: ++looks === 5, answers: true });
  await untilBack(clientWith(intents, 2), earlier, look);
  expect(looks).toBeGreaterThanOrEqual(5);
});

const order: Order = { name: 'x.y', what: 'y', identity: 1, params: () => ({}), effect: 'converge' };
const ramdiskOf = (intents: Intents, arrivesAtLook: number, given = timing) => {
  let looks = 0;
  const command = { id: 'c', command_name: 'x.y', command_status: 'RUNNING' };
  return {
    context: contextWith(intents, { timing: given }),
    startedAt: async () => 7,
    commands: async () => (++looks >= arrivesAtLook ? [command] : []),
  } as unknown as AgentClient;
};
const posted = (intents: Intents) =>
  intents.record({ digest: orderDigest(order), command: order.name, started_at: 7, after: null });

test.each(ahead)('a command of the ramdisk that arrives late is found by a worker %d ms ahead', async (ms) => {
  const intents = intentsOf('agent_write_image');
  await posted(intents);
  skewed(ms);
  const client = ramdiskOf(intents, 4, patient);
  const found = (await findStanding(client, order))!;
  expect(await trace(client, order, found)).toMatchObject({ id: 'c' });
});

test.each(behind)('a command of the ramdisk that never arrived is absent to a worker %d ms behind', async (ms) => {
  const intents = intentsOf('agent_write_image');
  await posted(intents);
  skewed(ms);
  const client = ramdiskOf(intents, Number.POSITIVE_INFINITY);
  const found = (await findStanding(client, order))!;
  expect(await trace(client, order, found)).toBe('absent');
});

/** A job that an earlier attempt sent, at a BMC that lists no tasks; its effect shows from the n-th look on. */
const deskOf = async (intents: Intents, showsAtLook: number, given = { ...timing, softPowerTimeoutMs: 600 }) => {
  let looks = 0;
  const job: Job = {
    key: 'update',
    limitMs: 60 * second,
    before: async () => null,
    send: async () => ({ is: 'unknown', error: new Error() as never }),
    effect: async () => ({ shows: ++looks >= showsAtLook, seen: `look ${looks}` }),
    restart: 'never',
  };
  const context = contextWith(intents, { timing: given });
  const client = { node: { uuid: 'n' }, context, facts } as unknown as Client;
  return { job, desk: { client, ledger: await openLedger(context, { work: 1 }) } };
};
const sentJob = async (intents: Intents) => {
  const { desk } = await deskOf(intents, 1);
  const now = performance.now();
  await desk.ledger.putJob('update', { is: 'sent', before: null, tasks: null, sent: now, over: now });
};

test.each(skews)('an effect that comes in time counts, whatever clock saw the job sent (%d ms)', async (ms) => {
  const intents = intentsOf('update_firmware');
  await sentJob(intents);
  skewed(ms);
  const { desk, job } = await deskOf(intents, 4, patient);
  await performJobs(desk, [job]);
  expect(desk.ledger.job('update')).toMatchObject({ is: 'done' });
});

test.each(skews)(
  'an effect that never comes is given up in time, whatever clock saw the job sent (%d ms)',
  async (ms) => {
    const intents = intentsOf('update_firmware');
    skewed(ms);
    await sentJob(intents);
    jest.restoreAllMocks();
    const { desk, job } = await deskOf(intents, Number.POSITIVE_INFINITY);
    await expect(performJobs(desk, [job])).rejects.toMatchObject({ code: 'StepOutcomeUnknown' });
  },
);

test('a pause that a BMC asks for until a time of day is counted on the clock of that BMC', () => {
  const headers = { date: 'Thu, 01 Jan 1970 00:10:00 GMT', 'retry-after': 'Thu, 01 Jan 1970 00:10:30 GMT' };
  expect(retryAfterMs({ headers } as never)).toBe(30 * second);
});
