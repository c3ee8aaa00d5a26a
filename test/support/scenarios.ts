/** Every story in every way it can end, played on a real engine: the source of the recorded histories. */
import type { WorkflowHandle } from '@temporalio/client';
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { powerSteps } from '../../src/model/lifecycle/steps';
import { failOperation, retryStep, setPaused, skipStep, workflowId } from '../../src/workflows/contract';
import type { World } from './engine';
import { lifeScenarios, type Scenario } from './life-scenarios';
import { patientScenarios } from './patient-scenarios';
import { step } from './recording-driver';

const refused = async () => raise('BmcAuthFailed', { node: 'n', bmc: 'b' });
const refusedOnce =
  (times = 1) =>
  async () =>
    times-- > 0 ? refused() : { is: 'done' as const };
const unknown =
  (times = 1) =>
  async () =>
    times-- > 0
      ? raise('StepOutcomeUnknown', { step: 'management.reset_bmc', reason: 'no record' })
      : { is: 'done' as const };
const decision = { cursor: 0, by: 'tester', reason: 'looked' };
const settings = { settings: [{ name: 'a', value: 1 }] };

const message =
  (kind: 'abort' | 'unhold'): Scenario['meanwhile'] =>
  async (world, { node, run }) => {
    await world.reaches(run, 'waiting');
    const order = await world.order(node, kind);
    await world.runs.send({ node: order.node, kind, asked: order.asked });
  };

const decided =
  (by: typeof retryStep): Scenario['meanwhile'] =>
  async (world, { run, handle }) => {
    await world.reaches(run, 'parked');
    await handle.executeUpdate(by, { args: [decision] });
  };

/** Made anew for every use: some acts count their calls. */
export const scenarios = (): readonly Scenario[] => [...engineScenarios(), ...lifeScenarios(), ...patientScenarios()];

const engineScenarios = (): readonly Scenario[] => [
  { story: 'verify', ends: 'succeeded', verb: 'manage', from: 'enroll' },
  { story: 'verify', ends: 'failed', verb: 'manage', from: 'enroll', acts: { verify: refused }, red: true },
  {
    story: 'clean',
    ends: 'succeeded',
    verb: 'clean',
    from: 'manageable',
    steps: [step('power.reboot'), step('bios.apply_configuration', settings)],
  },
  {
    story: 'clean',
    ends: 'succeeded-without-need',
    verb: 'clean',
    from: 'manageable',
    steps: [step('bios.apply_configuration', settings)],
    acts: { stage_bios: async () => ({ is: 'done', rest: 'skip' }) },
  },
  {
    story: 'clean',
    ends: 'succeeded-after-wait',
    verb: 'clean',
    from: 'manageable',
    steps: [step('power.wait', { seconds: 1 }), step('power.power_on')],
  },
  {
    story: 'clean',
    ends: 'failed',
    verb: 'clean',
    from: 'manageable',
    steps: [step('power.power_on'), step('power.power_off')],
    acts: { power_off: refused },
    red: true,
  },
  {
    story: 'clean',
    ends: 'aborted',
    verb: 'clean',
    from: 'manageable',
    steps: [step('power.hold'), step('power.power_on')],
    meanwhile: message('abort'),
  },
  {
    story: 'clean',
    ends: 'aborted-in-wait',
    verb: 'clean',
    from: 'manageable',
    steps: [step('power.wait', { seconds: 3600 })],
    meanwhile: message('abort'),
  },
  {
    story: 'clean',
    ends: 'cancelled',
    verb: 'clean',
    from: 'manageable',
    steps: [step('power.hold')],
    meanwhile: async (world, { run, handle }) => {
      await world.reaches(run, 'waiting');
      await handle.cancel();
    },
    red: true,
  },
  {
    story: 'clean',
    ends: 'parked-retried',
    verb: 'clean',
    from: 'manageable',
    steps: [step('management.reset_bmc')],
    acts: { reset_bmc: unknown() },
    meanwhile: decided(retryStep),
  },
  {
    story: 'clean',
    ends: 'parked-skipped',
    verb: 'clean',
    from: 'manageable',
    steps: [step('management.reset_bmc'), step('power.power_on')],
    acts: { reset_bmc: unknown() },
    meanwhile: decided(skipStep),
  },
  {
    story: 'clean',
    ends: 'parked-failed',
    verb: 'clean',
    from: 'manageable',
    steps: [step('management.reset_bmc')],
    acts: { reset_bmc: unknown() },
    meanwhile: decided(failOperation),
    red: true,
  },
  {
    story: 'clean',
    ends: 'succeeded-after-failure',
    verb: 'clean',
    from: 'manageable',
    steps: [{ ...step('power.power_off'), temper: { on_failure: 'continue' } }, step('power.power_on')],
    acts: { power_off: refused },
  },
  {
    story: 'service',
    ends: 'failed-step-retried',
    verb: 'service',
    from: 'active',
    steps: [{ ...step('power.power_off'), temper: { on_failure: 'park', retry: { attempts: 2 }, timeout: 600 } }],
    acts: { power_off: refusedOnce() },
    meanwhile: decided(retryStep),
  },
  {
    story: 'service',
    ends: 'paused-and-resumed',
    verb: 'service',
    from: 'active',
    steps: [step('power.hold'), step('power.power_on')],
    meanwhile: async (world, on) => {
      await world.reaches(on.run, 'waiting');
      await on.handle.executeUpdate(setPaused, { args: [{ paused: true, by: 'tester' }] });
      await message('unhold')!(world, on);
      await world.reaches(on.run, 'paused');
      await on.handle.executeUpdate(setPaused, { args: [{ paused: false, by: 'tester' }] });
    },
  },
  {
    story: 'service',
    ends: 'succeeded',
    verb: 'service',
    from: 'active',
    steps: [step('management.set_boot_device', { boot_device: 'disk' }), step('power.reboot')],
  },
  {
    story: 'service',
    ends: 'succeeded-after-hold',
    verb: 'service',
    from: 'active',
    steps: [step('power.hold'), step('power.power_on')],
    meanwhile: message('unhold'),
  },
  {
    story: 'service',
    ends: 'failed',
    verb: 'service',
    from: 'active',
    steps: [step('power.power_off')],
    acts: { power_off: refused },
    red: true,
  },
  {
    story: 'service',
    ends: 'aborted',
    verb: 'service',
    from: 'active',
    steps: [step('power.hold')],
    meanwhile: message('abort'),
  },
  { story: 'adopt', ends: 'succeeded', verb: 'adopt', from: 'manageable' },
  { story: 'adopt', ends: 'failed', verb: 'adopt', from: 'manageable', acts: { verify: refused }, red: true },
  { story: 'power', ends: 'succeeded', verb: 'power', from: 'active' },
  { story: 'power', ends: 'failed', verb: 'power', from: 'active', acts: { power_on: refused }, red: true },
];

/** Starts a scenario's run on a node made for it. */
export const begin = async (
  world: World,
  scenario: Scenario,
): Promise<{ node: NodeUuid; run: RunUuid; handle: WorkflowHandle }> => {
  const node = await world.node({
    provision_state: scenario.from,
    name: `${scenario.story}-${scenario.ends}-${world.prefix}`,
    ...scenario.node,
  });
  const order =
    scenario.verb === 'power'
      ? {
          ...(await world.order(node, 'clean')),
          verb: 'power' as const,
          story: 'power' as const,
          event: null,
          ends: null,
          target: null,
          fault: null,
          power: { target: 'rebooting' as const },
          steps: powerSteps('rebooting'),
        }
      : {
          ...(await world.order(node, scenario.verb, scenario.steps, scenario.args)),
          ...(scenario.limit && { limit: scenario.limit }),
        };
  const { run } = await (scenario.timing ? world.runsWith(scenario.timing) : world.runs).start(order);
  return { node, run, handle: world.client.workflow.getHandle(workflowId(node, scenario.verb, run)) };
};
