/** The acts of a node's ramdisk as the contract tries them: what each is, and one of them on a fresh ramdisk. */
import { isTemperError } from '../../../src/model/errors';
import type { ActName } from '../../../src/model/lifecycle/steps';
import type { ActOutcome } from '../../../src/model/runs/runs';
import { type Intents, intentsOf } from './context';
import { inStep, type RamdiskBench } from './ramdisk';

type Bench = Awaited<ReturnType<RamdiskBench['bench']>>;

export type Case = {
  /** The command behind the act, as the ramdisk's journal names it. */
  readonly command: string;
  readonly args?: Record<string, unknown>;
  readonly info?: Record<string, unknown>;
  readonly more?: Parameters<Bench['run']>[2];
  /** Only asks: no intent, and asking again is harmless. */
  readonly asks?: true;
  /** Whether the ramdisk works on after it has answered; otherwise there is no middle to be killed in. */
  readonly works?: true;
  /** Its result is not waited for: the BMC makes sure afterwards. */
  readonly unjudged?: true;
  /** What a result that does not fit amounts to; where absent, nothing of the result is used. */
  readonly misfit?: string;
};

const image = {
  image_source: 'https://images.example.org/debian.qcow2',
  image_os_hash_algo: 'sha512',
  image_os_hash_value: 'ab'.repeat(64),
};
export const secret = '$5$salt$a-hash-that-nobody-may-read';

export const cases: Partial<Record<ActName, Case>> = {
  agent_steps: {
    command: 'clean.get_clean_steps',
    more: { kind: 'clean' },
    asks: true,
    misfit: 'AgentServerError',
  },
  agent_step: {
    command: 'clean.execute_clean_step',
    more: inStep('erase_devices'),
    works: true,
    misfit: 'StepOutcomeUnknown',
  },
  agent_write_image: { command: 'standby.prepare_image', info: image, works: true },
  agent_install_bootloader: { command: 'image.install_bootloader', info: image, works: true },
  agent_finalize_rescue: { command: 'rescue.finalize_rescue', args: { rescue_password: secret } },
  agent_power_off: { command: 'standby.power_off', unjudged: true },
};

/** One act on a fresh ramdisk, with intents that outlive its attempts. */
export const trialOf = async (ramdisks: RamdiskBench, act: ActName, row: Case, intents: Intents = intentsOf(act)) => {
  const bench = await ramdisks.bench(row.info);
  let attempt = 0;
  const run = (more: Parameters<Bench['run']>[2] = {}): Promise<ActOutcome> => {
    attempt += 1;
    return bench.run(act, row.args ?? {}, { ...row.more, intents, attempt, ...more });
  };
  return {
    ...bench,
    intents,
    run,
    sent: () => bench.journal().filter((command) => command === row.command).length,
    /** The error of the list that an attempt ends with. */
    failure: async (more: Parameters<Bench['run']>[2] = {}) => {
      const thrown: unknown = await run(more).catch((error: unknown) => error);
      if (!isTemperError(thrown)) throw new Error(`no error of the list: ${JSON.stringify(thrown)} ${String(thrown)}`);
      return thrown;
    },
    /** Attempts as the engine makes them: again only where the error says so. */
    finish: async (more: Parameters<Bench['run']>[2] = {}): Promise<ActOutcome> => {
      for (;;) {
        const ended = await run(more).catch((error: unknown) => error);
        if (!(ended instanceof Error)) return ended as ActOutcome;
        if (!isTemperError(ended) || !ended.retry || attempt > 5) throw ended;
      }
    },
  };
};
