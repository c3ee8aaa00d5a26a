/** What every driver promises, whatever is behind it: reach the goal, send once, survive a kill, stop when asked. */
import type { ActContext, BmcNode, Driver } from '../../src/bmc/contract';
import { isTemperError } from '../../src/model/errors';
import { type ActName, actRow, acts } from '../../src/model/lifecycle/steps';
import type { Timing } from '../../src/model/runs/runs';
import { contextWith, type Intents, intentsOf } from './support/context';
import type { Relay } from './support/relay';

export type Bench = {
  readonly driver: Driver;
  readonly node: BmcNode;
  readonly timing?: Timing;
  /** In front of the BMC; null for a driver that has none. */
  readonly proxy: Pick<Relay, 'writes' | 'onAnswer'> | null;
  /** BIOS settings that differ from what is there, in the shape of the step table. */
  readonly settings: readonly { name: string; value: unknown }[];
  /** Where this BMC cannot show that a command was carried out: how many a kill may lead to, instead of what the case says. */
  readonly commands?: Partial<Record<ActName, number>>;
  /** An image that the BMC can take. */
  readonly image: string;
  close(): Promise<void>;
};

type Args = Readonly<Record<string, unknown>>;
type Case = {
  readonly args?: (bench: Bench) => Args;
  /** Acts that bring the BMC to where this one has something to do. */
  readonly before?: readonly (readonly [ActName, (bench: Bench) => Args])[];
  /** How many commands a kill may lead to at most; default 1. */
  readonly commands?: number;
  /** Cannot always be seen from outside whether it was carried out; then it must say so instead of repeating it. */
  readonly mayBeUnknown?: true;
};

const none = () => ({});
const media = (bench: Bench) => ({ image_url: bench.image });

const cases: Partial<Record<ActName, Case>> = {
  power_on: {},
  power_off: { before: [['power_on', none]] },
  soft_power_off: { before: [['power_on', none]] },
  set_boot_device: { args: () => ({ boot_device: 'pxe' }) },
  // Where the new mode shows only after the next boot, a repeated PATCH is the same statement again.
  set_boot_mode: { args: () => ({ boot_mode: 'bios' }), commands: 2 },
  set_secure_boot: { args: () => ({ enabled: true }) },
  reset_secure_boot_keys: { mayBeUnknown: true },
  clear_secure_boot_keys: { mayBeUnknown: true },
  stage_bios: { args: ({ settings }) => ({ settings }) },
  stage_bios_reset: {
    before: [
      ['stage_bios', ({ settings }) => ({ settings })],
      ['power_on', none],
      ['confirm_bios', ({ settings }) => ({ settings })],
    ],
    mayBeUnknown: true,
  },
  insert_media: { args: media },
  eject_media: { before: [['insert_media', media]] },
  set_indicator: { args: () => ({ state: 'blinking' }) },
  reset_bmc: { mayBeUnknown: true },
  create_subscription: { args: () => ({ destination: 'https://events.example.org/x', context: 'contract' }) },
};

/**
 * `lacks`: acts that this BMC does not offer, with the reason; each must then be refused as such.
 * `foreign`: acts that the driver does not have at all, because no step of its hardware type needs them.
 * `concurrently`: several tests at a time, where each has a BMC to itself and waits for it most of the time.
 */
export const driverContract = (
  name: string,
  setUp: () => Promise<Bench>,
  lacks: Partial<Record<ActName, string>> = {},
  foreign: readonly ActName[] = [],
  { concurrently = false }: { readonly concurrently?: boolean } = {},
): void => {
  const testAct = concurrently ? test.concurrent : test;
  const run = (bench: Bench, act: ActName, args: Args, intents: Intents, more: Partial<ActContext> = {}) =>
    bench.driver.acts[act]!(
      bench.node,
      args,
      contextWith(intents, { ...(bench.timing ? { timing: bench.timing } : {}), ...more }),
    );

  const withBench = async (act: ActName, body: (bench: Bench, args: Args) => Promise<void>, prepare = true) => {
    const bench = await setUp();
    try {
      const row = cases[act] ?? {};
      for (const [first, args] of prepare ? (row.before ?? []) : [])
        await run(bench, first, args(bench), intentsOf(first));
      await body(bench, row.args?.(bench) ?? {});
    } finally {
      await bench.close();
    }
  };
  const commands = (bench: Bench): number => bench.proxy?.writes().length ?? 0;

  describe(`driver contract: ${name}`, () => {
    testAct('verify reports the power state', () =>
      withBench('verify', async (bench) => {
        const outcome = await run(bench, 'verify', {}, intentsOf('verify'));
        expect(['power on', 'power off']).toContain(outcome.seen?.power_state);
        expect(commands(bench)).toBe(0);
      }),
    );

    testAct('every act of the table is there, or named as lacking', async () => {
      const bench = await setUp();
      // What the ramdisk does is no driver's.
      const wanted = (Object.keys(acts) as ActName[]).filter((act) => actRow(act).by !== 'agent' && !lacks[act]);
      const missing = wanted.filter((act) => !bench.driver.acts[act]);
      await bench.close();
      expect(missing).toEqual([...foreign]);
    });

    for (const [act, reason] of Object.entries(lacks) as [ActName, string][])
      testAct(`${act} is refused as not offered: ${reason}`, () =>
        withBench(
          act,
          async (bench, args) => {
            const refused = await run(bench, act, args, intentsOf(act)).catch((error: unknown) => error);
            expect(isTemperError(refused) && refused.code).toBe('BmcUnsupported');
            expect(commands(bench)).toBe(0);
          },
          false,
        ),
      );

    const offered = (Object.keys(cases) as ActName[]).filter((act) => !lacks[act] && !foreign.includes(act));

    testAct.each(offered)('%s run twice sends its command once', (act) =>
      withBench(act, async (bench, args) => {
        const intents = intentsOf(act);
        const before = commands(bench);
        expect(await run(bench, act, args, intents)).toMatchObject({ is: 'done' });
        expect(await run(bench, act, args, intents, { attempt: 2 })).toMatchObject({ is: 'done' });
        expect(commands(bench) - before).toBe(bench.proxy ? 1 : 0);
      }),
    );

    testAct.each(offered)(
      '%s killed after its command was accepted is finished by the next attempt without a second one',
      (act) =>
        withBench(act, async (bench, args) => {
          const { proxy } = bench;
          if (!proxy) return; // Nothing to be killed in the middle of: a driver without BMC sends nothing.
          const intents = intentsOf(act);
          const before = commands(bench);
          const worker = new AbortController();
          proxy.onAnswer = () => {
            if (commands(bench) === before) return undefined;
            worker.abort(new Error('killed'));
            return 'cut';
          };
          await expect(run(bench, act, args, intents, { signal: worker.signal })).rejects.toThrow('killed');
          proxy.onAnswer = undefined;
          const again = await run(bench, act, args, intents, { attempt: 2 }).catch((error: unknown) => error);
          if (cases[act]?.mayBeUnknown && isTemperError(again)) expect(again.code).toBe('StepOutcomeUnknown');
          else expect(again).toMatchObject({ is: 'done' });
          expect(commands(bench) - before).toBeGreaterThanOrEqual(1);
          expect(commands(bench) - before).toBeLessThanOrEqual(bench.commands?.[act] ?? cases[act]?.commands ?? 1);
        }),
    );

    testAct('an act stops at once when its activity must stop', () =>
      withBench('verify', async (bench) => {
        const signal = AbortSignal.abort(new Error('stop'));
        await expect(run(bench, 'power_on', {}, intentsOf('power_on'), { signal })).rejects.toThrow('stop');
        expect(commands(bench)).toBe(0);
      }),
    );
  });
};
