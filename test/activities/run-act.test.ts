/** The one activity that touches machines, against a real store: fence, lane, secrets, repeats, and being killed. */
import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { RunActInput } from '../../src/activities/bmc';
import type { ActContext, Driver } from '../../src/bmc/contract';
import { sendOnce } from '../../src/bmc/once';
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import { raise } from '../../src/model/errors';
import type { Lock } from '../../src/model/runs/runs';
import { heldAct, runActOf } from '../support/held-act';
import { type ActsOver, recordingDriver } from '../support/recording-driver';
import { openStores } from '../support/stores';
import { testVault } from '../support/vault';

const vault = testVault;

let owner: Sql;
let api: Inventory;
let bmc: Inventory;
let control: Inventory;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ owner, api, bmc, control, close } = await openStores());
});
afterAll(() => close());

const held = (driver_info: Record<string, unknown> = {}, args: Record<string, unknown> = {}): Promise<RunActInput> =>
  heldAct({ api, owner, vault }, { driver_info, args });

const withDriver = (over: ActsOver, lane: string | null = null, imageOrigins: readonly string[] = []) => {
  const { driver, calls } = recordingDriver(over);
  const laned: Driver = { ...driver, laneKey: () => lane };
  const runAct = runActOf(bmc, laned, { imageOrigins, leaseMs: 1_000 });
  return {
    calls,
    perform: (input: RunActInput, attempt = 1) =>
      new MockActivityEnvironment({ attempt, heartbeatTimeoutMs: 3_000 }).run(runAct, input),
  };
};
const stepOf = async ({ lock }: { lock: Lock }) => (await api.runSteps.ofRun(lock.run))[0]!;

test('an act that succeeds leaves what it saw on the node and its step done', async () => {
  const input = await held();
  const { perform } = withDriver({
    power_on: async () => ({
      is: 'done',
      note: 'was off',
      seen: { power_state: 'power on', boot_mode: 'uefi', secure_boot: true },
    }),
  });
  expect(await perform(input)).toEqual({ is: 'done', note: 'was off' });
  expect(await stepOf(input)).toMatchObject({ state: 'done', attempts: 1, note: 'was off', last_error: null });
  const [node] =
    await owner`select power_state, boot_mode, secure_boot, clean_step from nodes where uuid = ${input.lock.node_uuid}`;
  expect(node).toMatchObject({
    power_state: 'power on',
    boot_mode: 'uefi',
    secure_boot: true,
    clean_step: { interface: 'power', step: 'power_on' },
  });
});

test('an act whose lock was taken over never reaches the BMC', async () => {
  const input = await held();
  await owner`update nodes set fence = fence + 1 where uuid = ${input.lock.node_uuid}`;
  const { calls, perform } = withDriver({});
  await expect(perform(input)).rejects.toMatchObject({ type: 'StaleOperation', nonRetryable: true });
  expect(calls).toEqual([]);
});

test('an act that loses its lock while it works does not write the node', async () => {
  const input = await held();
  const { perform } = withDriver({
    power_on: async () => {
      await owner`update nodes set fence = fence + 1 where uuid = ${input.lock.node_uuid}`;
      return { is: 'done', seen: { power_state: 'power on' } };
    },
  });
  await expect(perform(input)).rejects.toMatchObject({ type: 'StaleOperation' });
  const [node] = await owner`select power_state from nodes where uuid = ${input.lock.node_uuid}`;
  expect(node).toEqual({ power_state: null });
});

test('an intent of a run that was fenced off is not written, so its command is not sent', async () => {
  const input = await held();
  let sent = false;
  const { perform } = withDriver({
    power_on: async (_node, _args, context) => {
      await owner`update nodes set reservation = null where uuid = ${input.lock.node_uuid}`;
      await context.intents.record({ desired: 'power on' });
      sent = true;
      return { is: 'done' };
    },
  });
  await expect(perform(input)).rejects.toMatchObject({ type: 'StaleOperation' });
  expect(sent).toBe(false);
});

test('the next attempt reads the intent of a killed one, whatever worker wrote it', async () => {
  const input = await held();
  const first = withDriver({
    power_on: async (_node, _args, context) => {
      await context.intents.record({ desired: 'power on', etag: '"7"' });
      throw new Error('the worker died here');
    },
  });
  await expect(first.perform(input)).rejects.toMatchObject({ type: 'Unexpected', nonRetryable: false });
  let found: Awaited<ReturnType<ActContext['intents']['last']>>;
  const second = withDriver({
    power_on: async (_node, _args, context) => {
      found = await context.intents.last();
      return { is: 'done' };
    },
  });
  await second.perform(input, 2);
  expect(found).toMatchObject({ act: 'power_on', detail: { desired: 'power on', etag: '"7"' } });
  expect(await stepOf(input)).toMatchObject({ state: 'done', attempt: 2, attempts: 2 });
});

test.each([-3_600_000, 3_600_000])(
  'how old an intent is, the store says, at a worker whose clock is %d ms off',
  async (ms) => {
    const input = await held();
    const began = performance.now();
    const first = withDriver({
      power_on: async (_node, _args, context) => {
        await context.intents.record({ desired: 'power on' });
        throw new Error('the worker died here');
      },
    });
    await expect(first.perform(input)).rejects.toMatchObject({ type: 'Unexpected' });
    const trueNow = Date.now.bind(Date);
    const skewed = jest.spyOn(Date, 'now').mockImplementation(() => trueNow() + ms);
    let ageMs = Number.NaN;
    const second = withDriver({
      power_on: async (_node, _args, context) => {
        const { at } = (await context.intents.last())!;
        ageMs = performance.now() - at;
        return { is: 'done' };
      },
    });
    await second.perform(input, 2).finally(() => skewed.mockRestore());
    expect(ageMs).toBeGreaterThanOrEqual(0);
    expect(ageMs).toBeLessThanOrEqual(performance.now() - began);
  },
);

test('secrets of node and step reach the act as values', async () => {
  const input = await held({ redfish_address: 'b', redfish_password: 'p1' }, { image_password: 'p2' });
  let seen: unknown;
  const { perform } = withDriver({
    power_on: async (node, args) => {
      seen = [node.driver_info, args];
      return { is: 'done' };
    },
  });
  await perform(input);
  expect(seen).toEqual([{ redfish_address: 'b', redfish_password: 'p1' }, { image_password: 'p2' }]);
});

test('a busy BMC is tried again when it asked for, with what it said kept in the step', async () => {
  const input = await held();
  const { perform } = withDriver({
    power_on: async () =>
      raise('BmcBusy', { node: 'n', bmc: 'b', status: 503, reason: 'booting', retryAfterMs: 7_000 }),
  });
  await expect(perform(input)).rejects.toMatchObject({ type: 'BmcBusy', nonRetryable: false, nextRetryDelay: 7_000 });
  expect(await stepOf(input)).toMatchObject({ state: 'running', last_error: expect.stringContaining('booting') });
});

test('a ramdisk that answers with errors of its own is asked six times, and the last failure is final', async () => {
  const input = await held();
  const { perform } = withDriver({
    power_on: async () => raise('AgentServerError', { node: 'n', agent: 'a', status: 500, reason: 'no list' }),
  });
  await expect(perform(input, 5)).rejects.toMatchObject({ type: 'AgentServerError', nonRetryable: false });
  await expect(perform(input, 6)).rejects.toMatchObject({ type: 'AgentServerError', nonRetryable: true });
});

test('a failure’s text never carries a password', async () => {
  const input = await held();
  const { perform } = withDriver({
    power_on: async () => Promise.reject(new Error('login to https://root:hunter2@bmc failed, password=hunter2')),
  });
  const failure = await perform(input).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(failure?.message).toContain('login to');
  expect(failure?.message).not.toContain('hunter2');
  expect((await stepOf(input)).last_error).not.toContain('hunter2');
});

test('a lane that another worker holds is tried again later, and is free when its lease has run out', async () => {
  const input = await held();
  const lane = `bmc-${randomUUID()}`;
  await bmc.bmcLeases.take(lane, randomUUID(), 60_000);
  const { calls, perform } = withDriver({}, lane);
  await expect(perform(input)).rejects.toMatchObject({ type: 'BmcLeaseHeld', nextRetryDelay: 2_000 });
  expect(calls).toEqual([]);
  await owner`update bmc_leases set expires_at = now() - interval '1 second' where lane = ${lane}`;
  await perform(input, 2);
  expect(calls).toEqual(['power_on']);
  expect(await owner`select 1 from bmc_leases where lane = ${lane}`).toHaveLength(0);
});

test('two acts on one BMC never overlap in one worker', async () => {
  const inputs = await Promise.all([held(), held(), held()]);
  let inside = 0;
  let most = 0;
  const { perform } = withDriver(
    {
      power_on: async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
        return { is: 'done' };
      },
    },
    `bmc-${randomUUID()}`,
  );
  await Promise.all(inputs.map((input) => perform(input)));
  expect(most).toBe(1);
});

test('a secret that the BMC quotes in its refusal is hidden in failure, step, heartbeat and note', async () => {
  const input = await held({}, { settings: [{ name: 'AdminPassword', value: 'B1osEcho777' }] });
  const beats: unknown[] = [];
  const { driver } = recordingDriver({
    power_on: async (_node, args, context) => {
      const { value } = (args.settings as { value: string }[])[0]!;
      context.beat({ seen: `still ${value}` });
      return raise('BmcRejected', {
        node: 'n',
        bmc: 'b',
        status: 400,
        what: 'settings',
        reason: `The value '${value}' is of a different format`,
      });
    },
  });
  const environment = new MockActivityEnvironment({ attempt: 1, heartbeatTimeoutMs: 3_000 });
  environment.on('heartbeat', (details) => beats.push(details));
  const failure = await environment.run(runActOf(bmc, driver), input).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(failure?.message).toContain('different format');
  expect(JSON.stringify([failure?.message, failure?.stack, (await stepOf(input)).last_error, beats])).not.toContain(
    'B1osEcho777',
  );
});

test('a secret that is gone fails the step at once and says so', async () => {
  const input = await held({ redfish_password: 'p1' });
  await owner`delete from secrets where holder_id = ${input.lock.node_uuid}`;
  const { calls, perform } = withDriver({});
  await expect(perform(input)).rejects.toMatchObject({ type: 'SecretMissing', nonRetryable: true });
  expect(calls).toEqual([]);
});

describe('where something is fetched from is looked at once more as the act begins', () => {
  const good = 'https://images.example.org/x';
  const evil = 'https://elsewhere.net/x';
  const begin = async (
    act: RunActInput['act'],
    args: Record<string, unknown>,
    {
      step = {},
      instance_info = {},
      driver_info = {},
    }: { step?: object; instance_info?: Record<string, unknown>; driver_info?: Record<string, unknown> } = {},
  ) => {
    const input = await held({}, args);
    const holder = { holder: 'node', holder_id: input.lock.node_uuid, field: 'instance_info', groups: [''] } as const;
    const sealed = vault.seal(instance_info, holder);
    await api.secrets.insert(sealed.secrets);
    await owner`update nodes set instance_info = ${owner.json(sealed.document as never)},
      driver_info = driver_info || ${owner.json(driver_info as never)} where uuid = ${input.lock.node_uuid}`;
    const { calls, perform } = withDriver({}, null, ['https://images.example.org']);
    const ended = await perform({ ...input, act, step: { ...input.step, ...step } }).catch((thrown) => thrown.type);
    return { ended, calls };
  };
  const nic = { interface: 'deploy', step: 'update_nvidia_nic_firmware_image' } as const;
  const box = { interface: 'deploy', step: 'generic_container_step' } as const;
  const instance = { image_source: good, image_url: good, configdrive: 'H4sIAA==' };

  test.each([
    ['insert_media', { image_url: evil }, {}],
    ['update_firmware', { settings: [{ component: 'bmc', url: evil }] }, {}],
    ['agent_step', { images: [{ url: evil }] }, { step: nic }],
    ['agent_step', { container_url: 'elsewhere.net/tool' }, { step: box }],
    ['agent_step', { anything: evil }, {}],
    ['agent_write_image', {}, { instance_info: { ...instance, image_source: evil } }],
    ['agent_write_image', {}, { instance_info: { ...instance, image_url: evil } }],
    ['agent_write_image', {}, { instance_info: { ...instance, image_url: 'https://user:hunter2@elsewhere.net/x' } }],
    ['agent_write_image', {}, { instance_info: instance, driver_info: { image_http_proxy: evil } }],
    ['agent_write_image', {}, { instance_info: { ...instance, configdrive: evil } }],
  ] as const)('%s with %j, %j sends nothing', async (act, args, more) => {
    expect(await begin(act, args, more)).toEqual({ ended: 'OriginRefused', calls: [] });
  });

  test.each([
    ['insert_media', { image_url: good }, {}],
    ['agent_step', { images: [{ url: good }] }, { step: nic }],
    ['agent_write_image', {}, { instance_info: instance }],
  ] as const)('%s with %j, %j goes on', async (act, args, more) => {
    expect(await begin(act, args, more)).toMatchObject({ ended: { is: 'done' }, calls: [act] });
  });
});

test('a step that an attempt ended and whose answer was lost is reported once, and its acts are counted once', async () => {
  const input = await held();
  const { perform } = withDriver({});
  await perform(input, 1);
  await perform(input, 2);
  const told =
    await owner`select kind from events where run_id = ${input.lock.run} and kind in ('act.done', 'step.done')`;
  expect(told).toEqual([{ kind: 'step.done' }]);
  expect(await stepOf(input)).toMatchObject({ state: 'done', acts_done: 1 });
});

describe('an older state of the workflow, from a restored store of the engine', () => {
  const asked = (input: RunActInput, act: RunActInput['act'], nth: number): RunActInput => ({
    ...input,
    act,
    nth,
    last: false,
  });

  test('a once act that has ended is answered from the record, and nothing is sent again', async () => {
    const input = await held();
    const { calls, perform } = withDriver({ inject_nmi: async () => ({ is: 'done', note: 'sent' }) });
    expect(await perform(asked(input, 'inject_nmi', 1))).toEqual({ is: 'done', note: 'sent' });
    expect(await perform(asked(input, 'inject_nmi', 1))).toEqual({ is: 'done', note: 'sent' });
    expect(calls).toEqual(['inject_nmi']);
  });

  test('an earlier act than the record has is answered or refused, and the later ones begin', async () => {
    const input = await held();
    const { calls, perform } = withDriver({});
    await perform(asked(input, 'power_off', 1));
    await perform(asked(input, 'power_on', 2));
    expect(await perform(asked(input, 'power_off', 1))).toEqual({ is: 'done' });
    await expect(perform(asked(input, 'set_boot_mode', 1))).rejects.toMatchObject({ type: 'StaleOperation' });
    expect(await perform(asked(input, 'verify', 3))).toEqual({ is: 'done' });
    expect(calls).toEqual(['power_off', 'power_on', 'verify']);
  });
});

test('during a recovery no command leaves, looks go on, and the run waits with the reason', async () => {
  const input = await held();
  await owner`insert into recovery ${owner({ side: 'store', reason: 'the database is older' })}`;
  const { calls, perform } = withDriver({});
  await expect(perform(input)).rejects.toMatchObject({
    type: 'RecoveryPending',
    message: expect.stringMatching(/until an administrator ends the recovery.*temper recover.*the database is older/),
  });
  await perform({ ...input, act: 'verify', last: false });
  await owner`delete from recovery`;
  await perform(input);
  expect(calls).toEqual(['verify', 'power_on']);
});

test('a command that may have left since a backup which was restored is not sent again, until a person says so', async () => {
  const input = { ...(await held()), act: 'reset_bmc' as const, last: false };
  const sent: string[] = [];
  const reset = async (_node: unknown, _args: unknown, context: ActContext) => {
    await sendOnce(
      { node: { uuid: input.lock.node_uuid }, context, facts: (more) => ({ node: 'n', bmc: 'b', ...more }) },
      {
        what: 'a reset',
        desired: { reset: 'bmc' },
        prepare: async () => ({
          command: async () => {
            sent.push('reset');
            return { is: 'accepted' };
          },
        }),
      },
    );
    return { is: 'done' as const };
  };
  const { perform } = withDriver({ reset_bmc: reset });
  await owner`insert into recovery ${owner({ side: 'store', reason: 'the database is older' })}`;
  // The first attempt began before the restore, whose backup has nothing of it.
  await expect(perform(input, 2)).rejects.toMatchObject({ type: 'RecoveryPending' });
  await owner`delete from recovery`;
  await expect(perform(input)).rejects.toMatchObject({
    type: 'StepOutcomeUnknown',
    message: expect.stringContaining('since the backup'),
  });
  expect(sent).toEqual([]);
  await control.runSteps.again(input.lock, input.step.index);
  await perform(input);
  expect(sent).toEqual(['reset']);
});

test('after a restore an act that a recovery noted as under way is doubted in every attempt, and another is not', async () => {
  const doubted: boolean[] = [];
  const reset = async (_node: unknown, _args: unknown, context: ActContext) => {
    doubted.push(context.doubted === true);
    return { is: 'done' as const };
  };
  const { perform } = withDriver({ reset_bmc: reset });
  const [noted, other] = [await held(), await held()].map((input) => ({ ...input, act: 'reset_bmc' as const }));
  const { workflowExecution, activityId } = new MockActivityEnvironment().context.info;
  await api.recovery.doubt(noted!.lock.run, [`${workflowExecution!.runId}/${activityId}`]);
  await perform(noted!);
  await perform(other!);
  expect(doubted).toEqual([true, false]);
});

test('an act that may harm when done twice is given whether its run has another step of that name', async () => {
  const unrepeated: unknown[] = [];
  const reset = async (_node: unknown, _args: unknown, context: ActContext) => {
    unrepeated.push(context.unrepeated);
    return { is: 'done' as const };
  };
  const { perform } = withDriver({ reset_bmc: reset });
  const [single, twice, beside] = [await held(), await held(), await held()].map((input) => ({
    ...input,
    act: 'reset_bmc' as const,
  }));
  const also = async ({ lock, step }: RunActInput, name: string) =>
    owner`insert into run_steps ${owner({ run_id: lock.run, index: step.index + 1, interface: step.interface, step: name })}`;
  await also(twice!, twice!.step.step);
  await also(beside!, `not_${beside!.step.step}`);
  for (const input of [single!, twice!, beside!]) await perform(input);
  expect(unrepeated).toEqual([true, false, true]);
});
