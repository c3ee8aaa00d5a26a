/** fake-hardware: acts on the node's record, for demonstrations, load and tests. */
import { raise } from '../../model/errors';
import type { ActName } from '../../model/lifecycle/steps';
import { bootDevices, acts as known } from '../../model/lifecycle/steps';
import type { ActOutcome, RunObserved } from '../../model/runs/runs';
import type { Act, BmcNode, Driver } from '../contract';
import { pause } from '../wait';

type FakeArgs = Readonly<Record<string, unknown>>;

const bootMode = (value: unknown): RunObserved['boot_mode'] => (value === 'bios' || value === 'uefi' ? value : null);

const recorded = (node: BmcNode): RunObserved => ({
  power_state: node.power_state === 'power on' ? 'power on' : 'power off',
  boot_mode: bootMode(node.boot_mode),
  secure_boot: node.secure_boot,
  vendor: 'fake',
  health: 'OK',
});

/** Other acts change no record. */
const effects: Partial<Record<ActName, (args: FakeArgs, node: BmcNode) => RunObserved>> = {
  verify: (_, node) => recorded(node),
  power_on: () => ({ power_state: 'power on' }),
  power_off: () => ({ power_state: 'power off' }),
  soft_power_off: () => ({ power_state: 'power off' }),
  set_boot_mode: (args) => ({ boot_mode: bootMode(args.boot_mode) }),
  set_secure_boot: (args) => ({ secure_boot: args.enabled === true }),
};

/** Constant answers to looks without a record. */
const looks: Partial<Record<ActName, unknown>> = {
  read_boot_device: { boot_device: 'pxe', persistent: false },
  list_boot_devices: { supported_boot_devices: bootDevices },
  read_indicators: [{ component: 'system', name: 'led', state: 'off', readonly: false, states: ['on', 'off'] }],
};

const delayOf = (node: BmcNode, usual: number): number => {
  const ms = Number(node.driver_info.fake_delay_ms ?? usual);
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
};

/** Beats every second, which any heartbeat limit allows. */
const pretend = async (ms: number, beat: () => void, signal: AbortSignal): Promise<void> => {
  const slice = 1_000;
  for (let left = ms; left > 0; left -= slice) {
    beat();
    await pause(Math.min(left, slice), signal);
  }
};

const fakeAct =
  (name: ActName, usualDelayMs: number): Act =>
  async (node, args, context): Promise<ActOutcome> => {
    const { says } = known[name];
    context.signal.throwIfAborted();
    await pretend(delayOf(node, usualDelayMs), () => context.beat({ what: says, doing: 'pretending' }), context.signal);
    if (node.driver_info.fake_fails === name)
      raise('StepRejected', { node: node.name ?? node.uuid, step: name, reason: 'driver_info fake_fails names it' });
    context.log.info('pretended an act', { node_uuid: node.uuid, act: name });
    const seen = effects[name]?.(args, node);
    const value = looks[name];
    return { is: 'done', note: `pretended to ${says}`, ...(seen && { seen }), ...(value !== undefined && { value }) };
  };

/** @param delayMs duration of acts on nodes without fake_delay_ms */
export const createFakeDriver = ({ delayMs = 0 }: { delayMs?: number } = {}): Driver => ({
  name: 'fake-hardware',
  laneKey: () => null,
  acts: Object.fromEntries((Object.keys(known) as ActName[]).map((name) => [name, fakeAct(name, delayMs)])),
  close: async () => undefined,
});
