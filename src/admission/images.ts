/** Checks of what a run fetches: the records of images and ramdisks, and the origins that the operator allows. */
import type { ImageRow } from '../inventory/images';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { RamdiskRow } from '../inventory/ramdisks';
import { type Fetched, fetchedBy, isAllowedOrigin, requireFetched, requireOrigin } from '../model/access/origins';
import { isSecretRef } from '../model/access/secrets';
import { imageNamed, pinFault } from '../model/boot/images';
import { givenArgumentsFault, networkRoom } from '../model/boot/kernel-arguments';
import { isLoadable, notLoadable, ramdiskNamed, startsOn } from '../model/boot/ramdisks';
import { raise } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { type Checks, firstRefusal } from './checks';
import type { AdmissionContext } from './context';

/** The reason why the boot service refuses an image. It omits the URL, which the tenant may not see. */
const originFault = ({ settings }: AdmissionContext, { name, url }: ImageRow): string | undefined =>
  url === null || isAllowedOrigin(settings.imageOrigins, url)
    ? undefined
    : `image_source names image ${name}, whose origin is none that images may come from (TEMPER_IMAGE_ORIGINS)`;

/** Runs no query for an instance without image record. Throws InstanceInfoInvalid. */
export const requireImage = async (ctx: AdmissionContext, { instance_info }: NodeRow, node: string): Promise<void> => {
  const name = imageNamed(instance_info.image_source);
  if (name === undefined) return;
  const image = await ctx.inventory.images.find(name);
  const reason = image
    ? (pinFault(instance_info, image) ?? originFault(ctx, image))
    : `image_source names image ${name}, which is not on record`;
  if (reason !== undefined) raise('InstanceInfoInvalid', { node, reason });
};

/** The node with the installation's default ramdisk. */
export const withDefaultRamdisk = <Node>(
  { settings }: AdmissionContext,
  node: Node,
): Node & { default_ramdisk?: string } => ({
  ...node,
  ...(settings.defaultRamdisk !== undefined && { default_ramdisk: settings.defaultRamdisk }),
});

/** The reason why a node cannot boot from a record; undefined if it can. */
const unfit = (
  ramdisk: RamdiskRow,
  { loaded, cpu_arch }: { readonly loaded: boolean; readonly cpu_arch: unknown },
): string | undefined => {
  if (loaded && !isLoadable(ramdisk)) return notLoadable;
  return startsOn(ramdisk, cpu_arch)
    ? undefined
    : `which is for ${ramdisk.arch}, and the node’s cpu_arch is ${String(cpu_arch)}`;
};

/** The fault in a node's kernel arguments. The boot adds arguments that only the worker has; they need room too. */
const ownArgumentsFault = (
  { args, arguments_bytes }: RamdiskRow,
  given: unknown,
  loaded: boolean,
): string | undefined =>
  typeof given === 'string'
    ? givenArgumentsFault(given.replaceAll('%default%', args).trim(), loaded ? networkRoom : arguments_bytes)
    : undefined;

/** Runs no query for steps without ramdisk record. Throws DriverInfoInvalid. */
export const requireRamdisks = async (
  ctx: AdmissionContext,
  { name, uuid, driver_info, properties }: NodeRow,
  steps: readonly PlannedStep[],
): Promise<void> => {
  const named = (key: 'image_url' | 'network_image') =>
    new Set(steps.flatMap(({ awaits, args }) => (awaits && ramdiskNamed(args[key])) ?? []));
  const [images, loaded] = [named('image_url'), named('network_image')];
  if (images.size + loaded.size === 0) return;
  const node = name ?? uuid;
  for (const ramdisk of new Set([...images, ...loaded])) {
    const row = await ctx.inventory.ramdisks.find(ramdisk);
    const fault = row
      ? unfit(row, { loaded: loaded.has(ramdisk), cpu_arch: properties.cpu_arch })
      : 'which is not on record';
    if (fault !== undefined)
      raise('DriverInfoInvalid', { node, field: 'deploy_iso', reason: `names ramdisk ${ramdisk}, ${fault}` });
    const reason = ownArgumentsFault(row!, driver_info.kernel_append_params, loaded.has(ramdisk));
    if (reason !== undefined) raise('DriverInfoInvalid', { node, field: 'kernel_append_params', reason });
  }
};

/**
 * Refuses a URL outside the allowed origins. A URL with a password is sealed, so the API cannot read its origin.
 * It is refused if origins are limited. Throws OriginRefused.
 */
const requireKnownOrigin = ({ settings: { imageOrigins } }: AdmissionContext, url: unknown): void => {
  if (typeof url === 'string') requireOrigin(imageOrigins, url);
  if (isSecretRef(url) && imageOrigins.length > 0)
    raise('OriginRefused', {
      origin: 'a URL with a password in it',
      reason:
        'its origin cannot be determined once it is stored, and TEMPER_IMAGE_ORIGINS allows only some; give a URL without',
    });
};

/** The same for any kind of fetch. Throws OriginRefused. */
export const requireKnown = (ctx: AdmissionContext, fetched: Fetched): void => {
  if (isSecretRef(fetched.value)) requireKnownOrigin(ctx, fetched.value);
  else requireFetched(ctx.settings.imageOrigins, fetched);
};

type FetchingStep = Pick<PlannedStep, 'interface' | 'step' | 'acts' | 'args'>;

/** Checks the origins in steps; those in instance_info are checked by the deployment's own check. Throws OriginRefused. */
export const requireStepOrigins = (
  ctx: AdmissionContext,
  steps: readonly FetchingStep[],
  checks: Checks = firstRefusal,
): void => {
  for (const step of steps)
    for (const { act } of step.acts)
      for (const fetched of fetchedBy(act, step, step.args, {})) checks.try(() => requireKnown(ctx, fetched));
};
