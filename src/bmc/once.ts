/** Commands that must not happen twice: announced before they leave, and sent at most once over all attempts. */
import { raise } from '../model/errors';
import { type Announced, type Announcements, announcements, refuseIfOutcomeUnknown } from './announce';
import type { Converging, Sent } from './converge';

/** `text`: what the BMC said, where it says anything. */
type SendCommand = () => Promise<Sent & { readonly text?: string }>;
/** `before`: what was seen, to recognise a change by. */
type Prepared = { readonly before?: unknown; readonly command: SendCommand };
type Left = { readonly announced: Announced; readonly sent: Exclude<Sent, { is: 'refused' }> & { text?: string } };

/**
 * Announces a command and sends it. What the BMC has not carried out is withdrawn and thrown: its refusal, and whatever
 * `command` throws where nothing was sent.
 */
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
    // Stopped in the middle, it may have left: then the intent must stand.
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
  /** Distinguishes this command from others of the same act; no secrets. */
  readonly desired: Readonly<Record<string, unknown>>;
  /** Looks whether it can be sent at all, and makes the command. */
  readonly prepare: () => Promise<Prepared>;
};

/**
 * Sends what leaves nothing to see, with the BMC's own yes as the only proof. Throws StepOutcomeUnknown where no answer showed
 * whether it arrived. @returns what the BMC said; undefined where an earlier attempt had its yes
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
