/** Glance's client: images, members, and where the bytes are, as Temper's own user. */
import { z } from 'zod';
import type { ServiceSession } from '../identity';
import type { Glance, GlanceImage } from '../model/boot/glance-images';
import { raise } from '../model/errors';
import { type SessionSettings, sessionFrom } from './openstack';
import type { ControlConfig } from './settings/config';

export type GlanceSettings = SessionSettings & Pick<ControlConfig, 'TEMPER_GLANCE_IMAGES' | 'TEMPER_GLANCE_URL'>;

const timeoutMs = 10_000;

const text = z
  .string()
  .max(1_000)
  .nullish()
  .transform((value) => value ?? null);

const Image = z.object({
  id: z.string(),
  status: z.string().max(1_000),
  visibility: z.string().max(1_000),
  owner: text,
  size: z
    .int()
    .nonnegative()
    .nullish()
    .transform((value) => value ?? null),
  os_hash_algo: text,
  os_hash_value: text,
  disk_format: text,
  container_format: text,
  img_type: text,
  kernel_id: text,
  ramdisk_id: text,
}) satisfies z.ZodType<GlanceImage>;

const Member = z.object({ member_id: z.string(), status: z.string() });

/** Glance answers alike for a hidden image and a missing one; 410 is an image that was just deleted. */
const absent: readonly number[] = [403, 404, 410];

const statusReasons: Readonly<Record<number, string>> = { 401: 'it refuses the token of Temper’s own user' };

const reasonOf = (status: number): string => statusReasons[status] ?? `it answered ${status}`;

/** @param url its own address; that of the catalogue if absent */
export const imageService = (url: string | undefined, withinMs = timeoutMs) => ({
  type: 'image',
  url,
  version: 'v2',
  timeoutMs: withinMs,
});

/** @param url Glance's own address; that of the catalogue if absent */
export const createGlance = (
  session: Pick<ServiceSession, 'ask' | 'access'>,
  { url, withinMs }: { readonly url?: string | undefined; readonly withinMs?: number } = {},
): Glance => {
  const service = imageService(url, withinMs);
  const unavailable = (image: string, reason: string): never => raise('GlanceUnavailable', { image, reason });
  /** Undefined if there is no such thing. Throws GlanceUnavailable. */
  const read = async <T>(image: string, path: string, schema: z.ZodType<T>): Promise<T | undefined> => {
    const answer = await session.ask(service, { method: 'GET', path });
    if (answer.is === 'down') return unavailable(image, answer.reason);
    if (absent.includes(answer.status)) return undefined;
    if (answer.status !== 200) return unavailable(image, reasonOf(answer.status));
    const parsed = schema.safeParse(answer.body);
    return parsed.success ? parsed.data : unavailable(image, 'its answer is no image of Glance');
  };
  return {
    async find(id) {
      const image = await read(id, `/images/${id}`, Image);
      return image && image.id.toLowerCase() !== id ? unavailable(id, 'it answered with another image') : image;
    },
    async isMember(id, project) {
      const member = await read(id, `/images/${id}/members/${encodeURIComponent(project)}`, Member);
      return member?.member_id === project && member.status === 'accepted';
    },
    async file(id) {
      const access = await session.access(service, `/images/${id}/file`);
      if (access.is === 'down') return unavailable(id, access.reason);
      return { url: access.url, headers: access.headers, renew: access.drop };
    },
  };
};

/** Undefined if no image comes from Glance. @throws ConfigFault without an account */
export const glanceFrom = (config: GlanceSettings): (Glance & { close(): Promise<void> }) | undefined => {
  if (!config.TEMPER_GLANCE_IMAGES) return undefined;
  const session = sessionFrom(config, 'TEMPER_GLANCE_IMAGES');
  return { ...createGlance(session, { url: config.TEMPER_GLANCE_URL }), close: () => session.close() };
};
