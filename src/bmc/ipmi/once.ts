/** Commands that must not happen twice and leave nothing to see: sent at most once, with the BMC's own yes as the only proof. */
import { raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs';
import { announcements } from '../announce';
import type { Client } from './client';
import { lookAtPower } from './power';

type Command = {
  readonly what: string;
  readonly words: readonly string[];
  readonly note: (text: string) => string;
  readonly check?: () => Promise<void>;
};

/** Throws StepOutcomeUnknown where no answer told whether it arrived. */
const sendOnce = async (client: Client, { what, words, note, check }: Command): Promise<ActOutcome> => {
  const intents = announcements(client.context, { once: words.join(' ') });
  const unknown = (reason: string) => raise('StepOutcomeUnknown', client.facts({ step: what, reason }));
  const earlier = await intents.last();
  if (earlier?.accepted) return { is: 'done', note: what };
  if (earlier) return unknown('it was sent in an earlier attempt and left no trace either way');
  await check?.();
  client.context.signal.throwIfAborted();
  const announced = await intents.announce(null);
  const sent = await client.write(words, what).catch(async (error: unknown) => {
    if (!client.context.signal.aborted) await intents.withdraw();
    throw error;
  });
  if (sent.is === 'unknown') return unknown(sent.error.message);
  if (sent.is === 'refused') {
    await intents.withdraw();
    throw sent.error;
  }
  await intents.confirm(announced);
  return { is: 'done', note: note(sent.text ?? '') };
};

/** Throws StepRejected while the node is off. */
export const injectNmi = async (client: Client): Promise<ActOutcome> => {
  const what = 'inject a non-maskable interrupt';
  const check = async () => {
    if ((await lookAtPower(client)) === 'off')
      raise('StepRejected', client.facts({ step: what, reason: 'the node is off' }));
  };
  return sendOnce(client, { what, words: ['power', 'diag'], note: () => what, check });
};

const byte = /^(?:0x[0-9a-f]{1,2}|\d{1,3})$/i;
const maxBytes = 255;

/** The bytes of a request: network function, command, data. Throws StepRejected. */
const bytesOf = (client: Client, given: unknown): string[] => {
  const bytes = String(given ?? '')
    .trim()
    .split(/[\s,]+/);
  const good =
    bytes.length >= 2 && bytes.length <= maxBytes && bytes.every((one) => byte.test(one) && Number(one) < 256);
  if (good) return bytes;
  const reason = 'raw_bytes must be two or more bytes, such as 0x00 0x08 0x03 0x08: network function, command, data';
  return raise('StepRejected', client.facts({ step: 'vendor.send_raw', reason }));
};

/** The answer's bytes go into the note: they are all that tells what the command did. */
export const sendRaw = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const bytes = bytesOf(client, args.raw_bytes);
  return sendOnce(client, {
    what: 'send raw bytes',
    words: ['raw', ...bytes],
    note: (text) => `answered ${text.trim().replace(/\s+/g, ' ').slice(0, 300) || 'without data'}`,
  });
};
