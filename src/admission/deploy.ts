/** Inputs of deployments and rescues (image, configuration drive, password, lessee) and their checks. */

import { z } from 'zod';
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { type Fetched, fetchedByInstance } from '../model/access/origins';
import { isSecretRef } from '../model/access/secrets';
import { glanceSource, type PlannedImage } from '../model/boot/glance-images';
import { imageNamed } from '../model/boot/images';
import type { Document } from '../model/document';
import { invalidInput, raise } from '../model/errors';
import type { ProjectId } from '../model/ids';
import { interfaceOf } from '../model/lifecycle/drivers';
import type { VerbRow } from '../model/lifecycle/verbs';
import { ownValue } from '../model/own';
import { inOrder } from '../model/resources/runbook-steps';
import type { Runbook } from '../model/resources/runbooks';
import { booleanOf } from '../model/texts';
import type { RunOrder } from '../runs/contract';
import type { AdmissionContext } from './context';
import { requireGlanceImage } from './glance';
import { requireKnown } from './images';

const anyObject = z.record(z.string(), z.unknown());

/** A configuration drive: its image in base64, its URL, or its contents. */
export const configdrive = z.union([
  z.string(),
  z.strictObject({
    meta_data: anyObject.optional(),
    network_data: anyObject.optional(),
    user_data: z.union([anyObject, z.array(z.unknown()), z.string(), z.null()]).optional(),
    vendor_data: anyObject.optional(),
  }),
]);
type Configdrive = z.output<typeof configdrive>;

/** Throws InvalidInput. */
const checkForm = (drive: Configdrive, verb: string, row: VerbRow, minor: number): void => {
  if (row.configdriveSince === undefined) invalidInput('configdrive', `is not possible with ${verb}`);
  else if (minor < row.configdriveSince)
    invalidInput('configdrive', `is possible with ${verb} from version 1.${row.configdriveSince} on`);
  if (typeof drive === 'string') {
    if (!drive.includes('://') && !/^[A-Za-z0-9+/=\s]+$/.test(drive))
      invalidInput('configdrive', 'must be base64 text, a URL, or an object');
    return;
  }
  if (minor < 56) invalidInput('configdrive', 'may be an object from version 1.56 on');
  if (drive.vendor_data !== undefined && minor < 59)
    invalidInput('configdrive', 'vendor_data is possible from version 1.59 on');
};

/** Throws InvalidInput, OriginRefused. */
export const checkConfigdrive = (
  ctx: AdmissionContext,
  drive: Configdrive,
  { verb, row }: { readonly verb: string; readonly row: VerbRow },
  minor: number,
): void => {
  checkForm(drive, verb, row, minor);
  for (const fetched of fetchedByInstance({ configdrive: drive })) requireKnown(ctx, fetched);
};

const infoText = (info: Document, key: string): string | undefined =>
  typeof info[key] === 'string' && info[key] !== '' ? info[key] : undefined;
// A URL with a password is sealed, so the API sees only a reference.
const names = (info: Document, key: string): boolean => isSecretRef(info[key]) || infoText(info, key) !== undefined;

const checksums: Readonly<Record<string, number>> = { sha256: 64, sha512: 128 };

// MD5, SHA-1, SHA-256, SHA-384 and SHA-512.
const anyHash = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;

/** Accepts a hash, or the URL of a checksum file. */
const checksumFault = (info: Document): string | undefined => {
  const given = infoText(info, 'image_checksum');
  return given === undefined || anyHash.test(given) || /^https?:\/\//i.test(given)
    ? undefined
    : 'image_checksum must be a hash in hexadecimal digits (64 for sha256), or the http(s) URL of a file of checksums';
};

const hashFault = (info: Document): string | undefined => {
  const [algorithm, value] = [infoText(info, 'image_os_hash_algo'), infoText(info, 'image_os_hash_value')];
  if (!algorithm || !value)
    return 'image_checksum is missing, or image_os_hash_algo with image_os_hash_value: an image is not written unchecked';
  if (!Object.hasOwn(checksums, algorithm))
    return `image_os_hash_algo must be one of ${Object.keys(checksums).join(', ')}`;
  const digits = checksums[algorithm]!;
  return value.length === digits && /^[0-9a-f]+$/i.test(value)
    ? undefined
    : `image_os_hash_value must be ${digits} hexadecimal digits, as ${algorithm} has; ${value.length} characters came`;
};

/** The fault of the image in instance_info; undefined if it can be written. */
const imageFault = (info: Document): string | undefined => {
  if (booleanOf(info.preserve_ephemeral ?? false) === undefined) return 'preserve_ephemeral must be true or false';
  if (!names(info, 'image_source'))
    return 'image_source is missing: the URL of the image to write, image:<name>, or the id of an image of Glance';
  // The image record and Glance have the digest.
  if (imageNamed(info.image_source) !== undefined || glanceSource(info.image_source)) return undefined;
  return names(info, 'image_checksum') ? checksumFault(info) : hashFault(info);
};

const refuseInstance = (node: string, reason: string): never => raise('InstanceInfoInvalid', { node, reason });

type Needs = {
  readonly fault: (info: Document) => string | undefined;
  /** URLs that the ramdisk or the BMC fetches. */
  readonly fetched: (info: Document, driver: Document) => readonly Fetched[];
  /** It writes the image of image_source. */
  readonly writes?: true;
};

/** A stored configuration drive is always sealed, so the worker checks it before the image is written. */
const fetchedBeforeStart = (
  { configdrive, image_checksum, ...info }: Document,
  driver: Document,
): readonly Fetched[] => [
  ...fetchedByInstance({ ...info, image_checksum, ...(!isSecretRef(configdrive) && { configdrive }) }, driver),
  // A checksum may be the URL of a checksum file. A sealed checksum is such a URL with a password.
  ...(isSecretRef(image_checksum) ? [{ value: image_checksum, as: 'http' as const }] : []),
];

/** Requirements on instance_info per deploy interface. */
const needs: Readonly<Record<string, Needs>> = {
  direct: { fault: imageFault, fetched: fetchedBeforeStart, writes: true },
  ramdisk: {
    fault: (info) => (names(info, 'boot_iso') ? undefined : 'boot_iso is missing: the URL of the image to start from'),
    fetched: ({ boot_iso }) => [{ value: boot_iso, as: 'http' }],
  },
};

/**
 * Checks instance_info before a deployment. @returns the image of Glance, if it names one
 * Throws InstanceInfoInvalid, OriginRefused, InvalidImage, GlanceUnavailable.
 */
export const checkInstance = async (
  ctx: AdmissionContext,
  who: Caller,
  node: NodeRow,
  ident: string,
): Promise<PlannedImage | undefined> => {
  const info = node.instance_info;
  const needed = needs[interfaceOf(node, 'deploy')];
  const fault = needed?.fault(info);
  if (fault) refuseInstance(ident, fault);
  const lacking = (Array.isArray(info.traits) ? info.traits.map(String) : []).filter(
    (trait) => !node.traits.includes(trait),
  );
  if (lacking.length > 0) refuseInstance(ident, `traits: the node lacks ${lacking.join(', ')}`);
  for (const fetched of needed?.fetched(info, node.driver_info) ?? []) requireKnown(ctx, fetched);
  return needed?.writes && requireGlanceImage(ctx, { who, node });
};

const lesseeOf = (ctx: AdmissionContext, who: Caller, node: NodeRow): ProjectId | undefined =>
  ({
    instance: infoText(node.instance_info, 'project_id') as ProjectId | undefined,
    request: who.project_id ?? undefined,
    off: undefined,
  })[ctx.settings.automaticLessee];

/** Values that a deployment writes to the node on acceptance. A rebuild keeps its lease, so it names no lessee. */
export const deploymentFacts = (
  ctx: AdmissionContext,
  { who, body }: { readonly who: Caller; readonly body: { readonly configdrive?: Configdrive | null } },
  node: NodeRow,
  row: VerbRow,
): Pick<RunOrder, 'instance_info' | 'lessee'> => {
  const lessee = row.event === 'deploy' && node.lessee === null ? lesseeOf(ctx, who, node) : undefined;
  return {
    ...(body.configdrive && { instance_info: { ...node.instance_info, configdrive: body.configdrive } }),
    ...(lessee && { lessee }),
  };
};

/** The password's SHA-512 crypt hash, which the ramdisk stores. The plain text is not kept. */
export const hashedPassword = async (password: string): Promise<string> => {
  const { encrypt } = await import('unixcrypt');
  return encrypt(password);
};

/**
 * The runbook of automated cleaning: by resource class, or for all; undefined if the node's own step list applies.
 * Throws Conflict if the configured runbook is missing or not the system's, so no node stays uncleaned.
 */
export const cleaningRunbook = async (ctx: AdmissionContext, node: NodeRow): Promise<Runbook | undefined> => {
  const { cleaningRunbooks } = ctx.settings;
  const name = ownValue(cleaningRunbooks, node.resource_class ?? '') ?? cleaningRunbooks['*'];
  if (name === undefined) return undefined;
  const runbook = await ctx.inventory.runbooks.find(name);
  if (!runbook)
    return raise('Conflict', {
      reason: `Runbook ${name}, by which this node is cleaned, does not exist; the operator named it in TEMPER_CLEANING_RUNBOOKS.`,
    });
  if (runbook.owner !== null)
    return raise('Conflict', {
      reason: `TEMPER_CLEANING_RUNBOOKS names runbook ${name} for this node, but it belongs to a project. Nodes are cleaned by runbooks of the system only. The operator has to name another.`,
    });
  return { ...runbook, steps: inOrder(runbook.steps) };
};
