/** Images: system administrators say which ones the boot service fetches once and sends to ramdisks. Its files are elsewhere. */
import { z } from 'zod';
import type { ImageRow } from '../../inventory/images';
import { requireOrigin } from '../../model/access/origins';
import { diskFormats, imageKinds, imageNamePattern } from '../../model/boot/images';
import { invalidInput, raise } from '../../model/errors';
import { auditAndEvent, type Change } from '../audit/record';
import type { ApiContext } from '../context';
import { created, noContent, ok, route } from '../http/route';
import * as shapes from './shapes';

const base = '/temper/v1/images';

const creation = z.strictObject({
  name: z.string().regex(imageNamePattern, {
    error: 'must begin with a letter or digit, and hold letters, digits, dots, dashes and underscores, 63 at most',
  }),
  url: z.string().min(1).max(2_048).nullable().default(null),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 digest, 64 hexadecimal digits' }),
  bytes: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  disk_format: z.enum(diskFormats),
  kind: z.enum(imageKinds).default('whole-disk'),
});
type Creation = z.output<typeof creation>;

const imageParams = z.object({ image: z.string().max(255) });
type One = z.output<typeof imageParams>;

const imageView = (row: ImageRow) => ({ ...row, created_at: row.created_at.toISOString() });

const found = async (ctx: ApiContext, image: string): Promise<ImageRow> =>
  (await ctx.inventory.images.find(image)) ?? raise('ImageNotFound', { image });

const imageActs = { create: 'created', delete: 'deleted' } as const;

const changeOf = (act: keyof typeof imageActs, { uuid, created_at: _, ...data }: ImageRow): Change => ({
  action: `image.${act}`,
  kind: `image.${imageActs[act]}`,
  rule: `temper:image:${act}`,
  resource: 'image',
  resource_id: uuid,
  data,
});

/** Every reader of the system sees the URL, and every log of the boot service may. Throws InvalidInput, OriginRefused. */
const checkUrl = (ctx: ApiContext, { url }: Creation): void => {
  if (url === null) return;
  requireOrigin(ctx.settings.imageOrigins, url);
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') invalidInput('url', 'must hold no user and no password');
};

const listImages = route({
  method: 'GET',
  path: base,
  answers: { 200: shapes.images },
  rules: ['temper:image:get'],
  async handler({ who }, ctx) {
    ctx.policy().require('temper:image:get', who);
    return ok({ images: (await ctx.inventory.images.list()).map(imageView) });
  },
});

const createImage = route<unknown, unknown, Creation>({
  method: 'POST',
  path: base,
  answers: { 201: shapes.image },
  rules: ['temper:image:create'],
  body: creation,
  async handler(request, ctx) {
    ctx.policy().require('temper:image:create', request.who);
    checkUrl(ctx, request.body);
    const row = await ctx.inventory.transaction(async (store) => {
      const made =
        (await store.images.create(request.body)) ??
        raise('Conflict', {
          reason: `There is an image ${request.body.name} already; remove it, or choose another name.`,
        });
      await auditAndEvent(store, ctx.policy(), request, changeOf('create', made));
      return made;
    });
    return created(imageView(row), `${request.base}${base}/${row.name}`);
  },
});

const showImage = route<One>({
  method: 'GET',
  path: `${base}/:image`,
  answers: { 200: shapes.image },
  rules: ['temper:image:get'],
  params: imageParams,
  async handler({ who, params: { image } }, ctx) {
    ctx.policy().require('temper:image:get', who);
    return ok(imageView(await found(ctx, image)));
  },
});

const deleteImage = route<One>({
  method: 'DELETE',
  path: `${base}/:image`,
  rules: ['temper:image:delete'],
  params: imageParams,
  async handler(request, ctx) {
    const { image } = request.params;
    ctx.policy().require('temper:image:delete', request.who);
    const row = await found(ctx, image);
    await ctx.inventory.transaction(async (store) => {
      const node = await store.images.user(row.uuid);
      if (node !== undefined) raise('ImageInUse', { image, node });
      if (!(await store.images.delete(row.uuid))) raise('ImageNotFound', { image });
      await auditAndEvent(store, ctx.policy(), request, changeOf('delete', row));
    });
    return noContent();
  },
});

export const imageRoutes = [listImages, createImage, showImage, deleteImage];
