/** Virtual media acts: insert and eject. */

import { isTemperError } from '../../../model/errors';
import type { ActOutcome } from '../../../model/runs/runs';
import { standing } from '../../announce';
import { converge } from '../../converge';
import { shortDigest } from '../../digest';
import {
  ejectFrom,
  findSlots,
  insertInto,
  type MediaType,
  readSlot,
  type Slot,
  slotsFor,
  takes,
} from '../discovery/media-slots';
import type { Client, Sent } from '../transport/client';

const holds = ({ media }: Slot): boolean => media.Inserted === true;

/** BMCs may drop credentials, change the spelling, or omit the image. */
const isImage = ({ media }: Slot, url: string): boolean => {
  const plain = (text: string) => text.trim().replace(/\/\/[^/@]*@/, '//');
  return media.Image === undefined || media.Image === '' || plain(decoded(media.Image)) === plain(decoded(url));
};

const decoded = (text: string): string => {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
};

const shownSlots = (slots: readonly Slot[]): string =>
  slots.map((slot) => `${slot.path.split('/').at(-1)} ${holds(slot) ? 'holds an image' : 'is empty'}`).join(', ');

/** Reads each drive again before its eject, because two slots may be the same drive. */
const empty = async (client: Client, paths: readonly string[]): Promise<{ sent: boolean }> => {
  const what = 'eject virtual media';
  const look = async () => {
    const slots: Slot[] = [];
    for (const path of paths) slots.push(await readSlot(client, path));
    return slots;
  };
  return converge<Slot[]>(client, {
    what,
    desired: { ejected: paths },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look,
    reached: (slots) => !slots.some(holds),
    act: async () => {
      let sent: Sent | undefined;
      for (const path of paths) {
        const slot = await readSlot(client, path);
        if (holds(slot)) sent = await ejectFrom(client, slot, what);
        if (sent && sent.is !== 'accepted') return sent;
      }
      return sent ?? { is: 'accepted', reply: { status: 204, headers: {}, body: undefined, garbled: false } };
    },
    show: shownSlots,
    again: 'now',
  });
};

/** Always ejects first: a BMC may show the old image for a while, so only an announced image counts. */
const insert = async (client: Client, slot: Slot, url: string): Promise<void> => {
  const what = 'insert virtual media';
  const desired = { image: shortDigest(url), path: slot.path };
  if (!standing(await client.context.intents.last(), desired)) await empty(client, [slot.path]);
  await converge<Slot>(client, {
    what,
    desired,
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: () => readSlot(client, slot.path),
    reached: (now, announced) => announced !== undefined && holds(now) && isImage(now, url),
    act: async (now) => {
      const ejected = holds(now) ? await ejectFrom(client, now, what) : undefined;
      return ejected && ejected.is !== 'accepted' ? ejected : insertInto(client, now, url, what);
    },
    show: (now) => shownSlots([now]),
    again: 'now',
  });
};

/** A listed drive may refuse (remote console only); then the next is tried. */
const isNextWorthTrying = (error: unknown): boolean =>
  isTemperError(error, 'BmcUnsupported') ||
  (isTemperError(error, 'BmcRejected') && [400, 405].includes(Number(error.facts.status)));

export const insertMedia = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const type = (args.device_type ?? 'cdrom') as MediaType;
  const slots = slotsFor(client, await findSlots(client), type);
  for (const [index, slot] of slots.entries()) {
    try {
      await insert(client, slot, String(args.image_url));
      return { is: 'done', note: `image in ${slot.path.split('/').at(-1)}` };
    } catch (error) {
      if (index === slots.length - 1 || !isNextWorthTrying(error)) throw error;
    }
  }
  throw new Error('no slot'); // slotsFor never returns an empty list
};

export const ejectMedia = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const type = args.device_type as MediaType | undefined;
  const slots = (await findSlots(client)).filter((slot) => type === undefined || takes(slot, type));
  const { sent } = await empty(
    client,
    slots.map((slot) => slot.path),
  );
  return { is: 'done', note: sent ? 'ejected' : 'nothing was inserted' };
};
