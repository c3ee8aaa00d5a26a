/** Images of Glance that deployments name by id, and the facts of one that a plan freezes. */
import { asUuid } from '../ids';
import { shortText } from '../texts';
import { type DiskFormat, digestDigits, diskFormats, type HashAlgorithm, type imageKinds } from './images';

export type GlanceImage = {
  readonly id: string;
  readonly status: string;
  readonly visibility: string;
  readonly owner: string | null;
  /** Bytes. */
  readonly size: number | null;
  readonly os_hash_algo: string | null;
  readonly os_hash_value: string | null;
  readonly disk_format: string | null;
  readonly container_format: string | null;
  /** Properties of partition images. */
  readonly img_type: string | null;
  readonly kernel_id: string | null;
  readonly ramdisk_id: string | null;
};

export type Glance = {
  /** Undefined for a missing image and for one that Temper's own user may not see. Throws GlanceUnavailable. */
  find(id: string): Promise<GlanceImage | undefined>;
  /** True if the project has accepted a shared image. Throws GlanceUnavailable. */
  isMember(id: string, project: string): Promise<boolean>;
  /** Address of the bytes, with Temper's own token. Throws GlanceUnavailable. */
  file(id: string): Promise<GlanceFile>;
};

export type GlanceFile = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called if Glance refuses the token: the next one is new. */
  renew(): void;
};

const scheme = 'glance://';

/** Undefined for a source that is none of Glance's. `id` is undefined if it names no image. */
export const glanceSource = (value: unknown): { readonly id: string | undefined } | undefined => {
  if (typeof value !== 'string') return undefined;
  if (value.startsWith(scheme)) return { id: asUuid(value.slice(value.lastIndexOf('/') + 1)) };
  const id = asUuid(value);
  return id === undefined ? undefined : { id };
};

/** Of the image that a run writes, as they were at its acceptance. */
export type PlannedImage = {
  readonly id: string;
  readonly size: number;
  readonly os_hash_algo: HashAlgorithm;
  readonly os_hash_value: string;
  readonly disk_format: DiskFormat;
  readonly image_type: (typeof imageKinds)[number];
  readonly kernel_id?: string;
  readonly ramdisk_id?: string;
};

const word = (text: string | null): string => (text === null ? 'none' : shortText(text, 40));

const knownOf = <Known extends string>(known: readonly Known[], text: string | null): Known | undefined =>
  known.find((one) => one === text);

const hashOf = ({ os_hash_algo, os_hash_value }: GlanceImage) => {
  const algorithm = knownOf(Object.keys(digestDigits) as HashAlgorithm[], os_hash_algo);
  const value = os_hash_value?.toLowerCase() ?? '';
  return algorithm !== undefined && value.length === digestDigits[algorithm] && /^[0-9a-f]+$/.test(value)
    ? { os_hash_algo: algorithm, os_hash_value: value }
    : undefined;
};

const typeOf = ({ img_type, kernel_id, ramdisk_id }: GlanceImage): PlannedImage['image_type'] =>
  knownOf(['whole-disk', 'partition'] as const, img_type) ?? (kernel_id || ramdisk_id ? 'partition' : 'whole-disk');

type JudgedImage = { readonly image: PlannedImage } | { readonly fault: string };

/** The facts to freeze, or the reason why the image cannot be written. */
export const judgedImage = (image: GlanceImage): JudgedImage => {
  const { status, size, kernel_id, ramdisk_id, container_format } = image;
  if (status !== 'active') return { fault: `is ${word(status)}, and only an active image can be written` };
  if (!size) return { fault: 'has no bytes' };
  const hash = hashOf(image);
  if (!hash) return { fault: 'has no os_hash_value by sha256 or sha512, and an image is not written unchecked' };
  const disk_format = knownOf(diskFormats, image.disk_format);
  if (!disk_format)
    return { fault: `has disk_format ${word(image.disk_format)}; it must be ${diskFormats.join(' or ')}` };
  if (container_format !== 'bare') return { fault: `has container_format ${word(container_format)}; it must be bare` };
  return {
    image: {
      id: image.id,
      size,
      ...hash,
      disk_format,
      image_type: typeOf(image),
      ...(kernel_id && { kernel_id }),
      ...(ramdisk_id && { ramdisk_id }),
    },
  };
};

/** The reason why an image is not the one that was accepted; undefined if it is. */
export const changeFault = (
  accepted: Pick<PlannedImage, 'os_hash_algo' | 'os_hash_value' | 'size'>,
  found: GlanceImage,
): string | undefined => {
  const judged = judgedImage(found);
  if ('fault' in judged) return judged.fault;
  const same = (['os_hash_algo', 'os_hash_value', 'size'] as const).every((key) => judged.image[key] === accepted[key]);
  return same ? undefined : 'has other bytes now than when the deployment was accepted';
};

/** The same text for a missing image and for one of another project, so that callers learn nothing. */
export const notUsable =
  'was not found, or belongs to another project. Use an image that is public or community, or one that your project has accepted as a member';

/** The argument of the step that writes the image. */
export const plannedArgument = 'glance_image';

/** The image that the plan froze. */
export const plannedIn = (args: Readonly<Record<string, unknown>>): PlannedImage | undefined =>
  args[plannedArgument] as PlannedImage | undefined;
