/** A ramdisk that falls silent in the middle of an act: for how long, and whether its host still runs, which only the BMC shows. */
import type { Queries } from '../inventory';
import { isTemperError, TemperError } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import { actRow, nameOf } from '../model/lifecycle/steps';
import type { RunObserved, Timing } from '../model/runs/runs';

/** One attempt's talk with a ramdisk. */
export type Talk = {
  /** The ramdisk has answered a request. */
  answered(): void;
  /** For how long it has not, in milliseconds: since its last answer, or since the attempt began. */
  silentMs(): number;
};

/** @param note called with the first answer of the attempt, best effort */
export const startTalk = (note: () => Promise<void>): Talk => {
  let since = performance.now();
  let first = true;
  return {
    answered() {
      since = performance.now();
      if (first) void note().catch(() => {});
      first = false;
    },
    silentMs: () => performance.now() - since,
  };
};

export type Search = {
  readonly agents: Pick<Queries['agents'], 'silent'>;
  readonly node: { readonly uuid: NodeUuid; readonly name: string | null };
  readonly step: PlannedStep;
  readonly act: ActName;
  readonly timing: Timing;
  readonly talk: Talk;
  /** A look at power and start through the BMC; undefined where the BMC does not say. */
  readonly look: () => Promise<RunObserved | undefined>;
  /** Whether a command of the act may have left, in this attempt or another. */
  readonly mayHaveLeft: () => Promise<boolean>;
};

const fiveMinutes = 5 * 60_000;

// DSP0268, ComputerSystem BootProgress.LastState: with these an operating system is about to run, or runs.
const running: readonly string[] = ['OSBootStarted', 'OSRunning', 'OEM'];

/** What proves that the ramdisk's host no longer runs it; undefined where nothing does. */
const proofOf = (seen: RunObserved | undefined): string | undefined => {
  if (seen?.power_state === 'power off') return 'the node is powered off';
  const progress = seen?.boot_progress;
  return progress !== undefined && progress !== 'None' && !running.includes(progress)
    ? `the node is starting anew (${progress})`
    : undefined;
};

// A BMC cannot distinguish a host that hangs from one whose network is away: such silence is waited out for as long once more.
const withoutProof = (seen: RunObserved | undefined): string =>
  seen?.power_state === 'power on' ? 'the node is powered on, and nothing else' : 'nothing: it did not answer either';

/**
 * What an attempt's failure amounts to: AgentGone, or StepOutcomeUnknown where the act must not be done twice and may have been begun, once the ramdisk
 * has been silent for long enough and its host is gone, or at once where it is not on record any more; otherwise the failure as it is.
 */
export const searched = async (thrown: unknown, search: Search): Promise<unknown> => {
  if (!isTemperError(thrown, 'AgentUnreachable')) return thrown;
  const { agents, node, step, act, timing, talk, look, mayHaveLeft } = search;
  const silentMs = await agents.silent(node.uuid, talk.silentMs());
  const limitMs = timing.agentSilenceMs ?? fiveMinutes;
  const once = actRow(act).effect === 'once';
  const gone = async (seen: string): Promise<TemperError> => {
    const facts = { node: node.name ?? node.uuid, step: nameOf(step), seen };
    const error = new TemperError('AgentGone', facts);
    return once && (await mayHaveLeft())
      ? new TemperError('StepOutcomeUnknown', { ...facts, reason: error.message })
      : error;
  };
  // Its token went with its record: nothing that it says is taken any more, and the next one looks the node up anew.
  if (silentMs === undefined) return gone('it is not on record any more');
  if (silentMs < limitMs) return thrown;
  const seen = await look();
  const proof = proofOf(seen);
  if (proof === undefined && (once || silentMs < 2 * limitMs)) return thrown;
  const minutes = Math.round(silentMs / 6_000) / 10;
  return gone(
    `it has sent neither an answer nor a heartbeat for ${minutes} min, and the BMC shows that ${proof ?? withoutProof(seen)}`,
  );
};
