/** Intents of acts: announced before a command leaves, confirmed when it was accepted, withdrawn when it was refused. */
import { isDeepStrictEqual } from 'node:util';
import { type Facts, raise } from '../model/errors';
import type { ActContext, Intent } from './contract';

/** A standing announcement: the command may have been sent at `sentAt`, milliseconds of this process's monotonic clock. */
export type Announced = {
  readonly sentAt: number;
  /** What was seen before the command was sent, to recognise a change. */
  readonly before: unknown;
  /** The BMC is known to have said yes. */
  readonly accepted: boolean;
};

/** Stores may reorder keys, so compare deeply. Only an intent for this very goal counts, and none whose command is known to have been refused. */
export const standing = (intent: Intent | undefined, desired: unknown): Announced | undefined =>
  intent && intent.detail.withdrawn !== true && isDeepStrictEqual(intent.detail.desired, desired)
    ? {
        sentAt: intent.at,
        before: intent.detail.before,
        accepted: intent.detail.accepted === true,
      }
    : undefined;

export type Announcements = {
  last(): Promise<Announced | undefined>;
  /** Must be awaited before the command leaves. */
  announce(before: unknown): Promise<Announced>;
  /** So that a later attempt need not ask whether the command arrived. */
  confirm(announced: Announced): Promise<Announced>;
  /** So that a later attempt need not wait for a command that never took effect. */
  withdraw(): Promise<void>;
};

/** `desired` is JSON without secrets. */
export const announcements = (
  { intents }: Pick<ActContext, 'intents'>,
  desired: Readonly<Record<string, unknown>>,
): Announcements => ({
  last: async () => standing(await intents.last(), desired),
  async announce(before) {
    await intents.record({ desired, before });
    return { sentAt: performance.now(), before, accepted: false };
  },
  async confirm(announced) {
    await intents.record({ desired, before: announced.before, accepted: true });
    return { ...announced, accepted: true };
  },
  withdraw: () => intents.record({ desired, withdrawn: true }),
});

/**
 * To be asked before a command that may harm when done twice is announced. Throws StepOutcomeUnknown where it may have left
 * before the database was set back to a backup.
 */
export const refuseIfOutcomeUnknown = ({
  context: { doubted, step },
  facts,
}: {
  readonly context: Pick<ActContext, 'doubted' | 'step'>;
  facts(more?: Facts): Facts;
}): void => {
  if (!doubted) return;
  const reason = 'it may have been sent since the backup that the database was restored from';
  raise('StepOutcomeUnknown', facts({ step: step ? `${step.interface}.${step.step}` : 'the command', reason }));
};
