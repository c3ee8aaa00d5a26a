/** What the activities room would hand to an act: intents that survive a "killed" attempt, small timing, a quiet log. */
import { randomUUID } from 'node:crypto';
import type { ActContext, BmcNode, Intent } from '../../../src/bmc/contract';
import type { NodeUuid, RunUuid } from '../../../src/model/ids';
import type { ActName } from '../../../src/model/lifecycle/steps';
import type { Timing } from '../../../src/model/runs/runs';

export const quickTiming: Timing = { powerTimeoutMs: 15_000, softPowerTimeoutMs: 15_000, settleMs: 400, pollMs: 10 };

/** Emulated BMCs do not mind being asked quickly. */
export const hasty = { courtesy: { spacingMs: 0, afterWriteMs: 0, loginSpacingMs: 0 } };

export const quiet = { info: () => undefined, warn: () => undefined };

export const nodeWith = (driver: string, driver_info: Record<string, unknown>): BmcNode => ({
  uuid: randomUUID() as NodeUuid,
  name: null,
  driver,
  driver_info,
  properties: {},
  power_state: null,
  boot_mode: null,
  secure_boot: null,
});

/** The intents of one act of one step: as in a store, keys may come back in another order. */
export const intentsOf = (act: ActName) => {
  const kept: Intent[] = [];
  const reordered = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, inner]) => [key, reordered(inner)]),
        )
      : value;
  return {
    kept,
    last: async () => kept.at(-1),
    record: async (detail: Readonly<Record<string, unknown>>) => {
      const stored = reordered(JSON.parse(JSON.stringify(detail))) as Record<string, unknown>;
      kept.push({ act, sent_at: new Date().toISOString(), at: performance.now(), detail: stored });
    },
    renew: async () => undefined,
  };
};

export type Intents = ReturnType<typeof intentsOf>;

export const contextWith = (intents: Intents, more: Partial<ActContext> = {}): ActContext => ({
  run: randomUUID() as RunUuid,
  attempt: 1,
  signal: new AbortController().signal,
  beat: () => undefined,
  intents,
  mayStillSend: () => true,
  timing: quickTiming,
  log: quiet,
  ...more,
});
