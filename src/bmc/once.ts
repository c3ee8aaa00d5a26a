/** Commands that must not happen twice: sent at most once over all attempts. */
import { raise } from '../model/errors';
import { type Announced, type Announcements, announcements, refuseIfOutcomeUnknown } from './announce';
import type { Converging, Sent } from './converge';

type SendCommand = () => Promise<Sent & { readonly text?: string }>;
/** `before`: the state seen, to recognise a change. */
type Prepared = { readonly before?: unknown; readonly command: SendCommand };
type Left = { readonly announced: Announced; readonly sent: Exclude<Sent, { is: 'refused' }> & { text?: string } };

/** Announces and sends. Withdraws the intent and throws if the BMC refuses or nothing is sent. */
export const announceAndSend = async (
  client: Converging,
  intents: Announcements,
  { before = null, command }: Prepared,
): Promise<Left> => {
  const { signal } = client.context;
  signal.throwIfAborted();
  refuseIfOutcomeUnknown(client);
  const announced = await intents.announce(before);
  const sent = await command().catch(async (error: unknown) => {
    // After an abort the command may have been sent, so the intent stays.
    if (!signal.aborted) await intents.withdraw();
    throw error;
  });
  if (sent.is === 'refused') {
    await intents.withdraw();
    throw sent.error;
  }
  return { announced: sent.is === 'accepted' ? await intents.confirm(announced) : announced, sent };
};

type Once = {
  readonly what: string;
  /** Distinguishes commands of the same act; no secrets. */
  readonly desired: Readonly<Record<string, unknown>>;
  /** Checks that the command can be sent. */
  readonly prepare: () => Promise<Prepared>;
};

/**
 * For a command without a visible effect: the BMC's acceptance is the only proof. Throws StepOutcomeUnknown if no answer came.
 * @returns the BMC's message; undefined if an earlier attempt had it accepted
 */
export const sendOnce = async (client: Converging, { what, desired, prepare }: Once): Promise<string | undefined> => {
  const intents = announcements(client.context, desired);
  const unknown = (reason: string) => raise('StepOutcomeUnknown', client.facts({ step: what, reason }));
  const earlier = await intents.last();
  if (earlier?.accepted) return undefined;
  if (earlier) return unknown('it was sent in an earlier attempt and left no trace either way');
  const { sent } = await announceAndSend(client, intents, await prepare());
  return sent.is === 'unknown' ? unknown(sent.error.message) : (sent.text ?? '');
};
