/** Ramdisks lost during an act: silent with their host gone, or replaced at their address. */
import type { Queries } from '../inventory';
import { isTemperError, TemperError } from '../model/errors';
import type { NodeUuid } from '../model/ids';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { ActName } from '../model/lifecycle/steps';
import { actRow, nameOf } from '../model/lifecycle/steps';
import type { RunObserved, Timing } from '../model/runs/runs';

export type Talk = {
  answered(): void;
  /** Since the last response, or since the attempt began. */
  silentMs(): number;
};

/** @param note called at the first response, best effort */
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
  /** A command may have been sent, in any attempt. */
  readonly mayHaveLeft: () => Promise<boolean>;
  /** The token came with the boot image, so no lookup issues one, not even after the next boot. */
  readonly broughtToken: () => Promise<boolean>;
};

const fiveMinutes = 5 * 60_000;

// DSP0268, ComputerSystem BootProgress.LastState: with these an operating system is about to run, or runs.
const running: readonly string[] = ['OSBootStarted', 'OSRunning', 'OEM'];

/** Proof that the ramdisk no longer runs; undefined if there is none. */
const proofOf = (seen: RunObserved | undefined): string | undefined => {
  if (seen?.power_state === 'power off') return 'the node is powered off';
  const progress = seen?.boot_progress;
  return progress !== undefined && progress !== 'None' && !running.includes(progress)
    ? `the node is restarting (${progress})`
    : undefined;
};

// A BMC cannot distinguish a hung host from a network failure, so the timeout doubles without proof.
const withoutProof = (seen: RunObserved | undefined): string =>
  seen?.power_state === 'power on' ? 'the node is powered on, and nothing else' : 'nothing: it did not answer either';

// Errors for another self-signed certificate: Node.js, tls, X509 certificate error codes; and those of contactOf.
const anotherCertificate: readonly unknown[] = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_NOT_PINNED'];

/**
 * Another certificate at the ramdisk's address. It is created at boot, so the machine was reset, or another machine has the address.
 * Neither is trusted.
 */
const isReplaced = (thrown: unknown, { agent }: Search['node']): boolean =>
  isTemperError(thrown, 'AgentTlsFailed') &&
  typeof agent?.verify_ca === 'string' &&
  anotherCertificate.includes(thrown.facts.reason);

/** StepOutcomeUnknown if the act must not run twice and may have begun, otherwise AgentGone. */
const goneFrom = async ({ node, step, act, mayHaveLeft }: Search, seen: string): Promise<TemperError> => {
  const facts = { node: node.name ?? node.uuid, step: nameOf(step), seen };
  const error = new TemperError('AgentGone', facts);
  return actRow(act).effect === 'once' && (await mayHaveLeft())
    ? new TemperError('StepOutcomeUnknown', { ...facts, reason: error.message })
    : error;
};

/**
 * Converts the failure to AgentGone, or StepOutcomeUnknown if the act must not run twice and may have begun.
 * Requires a long silence with the host gone, a deleted record, or a replaced ramdisk. Otherwise the failure stays.
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
  // The token was deleted with the record, so the API rejects this ramdisk's requests.
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
