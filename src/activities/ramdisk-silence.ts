/** Ramdisks lost during an act: silent with a host that is gone according to the BMC, or replaced at their address. */
import type { Queries } from '../inventory';
import { isTemperError, TemperError } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import { actRow, nameOf } from '../model/lifecycle/steps';
import type { RunObserved, Timing } from '../model/runs/runs';

/** Contact of one attempt with a ramdisk. */
export type Talk = {
  /** Records a response. */
  answered(): void;
  /** Milliseconds since its last response, or since the attempt began. */
  silentMs(): number;
};

/** @param note called at the first response of the attempt, best effort */
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
  /** Power and boot state from the BMC; undefined if unknown. */
  readonly look: () => Promise<RunObserved | undefined>;
  /** True if a command of the act may have been sent, in any attempt. */
  readonly mayHaveLeft: () => Promise<boolean>;
  /** True if the token came with the boot image. Then no lookup issues a token, not even after the next boot. */
  readonly broughtToken: () => Promise<boolean>;
};

const fiveMinutes = 5 * 60_000;

// DSP0268, ComputerSystem BootProgress.LastState: with these an operating system is about to run, or runs.
const running: readonly string[] = ['OSBootStarted', 'OSRunning', 'OEM'];

/** Proof that the host no longer runs the ramdisk; undefined if there is none. */
const proofOf = (seen: RunObserved | undefined): string | undefined => {
  if (seen?.power_state === 'power off') return 'the node is powered off';
  const progress = seen?.boot_progress;
  return progress !== undefined && progress !== 'None' && !running.includes(progress)
    ? `the node is starting anew (${progress})`
    : undefined;
};

// A BMC cannot distinguish a hung host from a network failure. Without proof, the timeout doubles.
const withoutProof = (seen: RunObserved | undefined): string =>
  seen?.power_state === 'power on' ? 'the node is powered on, and nothing else' : 'nothing: it did not answer either';

// Errors for a self-signed certificate other than the announced one: Node.js, tls, X509 certificate error codes; and those of contactOf.
const anotherCertificate: readonly unknown[] = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_NOT_PINNED'];

/**
 * True if another certificate is at the ramdisk's address. A ramdisk creates its certificate at boot, so the machine was reset,
 * or another machine has the address. Neither is trusted.
 */
const isReplaced = (thrown: unknown, { agent }: Search['node']): boolean =>
  isTemperError(thrown, 'AgentTlsFailed') &&
  typeof agent?.verify_ca === 'string' &&
  anotherCertificate.includes(thrown.facts.reason);

/** AgentGone; StepOutcomeUnknown if the act must not run twice and may have begun. */
const goneFrom = async ({ node, step, act, mayHaveLeft }: Search, seen: string): Promise<TemperError> => {
  const facts = { node: node.name ?? node.uuid, step: nameOf(step), seen };
  const error = new TemperError('AgentGone', facts);
  return actRow(act).effect === 'once' && (await mayHaveLeft())
    ? new TemperError('StepOutcomeUnknown', { ...facts, reason: error.message })
    : error;
};

/**
 * Converts the failure of an attempt to AgentGone, or to StepOutcomeUnknown if the act must not run twice and may have begun.
 * That requires a long silence and a host that is gone, a deleted record, or a replaced ramdisk. Otherwise the failure stays.
 * AgentGone leads to another boot with a new token and certificate.
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
  // The token was deleted with the record: the API rejects this ramdisk's requests, and the next ramdisk does a lookup.
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
