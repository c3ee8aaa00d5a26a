/** Routes of images, which the boot service fetches once and serves to ramdisks. */
import { z } from 'zod';
import { requireOrigin } from '../../../model/access/origins';
import { diskFormats, type ImageValues, imageKinds } from '../../../model/boot/images';
import { invalidInput, raise } from '../../../model/errors';
import * as shapes from '../../../wire/records';
import type { ApiContext } from '../../context';
import { bootRecordRoutes, bootView, digest, recordName } from './boot-records';

const creation = z.strictObject({
  name: recordName,
  url: z.string().min(1).max(2_048).nullable().default(null),
  sha256: digest,
  bytes: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  disk_format: z.enum(diskFormats),
  kind: z.enum(imageKinds).default('whole-disk'),
});

/** Readers and logs see the URL, so it must hold no credentials. Throws InvalidInput, OriginRefused. */
const checkUrl = (ctx: ApiContext, { url }: ImageValues): void => {
  if (url === null) return;
  requireOrigin(ctx.settings.imageOrigins, url);
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') invalidInput('url', 'must hold no user and no password');
};

export const imageRoutes = bootRecordRoutes({
  resource: 'image',
  body: creation,
  shape: shapes.image,
  check: checkUrl,
  view: bootView,
  store: ({ images }) => images,
  missing: (image) => raise('ImageNotFound', { image }),
  inUse: (image, node) => raise('ImageInUse', { image, node }),
  values: ({ uuid: _uuid, created_at: _created, ...values }) => values,
});
