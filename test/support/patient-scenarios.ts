/** Stories in which time is given or given up: aborts and cancellations of acts under way, a lost ramdisk, a turn given back. */
import { EventEmitter, once } from 'node:events';
import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { raise } from '../../src/model/errors';
import type { RunUuid } from '../../src/model/ids';
import { restored } from '../../src/model/runs/recovery';
import { skipStep } from '../../src/workflows/contract';
import type { World } from './engine';
import { callBack, reporting, type Scenario, withRamdisk } from './life-scenarios';
import { type ActsOver, step } from './recording-driver';

const dead = () => raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'the connection was closed' });
const deadAfterItsCommand: ActsOver = {
  set_boot_mode: async (_node, _args, context) => {
    await context.intents.record({ desired: 'uefi' });
    return dead();
  },
};

const tried = (world: World, run: RunUuid) =>
  world.until(async () => (await world.inventory.runSteps.ofRun(run))[0]!.last_error ?? undefined);

const aborts: Scenario['meanwhile'] = async (world, { node, run }) => {
  await tried(world, run);
  const { asked } = await world.order(node, 'abort');
  await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'the BMC is dead', asked });
};

const cancels: Scenario['meanwhile'] = async (world, { run, handle }) => {
  await tried(world, run);
  await handle.cancel();
};

const clean = {
  story: 'clean',
  verb: 'clean',
  from: 'manageable',
  steps: [step('management.set_boot_mode', { boot_mode: 'uefi' })],
  rests: 'clean failed',
} as const;

/** A deployment whose host goes down while its image is written, and comes back. */
const lostRamdisk = (): Scenario => {
  let lost = true;
  return {
    story: 'deploy',
    ends: 'succeeded-in-second-ramdisk',
    verb: 'active',
    from: 'available',
    node: { ...withRamdisk, automated_clean: null },
    timing: { agentSilenceMs: 500 },
    acts: {
      agent_write_image: async () =>
        lost ? raise('AgentUnreachable', { node: 'n', agent: 'a', reason: 'no route to host' }) : { is: 'done' },
      verify: async () => ({ is: 'done', seen: { power_state: 'power off' } }),
    },
    meanwhile: async (world, { node, run }) => {
      const waitsAgain = (times: number) => world.until(async () => (await world.waitsIn(run, times)) || undefined);
      await waitsAgain(1);
      await callBack(world, node);
      await world.sql`update agents set last_heartbeat_at = now() - interval '1 hour' where node_uuid = ${node}`;
      await waitsAgain(2);
      lost = false;
      await callBack(world, node);
    },
    rests: 'active',
  };
};

type Played = Parameters<NonNullable<Scenario['meanwhile']>>[1];

/** Whether the workflow has been answered that a recovery is under way: by a local activity, which leaves a marker. */
const knowsOfRecovery = async ({ handle }: Played): Promise<boolean> =>
  ((await handle.fetchHistory()).events ?? [])
    .flatMap(({ markerRecordedEventAttributes: marker }) => Object.values(marker?.details ?? {}))
    .flatMap(({ payloads }) => payloads ?? [])
    .some(({ data }) => String(Buffer.from(data ?? [])).includes('"recovering":true'));

/** The time for the ramdisk of a cleaning to call back is over while the stores are compared, when the API takes no call. */
const awaitedOverRecovery = (): Scenario => {
  const happened = new EventEmitter();
  const boots = once(happened, 'boots');
  const entered = once(happened, 'entered');
  return {
    ...clean,
    ends: 'succeeded-after-recovery',
    node: { ...withRamdisk },
    steps: [step('deploy.erase_devices')],
    timing: { agentTimeoutMs: 300, agentPollMs: 100 },
    acts: {
      agent_steps: reporting(['erase_devices', 10]),
      power_on: async () => {
        happened.emit('boots');
        await entered;
        return { is: 'done' };
      },
    },
    meanwhile: async (world, on) => {
      const { node, run } = on;
      await boots;
      const owner = connect(world.database.ownerUrl, { max: 1 });
      await createInventory(owner).recovery.enter(restored('store'));
      await owner.end();
      happened.emit('entered');
      await world.until(async () => (await knowsOfRecovery(on)) || undefined);
      // Neither is its time over, nor has it gone on.
      expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'waiting' });
      await world.inventory.recovery.leave();
      await callBack(world, node);
      await world.runs.agentContact({ node, kind: 'unfreeze' });
    },
    rests: 'manageable',
  };
};

/** A command that may not leave twice, whose worker stops answering for it. */
const outOfTime: Scenario = {
  ...clean,
  ends: 'parked-out-of-time',
  steps: [step('management.reset_bmc')],
  timing: { limits: { once: { startToCloseMs: 1_000, scheduleToCloseMs: 1_000, heartbeatMs: 3_000, retryMs: 100 } } },
  acts: {
    reset_bmc: (_node, _args, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  },
  meanwhile: async (world, { run, handle }) => {
    await world.reaches(run, 'parked');
    await handle.executeUpdate(skipStep, { args: [{ cursor: 0, by: 'tester', reason: 'looked' }] });
  },
  rests: 'manageable',
};

export const patientScenarios = (): readonly Scenario[] => [
  { ...clean, ends: 'aborted-before-its-command', acts: { set_boot_mode: async () => dead() }, meanwhile: aborts },
  {
    ...clean,
    ends: 'aborted-after-its-command',
    acts: deadAfterItsCommand,
    timing: { abortTimeoutMs: 500 },
    meanwhile: aborts,
  },
  {
    ...clean,
    ends: 'cancelled-before-its-command',
    acts: { set_boot_mode: async () => dead() },
    meanwhile: cancels,
    red: true,
  },
  {
    ...clean,
    ends: 'cancelled-after-its-command',
    acts: deadAfterItsCommand,
    timing: { abortTimeoutMs: 500 },
    meanwhile: cancels,
    red: true,
  },
  lostRamdisk(),
  awaitedOverRecovery(),
  outOfTime,
  {
    ...clean,
    ends: 'succeeded-after-its-turn-was-given-back',
    steps: [step('power.wait', { seconds: 1 }), step('power.power_on')],
    timing: { longWaitMs: 1_000 },
    limit: { class: 'clean', max: 3 },
    rests: 'manageable',
  },
];
