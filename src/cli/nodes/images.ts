/** `temper image`: images that the boot service fetches once and sends to ramdisks. */
import type { Command } from 'commander';
import { bytesWithin } from '../../model/bodies';
import { type DiskFormat, diskFormats, formatBytes, formatOf, type ImageValues } from '../../model/boot/images';
import type { Image } from '../../wire/records';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { plainText } from '../tables';
import { bootRecords } from './boot-records';

type Added = {
  readonly checksum?: string;
  readonly bytes?: string;
  readonly format?: string;
  readonly partition?: true;
  readonly dir?: string;
};
type FoundImage = Pick<ImageValues, 'url' | 'sha256' | 'bytes'> & { readonly disk_format?: DiskFormat };

const records = bootRecords<Image>({
  resource: 'image',
  headings: ['NAME', 'FORMAT', 'KIND', 'MIB', 'SHA-256', 'URL'],
  cells: ({ name, disk_format, kind, bytes, sha256, url }) => [
    name,
    disk_format,
    kind,
    String(Math.ceil(bytes / 2 ** 20)),
    sha256.slice(0, 16),
    url ?? '',
  ],
  removal: 'forget an image that no run writes',
  removed: (name) => `Image ${name} is removed; its file makes room once others need it.`,
});

const digestIn = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined;
  const digest = text.replace(/^sha256:/i, '').toLowerCase();
  return /^[0-9a-f]{64}$/.test(digest)
    ? digest
    : stop('usage', '--checksum is a SHA-256 digest, 64 hexadecimal digits.');
};

const sizeIn = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : stop('usage', '--bytes is a whole number of bytes.');
};

const formatIn = (text: string | undefined): DiskFormat | undefined =>
  diskFormats.find((format) => format === text) ??
  (text === undefined ? undefined : stop('usage', `--format is one of ${diskFormats.join(', ')}.`));

type SeenImage = { readonly bytes?: number; readonly disk_format?: DiskFormat };

/** Size and format from the first bytes of the URL. Throws CliFault. */
const lookAt = async ({ deps }: Context, url: string): Promise<SeenImage> => {
  const headers = { range: `bytes=0-${formatBytes - 1}`, 'accept-encoding': 'identity' };
  const answer = await deps
    .fetchWith({})(url, { headers, redirect: 'manual' })
    .catch((thrown: Error) =>
      stop(
        'refused',
        `The image could not be read (${thrown.message}); give --bytes and --format to add it all the same.`,
      ),
    );
  if (answer.status !== 206) {
    await answer.body?.cancel();
    return stop(
      'refused',
      `The place of the image answers a range with status ${answer.status}; give --bytes and --format to add it all the same.`,
    );
  }
  const total = Number(/\/(\d+)$/.exec(answer.headers.get('content-range') ?? '')?.[1]);
  const first = await bytesWithin(answer.body as unknown as AsyncIterable<Uint8Array>, formatBytes).catch(() =>
    stop(
      'refused',
      'The place of the image sends something else than the range it was asked for; give --bytes and --format to add it all the same.',
    ),
  );
  const disk_format = formatOf(first);
  return { ...(total > 0 && { bytes: total }), ...(disk_format && { disk_format }) };
};

const fromUrl = async (context: Context, url: string, given: Added): Promise<FoundImage> => {
  const sha256 = digestIn(given.checksum) ?? stop('usage', 'Give --checksum: an image is written only by its digest.');
  const [bytes, disk_format] = [sizeIn(given.bytes), formatIn(given.format)];
  const seen = bytes !== undefined && disk_format !== undefined ? {} : await lookAt(context, url);
  const size = bytes ?? seen.bytes ?? stop('refused', 'The place of the image does not say its size; give --bytes.');
  return { url, sha256, bytes: size, ...(seen.disk_format && { disk_format: seen.disk_format }) };
};

const fromFile = async ({ installation }: Context, file: string, { checksum, dir }: Added): Promise<FoundImage> => {
  const expected = digestIn(checksum);
  const stored = await installation().storeImage({ file, ...(dir !== undefined && { dir }) });
  if (expected !== undefined && expected !== stored.sha256)
    stop('refused', `${plainText(file)} has the SHA-256 digest ${stored.sha256}, not the one that was given.`);
  return { url: null, ...stored };
};

const addImage = async (context: Context, name: string, source: string, given: Added): Promise<void> => {
  const format = formatIn(given.format);
  const found = await (/^https?:\/\//i.test(source) ? fromUrl : fromFile)(context, source, given);
  const disk_format =
    format ?? found.disk_format ?? stop('refused', 'The first bytes show no format; give --format raw or qcow2.');
  const kind = given.partition ? 'partition' : 'whole-disk';
  const body: ImageValues = { name, kind, ...found, disk_format };
  await records.create(context, body);
};

export const addImages = (program: Command, acting: Acting): void => {
  const image = program.command('image').description('the images that the boot service sends to ramdisks');
  image
    .command('add')
    .description('record an image; a file is put into the folder of the boot service, a URL is fetched by it once')
    .argument('<name>', 'as nodes name it: image_source image:<name>')
    .argument('<source>', 'a file, or an http or https URL')
    .option('--checksum <digest>', 'its SHA-256 digest; needed for a URL')
    .option('--bytes <number>', 'size of what the URL leads to; asked there when absent')
    .option('--format <format>', `${diskFormats.join(' or ')}; by its first bytes when absent`)
    .option('--partition', 'it is the file system of one partition, not a whole disk')
    .option('--dir <folder>', 'folder of the boot service, for a file; TEMPER_BOOT_DIR when absent')
    .action(acting(addImage));
  records.addTo(image, acting);
};
