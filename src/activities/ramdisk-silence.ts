/** A ramdisk that is lost in the middle of an act: silent, and its host gone by what the BMC shows, or another one at its address. */
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
  readonly node: {
    readonly uuid: NodeUuid;
    readonly name: string | null;
    readonly agent?: { readonly verify_ca: string | null };
  };
  readonly step: PlannedStep;
  readonly act: ActName;
  readonly timing: Timing;
  readonly talk: Talk;
  /** A look at power and start through the BMC; undefined where the BMC does not say. */
  readonly look: () => Promise<RunObserved | undefined>;
  /** Whether a command of the act may have left, in this attempt or another. */
  readonly mayHaveLeft: () => Promise<boolean>;
  /** Whether the ramdisk had its token from its boot image, so that no lookup hands one out at its next boot either. */
  readonly broughtToken: () => Promise<boolean>;
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

// What a self-signed certificate other than the announced one fails with: Node.js, tls, X509 certificate error codes; and contactOf's own.
const anotherCertificate: readonly unknown[] = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_NOT_PINNED'];

/**
 * Whether what answers at the ramdisk's address is not the ramdisk that announced its certificate. A ramdisk makes one as it
 * starts, so that this is what a machine shows that was reset; so does any other that has its address. Neither is believed.
 */
const isReplaced = (thrown: unknown, { agent }: Search['node']): boolean =>
  isTemperError(thrown, 'AgentTlsFailed') &&
  typeof agent?.verify_ca === 'string' &&
  anotherCertificate.includes(thrown.facts.reason);

/** AgentGone, or StepOutcomeUnknown where the act must not be done twice and may have been begun. */
const goneFrom = async ({ node, step, act, mayHaveLeft }: Search, seen: string): Promise<TemperError> => {
  const facts = { node: node.name ?? node.uuid, step: nameOf(step), seen };
  const error = new TemperError('AgentGone', facts);
  return actRow(act).effect === 'once' && (await mayHaveLeft())
    ? new TemperError('StepOutcomeUnknown', { ...facts, reason: error.message })
    : error;
};

/**
 * What an attempt's failure amounts to: AgentGone, or StepOutcomeUnknown where the act must not be done twice and may have been begun, once the ramdisk
 * has been silent for long enough and its host is gone, or at once where it is not on record any more or another has its place; otherwise
 * the failure as it is. What follows AgentGone is another boot, with a token and a certificate of its own.
 */
export const searched = async (thrown: unknown, search: Search): Promise<unknown> => {
  if (isReplaced(thrown, search.node))
    return actRow(search.act).startsOver && (await search.broughtToken())
      ? goneFrom(search, 'its address shows another certificate, as after a reset of its machine')
      : thrown;
  if (!isTemperError(thrown, 'AgentUnreachable')) return thrown;
  const { agents, node, act, timing, talk, look } = search;
  const silentMs = await agents.silent(node.uuid, talk.silentMs());
  const limitMs = timing.agentSilenceMs ?? fiveMinutes;
  const once = actRow(act).effect === 'once';
  const gone = (seen: string) => goneFrom(search, seen);
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
