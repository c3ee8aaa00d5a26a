/** Commands without a visible effect: non-maskable interrupt and raw bytes. */
import { raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs/runs';
import { sendOnce } from '../once';
import type { Client } from './client';
import { lookAtPower } from './power';

type RawCommand = {
  readonly what: string;
  readonly words: readonly string[];
  readonly note: (text: string) => string;
  readonly check?: () => Promise<void>;
};

const sendAnnounced = async (client: Client, { what, words, note, check }: RawCommand): Promise<ActOutcome> => {
  const prepare = async () => {
    await check?.();
    return { command: () => client.write(words, what) };
  };
  const text = await sendOnce(client, { what, desired: { once: words.join(' ') }, prepare });
  return { is: 'done', note: text === undefined ? what : note(text) };
};

/** Throws StepRejected while the node is off. */
export const injectNmi = async (client: Client): Promise<ActOutcome> => {
  const what = 'inject a non-maskable interrupt';
  const check = async () => {
    if ((await lookAtPower(client)) === 'off')
      raise('StepRejected', client.facts({ step: what, reason: 'the node is off' }));
  };
  return sendAnnounced(client, { what, words: ['power', 'diag'], note: () => what, check });
};

const byte = /^(?:0x[0-9a-f]{1,2}|\d{1,3})$/i;
const maxBytes = 255;

/** The bytes are network function, command, data. Throws StepRejected. */
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

/** The note has the answer's bytes, the only result. */
export const sendRaw = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const bytes = bytesOf(client, args.raw_bytes);
  return sendAnnounced(client, {
    what: 'send raw bytes',
    words: ['raw', ...bytes],
    note: (text) => `answered ${text.trim().replace(/\s+/g, ' ').slice(0, 300) || 'without data'}`,
  });
};
