/** Routes of ramdisk records. The files are in the boot service. */
import { z } from 'zod';
import { givenArgumentsFault } from '../../../model/boot/kernel-arguments';
import { type RamdiskValues, ramdiskArchitectures } from '../../../model/boot/ramdisks';
import { raise } from '../../../model/errors';
import * as shapes from '../../../wire/records';
import { bootRecordRoutes, bootView, digest, recordName } from './boot-records';

const offset = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Bytes. Less has room for hardly any argument; more costs memory at every boot. */
const room = z
  .int()
  .min(512)
  .max(1 << 20);

const ramdiskBody: z.ZodType<RamdiskValues> = z
  .strictObject({
    name: recordName,
    arch: z.enum(ramdiskArchitectures).default('x86_64'),
    args: z
      .string()
      .max(2_048)
      .default('')
      .superRefine((text, context) => {
        const message = givenArgumentsFault(text);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }),
    kernel_sha256: digest.nullable().default(null),
    initrd_sha256: digest.nullable().default(null),
    iso_sha256: digest,
    iso_bytes: offset.min(1),
    arguments_at: offset,
    arguments_bytes: room,
    files_at: offset,
    files_bytes: room,
  })
  .superRefine((given, context) => {
    const outside = (['arguments', 'files'] as const).find(
      (area) => given[`${area}_at`] + given[`${area}_bytes`] > given.iso_bytes,
    );
    if (outside)
      context.addIssue({ code: 'custom', path: [`${outside}_at`], message: 'lies beyond the end of the image' });
  });

export const ramdiskRecordRoutes = bootRecordRoutes({
  resource: 'ramdisk',
  body: ramdiskBody,
  shape: shapes.ramdisk,
  view: bootView,
  store: ({ ramdisks }) => ramdisks,
  missing: (ramdisk) => raise('RamdiskNotFound', { ramdisk }),
  inUse: (ramdisk, node) => raise('RamdiskInUse', { ramdisk, node }),
  values: ({ name, arch, args, iso_sha256 }) => ({ name, arch, args, iso_sha256 }),
});
