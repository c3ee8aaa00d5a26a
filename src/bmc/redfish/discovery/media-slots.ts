/** Virtual media slots: search, insert and eject. */
import { raise } from '../../../model/errors';
import type { mediaTypes } from '../../../model/lifecycle/steps';
import { asksForEmptyBody, respelled } from '../../quirks';
import type { Client, Sent } from '../transport/client';
import { messageTextOf } from '../transport/replies';
import { findSystem, managerPaths, membersOf } from './discovery';
import { Manager, VirtualMedia } from './resources';

export type Slot = {
  readonly path: string;
  readonly media: VirtualMedia;
  readonly byPatch: boolean;
};

export type MediaType = (typeof mediaTypes)[number];

/** Accepted media types, best first. A DVD drive takes a CD. */
const accepts: Readonly<Record<MediaType, readonly string[]>> = {
  cdrom: ['CD', 'DVD'],
  disk: ['USBStick'],
  floppy: ['Floppy'],
};

export const readSlot = async (client: Client, path: string): Promise<Slot> => {
  const { value: media, headers } = await client.get(path, VirtualMedia);
  const byPatch =
    media.Actions?.['#VirtualMedia.InsertMedia'] === undefined && /\bPATCH\b/.test(headers.allow ?? 'PATCH');
  return { path, media, byPatch };
};

/** System and managers may list the same drive. */
export const findSlots = async (client: Client): Promise<Slot[]> => {
  const { value: system } = await (await findSystem(client)).look();
  const places = [system.VirtualMedia?.['@odata.id']];
  for (const path of await managerPaths(client, system))
    places.push((await client.find(path, Manager))?.value.VirtualMedia?.['@odata.id']);
  const paths = (await Promise.all(places.map((place) => membersOf(client, place)))).flat();
  const slots: Slot[] = [];
  for (const path of new Set(paths)) slots.push(await readSlot(client, path));
  return slots.length > 0 ? slots : raise('BmcUnsupported', client.facts({ what: 'virtual media' }));
};

export const takes = ({ media }: Slot, type: MediaType): boolean =>
  (media.MediaTypes ?? []).some((name) => accepts[type].includes(name));

/** Usable slots in the order of trial. */
export const slotsFor = (client: Client, slots: readonly Slot[], type: MediaType): Slot[] => {
  const rank = ({ media }: Slot) => accepts[type].findIndex((name) => media.MediaTypes?.includes(name));
  const usable = (slot: Slot) => slot.byPatch || slot.media.Actions?.['#VirtualMedia.InsertMedia'] !== undefined;
  const found = slots.filter((slot) => takes(slot, type) && usable(slot)).sort((a, b) => rank(a) - rank(b));
  return found.length > 0 ? found : raise('BmcUnsupported', client.facts({ what: `a virtual ${type} drive` }));
};

const mostTries = 4;

export const insertInto = async (client: Client, slot: Slot, url: string, what: string): Promise<Sent> => {
  if (slot.byPatch) return client.patch(slot.path, { Image: url, Inserted: true, WriteProtected: true }, what);
  const { target } = slot.media.Actions!['#VirtualMedia.InsertMedia']!;
  let body: Readonly<Record<string, unknown>> = { Image: url };
  let sent = await client.post(target, body, what);
  for (let tries = 1; tries < mostTries && sent.is === 'refused'; tries += 1) {
    const next = respelled('insert media', body, messageTextOf(sent.reply), url);
    // A BMC that refuses the property it required would cause a loop.
    if (Object.keys(next).length <= Object.keys(body).length) break;
    body = next;
    sent = await client.post(target, body, what);
  }
  return sent;
};

/** Most BMCs take no body; some require an empty one. */
export const ejectFrom = async (client: Client, slot: Slot, what: string): Promise<Sent> => {
  const target = slot.media.Actions?.['#VirtualMedia.EjectMedia']?.target;
  if (target === undefined) return client.patch(slot.path, { Image: null, Inserted: false }, what);
  const sent = await client.post(target, undefined, what);
  return sent.is === 'refused' && asksForEmptyBody('eject media', sent.reply.status)
    ? client.post(target, {}, what)
    : sent;
};
