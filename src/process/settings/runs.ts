/** Settings of runs: time limits of acts. */
import { milliseconds } from './kinds';

export const timing = {
  TEMPER_POWER_TIMEOUT_MS: milliseconds.default(120_000).describe('How long a node may take to reach a power state.'),
  TEMPER_SOFT_POWER_TIMEOUT_MS: milliseconds
    .default(600_000)
    .describe('How long a system may take to shut itself down.'),
  TEMPER_SETTLE_MS: milliseconds
    .default(30_000)
    .describe('How long a sent command counts as under way before it may be sent again.'),
  TEMPER_AGENT_TIMEOUT_MS: milliseconds
    .default(1_800_000)
    .describe('How long a run waits for the ramdisk to call back.'),
  TEMPER_AGENT_SILENCE_MS: milliseconds
    .default(300_000)
    .describe(
      'How long a ramdisk may be silent during an act, without answer or heartbeat, before it is looked for through the BMC. Longer than the time between two of its heartbeats.',
    ),
  TEMPER_POLL_MS: milliseconds
    .default(1_000)
    .describe('First pause between two looks at a BMC; doubles up to eightfold.'),
  TEMPER_ABORT_TIMEOUT_MS: milliseconds
    .default(120_000)
    .describe('How long an abort waits for a command that has left, and then for what tidies up.'),
  TEMPER_HEARTBEAT_MS: milliseconds
    .default(20_000)
    .describe('How long a silent worker is trusted before its act is given to another.'),
  TEMPER_RETRY_MS: milliseconds
    .default(2_000)
    .describe('Pause before the second attempt of an act; doubles up to a minute.'),
};
