/** The stories of a node's whole life in the ways they can end, with a ramdisk that calls back when it is asked to. */

import type { WorkflowHandle } from '../../node_modules/@temporalio/client/lib/index.d';
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import type { GivenStep, ReportedStep } from '../../src/model/lifecycle/step-types';
import type { Verb } from '../../src/model/lifecycle/verbs';
import type { Timing } from '../../src/model/runs/runs';
import type { RunOrder } from '../../src/runs';
import type { World } from './engine';
import { type ActsOver, step } from './recording-driver';

/** A node of fake-hardware that boots a ramdisk over the network, as its deploy interface wants. */
export const withRamdisk = {
  deploy_interface: 'direct',
  boot_interface: 'pxe',
  inspect_interface: 'agent',
  rescue_interface: 'agent',
};

/** The ramdisk on a node calls back, as its first heartbeat does. */
export const callBack = async (world: World, node: NodeUuid, verify_ca: string | null = null): Promise<void> => {
  const token_hash = 'of a token';
  const { secrets } = world.vault.seal(
    { token: 'a token that is not asked for' },
    { holder: 'agent', holder_id: node, field: 'agent', groups: [''] },
  );
  await world.inventory.agents.meet(node, token_hash, secrets[0]!);
  await world.inventory.agents.beat(node, {
    token_hash,
    url: 'https://127.0.0.1:9999',
    version: '11.0.0',
    verify_ca,
    status: null,
    status_message: null,
  });
  await world.runs.agentContact({ node, kind: 'heartbeat' });
};

/** The ramdisk sends what it found. */
export const sendInventory = async (
  world: World,
  node: NodeUuid,
  inventory: Record<string, unknown>,
  plugin_data: Record<string, unknown> = {},
): Promise<void> => {
  await world.inventory.details.write(node, { inventory, plugin_data });
  await world.runs.agentContact({ node, kind: 'inspection' });
};

export const found = {
  cpu: { architecture: 'x86_64', count: 8 },
  memory: { physical_mb: 32_768 },
  disks: [{ name: '/dev/sda', size: 480 * 1024 ** 3 }],
  interfaces: [{ name: 'eth0', mac_address: '52:54:00:aa:bb:cc' }],
};

const reported = (...names: readonly (readonly [string, number])[]): ReportedStep[] =>
  names.map(([name, priority]) => ({ interface: 'deploy', step: name, priority, abortable: true }));

export const reporting =
  (...names: readonly (readonly [string, number])[]) =>
  async () => ({
    is: 'done' as const,
    reported: reported(...names),
  });

const refused = async () => raise('AgentRejected', { node: 'n', what: 'the command', reason: 'no disk' });

const waits: Scenario['meanwhile'] = (world, { run }) => world.reaches(run, 'waiting');

const calls: Scenario['meanwhile'] = async (world, on) => {
  await waits(world, on);
  await callBack(world, on.node);
};

const aborts: Scenario['meanwhile'] = async (world, on) => {
  await waits(world, on);
  const order = await world.order(on.node, 'abort');
  await world.runs.send({ node: order.node, kind: 'abort', asked: order.asked });
};

/** Another run takes the node over while this one waits. */
const deletes: Scenario['meanwhile'] = async (world, on) => {
  await waits(world, on);
  const { run } = await world.runs.start(await world.order(on.node, 'deleted'));
  await world.ended(run);
};

const ramdisk = { ...withRamdisk, automated_clean: null };

export const lifeScenarios = (): readonly Scenario[] => [
  { story: 'inspect', ends: 'succeeded', verb: 'inspect', from: 'manageable', rests: 'manageable' },
  {
    story: 'inspect',
    ends: 'failed',
    verb: 'inspect',
    from: 'manageable',
    acts: { inspect: refused },
    red: true,
    rests: 'inspect failed',
  },
  {
    story: 'inspect',
    ends: 'succeeded-by-agent',
    verb: 'inspect',
    from: 'manageable',
    node: ramdisk,
    meanwhile: async (world, on) => {
      await waits(world, on);
      await sendInventory(world, on.node, found);
    },
    rests: 'manageable',
  },
  {
    story: 'inspect',
    ends: 'failed-by-agent',
    verb: 'inspect',
    from: 'manageable',
    node: ramdisk,
    meanwhile: async (world, on) => {
      await waits(world, on);
      await sendInventory(world, on.node, { ...found, memory: {} });
    },
    red: true,
    rests: 'inspect failed',
  },
  {
    story: 'inspect',
    ends: 'aborted',
    verb: 'inspect',
    from: 'manageable',
    node: ramdisk,
    meanwhile: aborts,
    rests: 'inspect failed',
  },
  {
    story: 'clean',
    ends: 'succeeded-in-ramdisk',
    verb: 'provide',
    from: 'manageable',
    node: ramdisk,
    acts: { agent_steps: reporting(['erase_devices', 10], ['erase_devices_metadata', 99], ['burnin_cpu', 0]) },
    meanwhile: calls,
    rests: 'available',
  },
  {
    story: 'clean',
    ends: 'succeeded-after-restart',
    verb: 'clean',
    from: 'manageable',
    node: ramdisk,
    steps: [step('deploy.erase_devices')],
    acts: {
      agent_steps: reporting(['erase_devices', 10]),
      agent_step: async () => ({ is: 'done', follows: 'reboot' }),
    },
    meanwhile: async (world, on) => {
      await calls(world, on);
      await world.until(async () => (await world.waitsIn(on.run, 2)) || undefined);
      await callBack(world, on.node);
    },
    rests: 'manageable',
  },
  {
    story: 'clean',
    ends: 'failed-without-step',
    verb: 'clean',
    from: 'manageable',
    node: ramdisk,
    steps: [step('deploy.erase_devices')],
    acts: { agent_steps: reporting(['erase_devices_metadata', 99]) },
    meanwhile: calls,
    red: true,
    rests: 'clean failed',
  },
  {
    story: 'clean',
    ends: 'failed-without-ramdisk',
    verb: 'clean',
    from: 'manageable',
    node: ramdisk,
    steps: [step('deploy.erase_devices')],
    timing: { agentTimeoutMs: 300, agentPollMs: 100 },
    red: true,
    rests: 'clean failed',
  },
  {
    story: 'clean',
    ends: 'aborted-in-ramdisk',
    verb: 'clean',
    from: 'manageable',
    node: ramdisk,
    steps: [step('deploy.erase_devices')],
    meanwhile: aborts,
    rests: 'clean failed',
  },
  {
    story: 'service',
    ends: 'succeeded-in-ramdisk',
    verb: 'service',
    from: 'active',
    node: ramdisk,
    steps: [step('deploy.burnin_cpu')],
    acts: { agent_steps: reporting(['burnin_cpu', 0]) },
    meanwhile: calls,
    rests: 'active',
  },
  {
    story: 'service',
    ends: 'frozen-and-thawed',
    verb: 'service',
    from: 'active',
    steps: [step('power.hold'), step('power.power_off')],
    meanwhile: async (world, on) => {
      await waits(world, on);
      const order = await world.order(on.node, 'unhold');
      const freeze = await world.inventory.freezes.create({
        node_uuid: on.node,
        reason: 'cabling',
        requester: order.asked.requester,
        until: null,
      });
      await world.runs.send({ node: order.node, kind: 'unhold', asked: order.asked });
      await world.until(
        async () => (await world.inventory.runs.find(on.run))?.waiting_for?.includes('cabling') || undefined,
      );
      await world.inventory.freezes.end(freeze.id, order.asked.requester);
      await world.runs.agentContact({ node: on.node, kind: 'unfreeze' });
    },
    rests: 'active',
  },
  { story: 'deploy', ends: 'succeeded', verb: 'active', from: 'available', rests: 'active' },
  { story: 'deploy', ends: 'rebuilt', verb: 'rebuild', from: 'active', rests: 'active' },
  {
    story: 'deploy',
    ends: 'failed',
    verb: 'active',
    from: 'available',
    acts: { power_on: refused },
    red: true,
    rests: 'deploy failed',
  },
  {
    story: 'deploy',
    ends: 'succeeded-in-ramdisk',
    verb: 'active',
    from: 'available',
    node: ramdisk,
    acts: { agent_steps: reporting(['erase_devices_metadata', 70]) },
    meanwhile: calls,
    rests: 'active',
  },
  {
    story: 'deploy',
    ends: 'failed-in-ramdisk',
    verb: 'active',
    from: 'available',
    node: ramdisk,
    acts: { agent_steps: reporting(), agent_write_image: refused },
    meanwhile: calls,
    red: true,
    rests: 'deploy failed',
  },
  {
    story: 'deploy',
    ends: 'aborted',
    verb: 'active',
    from: 'available',
    node: ramdisk,
    meanwhile: aborts,
    rests: 'deploy failed',
  },
  {
    story: 'deploy',
    ends: 'taken-over',
    verb: 'active',
    from: 'available',
    node: { ...ramdisk, automated_clean: false },
    meanwhile: deletes,
    red: true,
    rests: 'available',
  },
  { story: 'undeploy', ends: 'succeeded', verb: 'deleted', from: 'active', rests: 'available' },
  {
    story: 'undeploy',
    ends: 'succeeded-with-cleaning',
    verb: 'deleted',
    from: 'active',
    node: ramdisk,
    acts: { agent_steps: reporting(['erase_devices', 10]) },
    meanwhile: calls,
    rests: 'available',
  },
  {
    story: 'undeploy',
    ends: 'failed',
    verb: 'deleted',
    from: 'active',
    acts: { power_off: refused },
    red: true,
    rests: 'error',
  },
  {
    story: 'undeploy',
    ends: 'failed-in-cleaning',
    verb: 'deleted',
    from: 'active',
    node: ramdisk,
    acts: { agent_steps: reporting(['erase_devices', 10]), agent_step: refused },
    meanwhile: calls,
    red: true,
    rests: 'clean failed',
  },
  {
    story: 'rescue',
    ends: 'succeeded',
    verb: 'rescue',
    from: 'active',
    node: ramdisk,
    args: { rescue_password: '$6$a$b' },
    meanwhile: calls,
    rests: 'rescue',
  },
  {
    story: 'rescue',
    ends: 'failed',
    verb: 'rescue',
    from: 'active',
    node: ramdisk,
    args: { rescue_password: '$6$a$b' },
    acts: { agent_finalize_rescue: refused },
    meanwhile: calls,
    red: true,
    rests: 'rescue failed',
  },
  {
    story: 'rescue',
    ends: 'aborted',
    verb: 'rescue',
    from: 'active',
    node: ramdisk,
    meanwhile: aborts,
    rests: 'rescue failed',
  },
  { story: 'unrescue', ends: 'succeeded', verb: 'unrescue', from: 'rescue', node: ramdisk, rests: 'active' },
  {
    story: 'unrescue',
    ends: 'failed',
    verb: 'unrescue',
    from: 'rescue',
    node: ramdisk,
    acts: { power_on: refused },
    red: true,
    rests: 'unrescue failed',
  },
];

export type Scenario = {
  readonly story: string;
  /** How it ends; the file's name is `<story>.<ends>`. */
  readonly ends: string;
  readonly acts?: ActsOver;
  readonly from: string;
  readonly verb: Verb | 'power';
  readonly steps?: readonly GivenStep[];
  /** What happens while it runs. */
  readonly meanwhile?: (world: World, on: { node: NodeUuid; run: RunUuid; handle: WorkflowHandle }) => Promise<void>;
  /** Columns of the node that differ from a plain one of fake-hardware. */
  readonly node?: Readonly<Record<string, unknown>>;
  /** What the request carries beside steps. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly timing?: Partial<Timing>;
  /** How many of its kind may work at once. */
  readonly limit?: RunOrder['limit'];
  /** Where the node comes to rest. */
  readonly rests?: string;
  /** Whether the workflow is red in the engine's UI. */
  readonly red?: boolean;
};
