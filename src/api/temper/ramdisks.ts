/** Ramdisks: system administrators say which images nodes are booted from. Their files are the boot service's; here are records. */
import { z } from 'zod';
import type { Queries } from '../../inventory';
import type { RamdiskRow } from '../../inventory/ramdisks';
import { givenArgumentsFault } from '../../model/boot/kernel-arguments';
import { ramdiskArchitectures, ramdiskNamePattern } from '../../model/boot/ramdisks';
import { raise } from '../../model/errors';
import { auditedWrite, type Change, recordChange } from '../audit/record';
import type { ApiContext } from '../context';
import { created, noContent, ok, route } from '../http/route';
import * as shapes from './shapes';

const ramdisksPath = '/temper/v1/ramdisks';

const digest = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 digest, 64 hexadecimal digits' });
const offset = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Bytes; below, hardly anything fits, and above, it is laid over in memory for every boot. */
const room = z
  .int()
  .min(512)
  .max(1 << 20);

const ramdiskBody = z
  .strictObject({
    name: z.string().regex(ramdiskNamePattern, {
      error: 'must begin with a letter or digit, and hold letters, digits, dots, dashes and underscores, 63 at most',
    }),
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
const ramdiskParams = z.object({ ramdisk: z.string().max(255) });
type RamdiskParams = z.output<typeof ramdiskParams>;

const ramdiskView = (row: RamdiskRow) => ({ ...row, created_at: row.created_at.toISOString() });

const found = async (ctx: ApiContext, ramdisk: string): Promise<RamdiskRow> =>
  (await ctx.inventory.ramdisks.find(ramdisk)) ?? raise('RamdiskNotFound', { ramdisk });

const changeOf =
  (act: 'create' | 'delete') =>
  ({ uuid, name, arch, args, iso_sha256 }: RamdiskRow): Change =>
    recordChange({
      resource: 'ramdisk',
      act,
      rule: `temper:ramdisk:${act}`,
      uuid,
      values: { name, arch, args, iso_sha256 },
    });

const listRamdisks = route({
  method: 'GET',
  path: ramdisksPath,
  answers: { 200: shapes.ramdisks },
  rules: ['temper:ramdisk:get'],
  async handler({ who }, ctx) {
    ctx.policy().require('temper:ramdisk:get', who);
    return ok({ ramdisks: (await ctx.inventory.ramdisks.list()).map(ramdiskView) });
  },
});

const createRamdisk = route<unknown, unknown, z.output<typeof ramdiskBody>>({
  method: 'POST',
  path: ramdisksPath,
  answers: { 201: shapes.ramdisk },
  rules: ['temper:ramdisk:create'],
  body: ramdiskBody,
  async handler(request, ctx) {
    ctx.policy().require('temper:ramdisk:create', request.who);
    const row = await auditedWrite(
      ctx,
      request,
      async (store) =>
        (await store.ramdisks.create(request.body)) ??
        raise('Conflict', {
          reason: `There is a ramdisk ${request.body.name} already; remove it, or choose another name.`,
        }),
      changeOf('create'),
    );
    return created(ramdiskView(row), `${request.base}${ramdisksPath}/${row.name}`);
  },
});

const showRamdisk = route<RamdiskParams>({
  method: 'GET',
  path: `${ramdisksPath}/:ramdisk`,
  answers: { 200: shapes.ramdisk },
  rules: ['temper:ramdisk:get'],
  params: ramdiskParams,
  async handler({ who, params: { ramdisk } }, ctx) {
    ctx.policy().require('temper:ramdisk:get', who);
    return ok(ramdiskView(await found(ctx, ramdisk)));
  },
});

const deleteRamdisk = route<RamdiskParams>({
  method: 'DELETE',
  path: `${ramdisksPath}/:ramdisk`,
  rules: ['temper:ramdisk:delete'],
  params: ramdiskParams,
  async handler(request, ctx) {
    const { ramdisk } = request.params;
    ctx.policy().require('temper:ramdisk:delete', request.who);
    const row = await found(ctx, ramdisk);
    const remove = async (store: Queries) => {
      const node = await store.ramdisks.user(row.uuid);
      if (node !== undefined) raise('RamdiskInUse', { ramdisk, node });
      return (await store.ramdisks.delete(row.uuid)) ? row : raise('RamdiskNotFound', { ramdisk });
    };
    await auditedWrite(ctx, request, remove, changeOf('delete'));
    return noContent();
  },
});

export const ramdiskRecordRoutes = [listRamdisks, createRamdisk, showRamdisk, deleteRamdisk];
