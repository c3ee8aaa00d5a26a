/** Intents of acts: recorded before a command is sent, confirmed when the BMC accepts it, withdrawn when it refuses. */
import { isDeepStrictEqual } from 'node:util';
import { type Facts, raise } from '../model/errors';
import type { ActContext, Intent } from './contract';

/** An announced command. `sentAt` is in milliseconds of this process's monotonic clock. */
export type Announced = {
  readonly sentAt: number;
  /** State before the command, to recognise a change. */
  readonly before: unknown;
  readonly accepted: boolean;
};

/** PostgreSQL may reorder keys, so the comparison is deep. Withdrawn intents and those for another goal do not count. */
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
  /** Must be awaited before the command is sent. */
  announce(before: unknown): Promise<Announced>;
  /** A later attempt need not check then if the command arrived. */
  confirm(announced: Announced): Promise<Announced>;
  /** A later attempt need not wait then for a command without effect. */
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
 * Call it for commands that may do harm when sent twice. Throws StepOutcomeUnknown if the command may have been sent after the backup
 * that the database was restored from.
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
